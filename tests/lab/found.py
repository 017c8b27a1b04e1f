#!/usr/bin/env python3
"""Checks ctxgauge against a folder of cases: logs, and the values that are right for them.

found.py FOLDER --binary PATH            all cases
found.py FOLDER NAME... --binary PATH    those with these names

FOLDER has `want.json` and a folder for each case. That is a home with the folders of agents in it (`"home": true`), or a
folder of logs. `_git` in a name stands for `.git`, `@HOME@` for the path of the home that the case is copied to, and
`@SLUG@` for that path with hyphens. `want.json` is a list of cases:

    {"case": "same-id", "home": true, "why": "…", "run": ["ls", "--totals", "--json"], "env": {"CODEX_HOME": "@HOME@/x"},
     "checks": [["s('aaaa')['context']['used']", 23030], ["len(d['sessions'])", [1, 3]]]}

A check is a Python expression and the value that is right, or the least and the most of a number. `d` is what the command
printed, `s(PART)` the session with this part in its id or path, `report(PATTERN)` the report of the first log with such a
name. Expressions are run: use folders that you trust. Ends with 1 if a value is wrong.
"""

import argparse
import sys
from pathlib import Path

from proof.cases import checks_of


def main():
    options = _parser().parse_args()
    count = right = 0
    for check in checks_of(options.folder, options.binary.resolve(), options.names):
        count, right = count + 1, right + check.is_right
        if not check.is_right or not options.quiet:
            print(check, flush=True)
    print(f"{right} of {count} right")
    sys.exit(right < count or not count)


def _parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--binary", required=True, type=Path, help="the ctxgauge to run")
    parser.add_argument("--quiet", action="store_true", help="print only what is wrong")
    return parser


if __name__ == "__main__":
    main()
