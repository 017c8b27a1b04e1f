#!/usr/bin/env python3
"""Lets a client compact because nobody types, and compares when it does with when ctxgauge said that it would.

idle.py --binary PATH [--clock 60] [--look]

Needs libfaketime, by which the client's clock runs faster: 54 minutes take 54 seconds. With --look the monitor runs beside
the client, and its screens are printed. Ends with 1 if anything is not as expected.
"""

import argparse
import json
import sys
import time
from datetime import datetime

from clients import CLIENTS
from clients.client import Options
from rig.clock import Clock
from rig.gauge import Gauge
from rig.run import Run
from rig.terminal import wait

PIECES = 14
# The size from which on the client compacts while idle: no setting makes it smaller.
LEAST = 100_000
# How far the two times may be apart, in seconds of the client's clock: the answer takes one or two seconds of ours.
MOST_OFF = 150


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--clock", type=int, default=60)
    parser.add_argument("--look", action="store_true", help="run the monitor beside the client")
    asked = parser.parse_args()
    clock = Clock(asked.clock)
    variables = {"ENABLE_PROMPT_CACHING_1H": "1", "CLAUDE_CODE_IDLE_COMPACT_MIN_TOKENS": str(LEAST)}
    options = Options(variables=variables | clock.running())
    with Run(CLIENTS["claude"], asked.binary, options, name="idle-claude", clock=asked.clock) as run:
        sys.exit(0 if _idle(run, clock, asked) else 1)


def _idle(run, clock, asked):
    run.open()
    steps = [{"run": f"python3 lines.py 24000 {piece}"} for piece in range(1, PIECES + 1)]
    run.ask("Read the log piece by piece.", [*steps, {"say": "They are read."}])
    time.sleep(2)
    log = run.client.logs(run.home)[-1]
    if asked.look:
        gauge = {"HOME": str(run.home), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "CLAUDE_CODE_IDLE_COMPACT_MIN_TOKENS": str(LEAST)}
        run.terminal.open("gauge", [str(run.binary), log], gauge | clock.running(), run.work)
        time.sleep(4)
        print(run.terminal.screen("gauge"))
    before = _report(run, clock, log)
    first = next((one for one in before["compaction"]["next"] if one["kind"] == "idle"), {})
    print("foretold:", json.dumps(first))
    done = wait(lambda: _boundary(log), 54 * 60 / asked.clock + 60, "a compaction while nobody types")
    time.sleep(2)
    after = _report(run, clock, log)
    last = after["compaction"]["past"][-1]
    if asked.look:
        print(run.terminal.screen("gauge"))
    off = (_time(done) - _time(first["at"])).total_seconds() if first.get("at") else None
    print(f"compacted at {done}, {off} s after it was foretold; cause {last['cause']}, before {last['before']}")
    print("trigger:", before["compaction"]["trigger"], after["compaction"]["trigger"], after["compaction"]["trigger_source"])
    return (
        off is not None
        and abs(off) <= MOST_OFF
        and last["cause"] == "idle"
        and before["compaction"]["trigger"] == after["compaction"]["trigger"]
    )


def _report(run, clock, log):
    own = {"CLAUDE_CODE_IDLE_COMPACT_MIN_TOKENS": str(LEAST)}
    return Gauge(run.binary, run.home, run.work, own | clock.standing()).json("report", log)


def _boundary(log):
    """Returns the time of the last compaction of a log, or None."""
    records = (json.loads(line) for line in log.read_text().splitlines() if "compact_boundary" in line)
    times = [record["timestamp"] for record in records if record.get("subtype") == "compact_boundary"]
    return times[-1] if times else None


def _time(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


if __name__ == "__main__":
    main()
