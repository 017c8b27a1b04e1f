#!/usr/bin/env python3
"""Lets Claude Code leave old tool results out after a pause, and compares what ctxgauge shows with what was sent.

clearing.py --binary PATH [--by api|client] [--clock 60]

By the API: the provider clears the results that each request names. By the client: it cuts them itself. Both are switched
on by flags of its makers. Then the session grows until it is compacted: the trigger is lower by what was left out. Needs
libfaketime. Ends with 1 if anything is not as expected.
"""

import argparse
import json
import sys
import time
from itertools import count

from clients import CLIENTS
from clients.client import Options
from proof.cut import cut_at
from proof.score import roles_of
from rig.clock import Clock
from rig.gauge import Gauge
from rig.run import Run

ON = {"tengu_jiggly_blossom": "on"}
FLAGS = {"api": ON, "client": ON | {"tengu_wise_pearl": {"write_records": True}}}
# The client asks the API only for models that take system messages in mid-conversation.
VARIABLES = {"api": {"CLAUDE_CODE_FORCE_MID_CONVERSATION_SYSTEM": "1"}, "client": {}}
# Seconds after which results are left out, and a bit more.
PAUSE = 65 * 60 + 120
# The client leaves out nothing in one of eight pauses.
PAUSES = 3
TYPED = ["Read the small pieces.", "And one more.", "Read the large pieces."]
# How far the size of what is left out may be off, as a share of it, and roles as one of the context. The client cuts two
# results fewer than the API clears.
MOST_OFF, MOST_OFF_ROLE = 0.1, 0.01


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--by", choices=FLAGS, default="api")
    parser.add_argument("--clock", type=int, default=60)
    asked = parser.parse_args()
    clock = Clock(asked.clock)
    options = Options(flags=FLAGS[asked.by], variables=VARIABLES[asked.by] | clock.running())
    with Run(CLIENTS["claude"], asked.binary, options, name=f"clearing-{asked.by}", clock=asked.clock) as run:
        print(run.at, flush=True)
        rows = list(_rows(run, clock))
    for what, shown, true, is_right in rows:
        print(f"{'right' if is_right else 'WRONG'}  {what}: {shown}, true {true}")
    sys.exit(0 if all(row[-1] for row in rows) else 1)


def _rows(run, clock):
    """Yields rows: what is compared, what is shown, what is true, and whether that is right."""
    seeds = count(1)

    def pieces(calls, size):
        return {"calls": [{"run": f"python3 lines.py {size} {next(seeds)}"} for _ in range(calls)]}

    run.open()
    whole = run.ask(TYPED[0], [*(pieces(4, 5000) for _ in range(10)), {"say": "They are read."}])
    before = _report(run, clock)
    foretold = next((one for one in before["compaction"]["next"] if one["kind"] == "clearing"), {})
    print("foretold:", json.dumps(foretold), flush=True)
    for _ in range(PAUSES):
        clock.sleep(PAUSE)
        last = run.ask(TYPED[1], [pieces(1, 5000), {"say": "It is read."}])
        if left := _left_out(whole, last):
            break
    after = _report(run, clock)
    yield "results left out", _cleared(after), len(left), _cleared(after) == len(left)
    tokens = sum(left.values())
    yield "their tokens, foretold", foretold.get("size"), tokens, _is_near(foretold.get("size"), tokens, MOST_OFF * tokens)
    yield "size", after["context"]["known"], last.after, after["context"]["known"] == last.after
    for role, true in roles_of(last, TYPED).items():
        shown = _role(after, role)
        yield role, shown, true, _is_near(shown, true, MOST_OFF_ROLE * last.after)
    lowered = before["compaction"]["trigger"] - after["compaction"]["trigger"]
    yield "trigger lowered by", lowered, last.cleared[1] or tokens, _is_near(lowered, tokens, MOST_OFF_ROLE * last.after)
    run.ask(TYPED[2], [*(pieces(1, 24000) for _ in range(14)), {"say": "All are read."}])
    yield from _compaction(run, clock)


def _compaction(run, clock):
    """Yields rows on the compaction: it was due when it came, and not yet at the request before."""
    time.sleep(2)
    log = run.client.logs(run.home)[-1]
    past = _report(run, clock)["compaction"]["past"]
    true = len(run.provider.of(kind="compact"))
    yield "compactions", len(past), true, len(past) == true == 1
    if not past or not true:
        return
    asked = run.provider.of(kind="compact")[0]
    sent = [one for one in run.provider.of() if one.number < asked.number][-1].prompt
    with cut_at(log, past[0]["line"] - 1) as cut:
        shown = _report(run, clock, cut)
    trigger, size = shown["compaction"]["trigger"], shown["context"].get("own_count", shown["context"]["used"])
    yield "trigger", trigger, f"above {sent}, up to {size}", sent < trigger <= size


def _left_out(whole, last):
    """Returns the tokens that were left out of each result, by call."""
    now = {part.call: part for part in last.parts if part.role == "tool"}
    results = [part for part in whole.parts if part.role == "tool"]
    return {part.call: part.tokens - now[part.call].tokens for part in results if part.text != now[part.call].text}


def _cleared(report):
    results = [item for item in report["messages"] if item["kind"] == "tool_result"]
    return sum(item["left_because"] == "cleared" for item in results)


def _role(report, role):
    names = ("container", "system") if role == "container" else (role,)
    return sum(report["roles"].get(name, {}).get("tokens", 0) for name in names)


def _is_near(shown, true, most):
    return shown is not None and abs(shown - true) <= most


def _report(run, clock, log=None):
    return Gauge(run.binary, run.home, run.work, clock.standing()).json("report", log or run.client.logs(run.home)[-1])


if __name__ == "__main__":
    main()
