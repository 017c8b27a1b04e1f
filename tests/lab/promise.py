#!/usr/bin/env python3
"""Compares what a smaller window promises with the truth: one plan is played at two windows.

promise.py claude --binary PATH [--window 200000] [--plan windows]    plays it twice, and prints a table
promise.py claude --binary PATH --runs LARGE SMALL                    the same of runs that are there

The promise is the what-if of the run with the large window; the truth is what the provider counted in the other one. It
ends with 1 if a row is more than 5 % off.
"""

import argparse
import sys
from dataclasses import dataclass, replace

from clients import CLIENTS
from proof.record import load
from rig import network, plan
from rig.play import play

ENOUGH = 0.05


@dataclass
class Row:
    """A number as it was in the large window, as it was promised, and as it was in the small one."""

    name: str
    was: int
    promised: int
    truth: int

    @property
    def error(self):
        """Returns the error of the promise as a share of the truth."""
        return abs(self.promised - self.truth) / max(self.truth, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("client", choices=CLIENTS)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--window", type=int, default=200_000)
    parser.add_argument("--plan", default="windows")
    parser.add_argument("--runs", nargs=2, metavar=("LARGE", "SMALL"))
    options = parser.parse_args()
    rows = compare(*map(load, options.runs or _played(options)), options)
    print(as_text(rows))
    sys.exit(any(row.error > ENOUGH for row in rows))


def _played(options):
    network.leave()
    client = CLIENTS[options.client]
    chosen = plan.load(options.plan, client)
    runs = [play(client, options.binary, at) for at in (chosen, within(chosen, options.window))]
    print(*runs, file=sys.stderr)
    return runs


def within(chosen, window):
    """Returns a plan in which the client compacts by this window."""
    limited = [replace(turn, options=replace(turn.options, limit=window)) for turn in chosen.turns]
    return replace(chosen, turns=limited, options=replace(chosen.options, limit=window))


def compare(large, small, options):
    """Returns the rows of the table."""
    gauge = large.gauge(options.binary)
    report = gauge.report(gauge.sessions()[0]["path"])
    short = f"with a window of {options.window // 1000}k for compaction"
    real, promised = (next(row for row in report["what_if"] if row[key] == name)
                      for key, name in (("whose", "real"), ("policy", short)))  # fmt: skip
    was, truth = counted(large.requests), counted(small.requests)
    return [
        Row("tokens of prompts", was["prompts"], promised["prompts"], truth["prompts"]),
        # The what-if takes the work to be the same.
        Row("requests", was["requests"], was["requests"], truth["requests"]),
        Row("compactions", len(real["compactions"]), len(promised["compactions"]), truth["compactions"]),
    ]


def counted(requests):
    """Returns what the provider counted of a run."""
    main, compact = ([one for one in requests if one.kind == kind] for kind in ("main", "compact"))
    return {
        "prompts": sum(one.prompt for one in main),
        "requests": len(main),
        "compactions": len(compact),
    }


def as_text(rows):
    """Returns the table."""
    lines = ["| | large window | promised | small window | error |", "|---|---|---|---|---|"]
    lines += [f"| {row.name} | {row.was:,} | {row.promised:,} | {row.truth:,} | {row.error:.1%} |" for row in rows]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
