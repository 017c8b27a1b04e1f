#!/usr/bin/env python3
"""Makes the table of models, `assets/catalogue/models.tsv`, from what packages contain.

catalogue.py               installs the newest packages, and prints where they differ and which models have no price
catalogue.py --installed   with those that are there
catalogue.py --write       writes the table, too

The packages are pi-ai, OpenCode (it contains models.dev), Codex and Claude Code from npm's registry, and LiteLLM from PyPI.
Where sources differ the table has what the first one says; a row in `models.toml` decides otherwise.
"""

import argparse
from pathlib import Path

from catalogues import table
from catalogues.merge import MAKERS, differences, gathered, is_recent, merged, priced, reduced, release_dates
from catalogues.sources import SOURCES

FILE = Path(__file__).resolve().parents[2] / "assets/catalogue/models.tsv"
LARGEST = 150_000


def main():
    options = _parser().parse_args()
    if not options.installed:
        for source in SOURCES:
            source.install()
    said = gathered({source.mark: source.read() for source in SOURCES})
    rows = priced([merged(provider, model, by_mark) for (provider, model), by_mark in said.items()])
    kept, left = reduced(rows)
    for lines in (differing(kept, said, options.all), without_price(kept, left, release_dates(rows)), summary(left)):
        print(*lines, sep="\n", end="\n\n")
    made = table.text(kept, SOURCES)
    print(f"{len(kept)} rows, {len(made.encode()):,} bytes")
    if len(made.encode()) > LARGEST:
        raise SystemExit(f"more than {LARGEST:,} bytes")
    if options.write:
        FILE.parent.mkdir(exist_ok=True)
        FILE.write_text(made)


def differing(rows, said, all_providers):
    """Returns where sources differ, of makers or of all providers."""
    found = [one for row in rows for one in differences(row, said[row.provider, row.model])]
    shown = [str(one) for one in found if all_providers or one.row.provider in MAKERS]
    return [*sorted(shown), f"{len(found)} differences, {len(shown)} of them shown"]


def without_price(kept, left, dates):
    """Returns the makers' models of the last year that have no price, with the reason of each."""
    why = [(row, "no source has a price") for row in kept if not row.entry.prices]
    why += [(row, reason) for row, reason in left if row.entry.why_not]
    recent = [(row, reason) for row, reason in why if row.provider in MAKERS and is_recent(row, dates)]
    lines = sorted(f"{row.provider} {row.model}: no price: {reason}" for row, reason in recent)
    return [*lines, f"{len(lines)} models of makers without a price"]


def summary(left):
    """Returns how many rows are left out for each reason."""
    reasons = [why for _, why in left]
    return [f"left out, {why}: {reasons.count(why)}" for why in sorted(set(reasons))]


def _parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--installed", action="store_true", help="take the packages that are there")
    parser.add_argument("--all", action="store_true", help="print the differences of all providers")
    parser.add_argument("--write", action="store_true", help="write the table")
    return parser


if __name__ == "__main__":
    main()
