#!/usr/bin/env python3
"""Looks at what the pages claim of status lines, hooks and the server, in today's clients, beside a provider's truth.

faces.py install claude codex      puts the newest versions into the lab's folder ($LAB, or one in the temporary folder)
faces.py list                      shows clients, their versions, and the claims
faces.py run --binary PATH         looks at all claims in all clients that are installed
faces.py run codex --claim two_panes --binary PATH --markdown
faces.py picture claude --binary PATH    shows a client's last rows with our line

`run` prints a table, and ends with 1 if a row of it is wrong.
"""

import argparse
import sys

from claims import all_claims
from claims.picture import picture
from claims.table import as_markdown, as_text
from clients import CLIENTS
from rig import network, places


def main():
    options = _parser().parse_args()
    sys.exit({"install": install, "list": show, "run": run, "picture": draw}[options.command](options))


def install(options):
    places.install("node", places.NODE)
    for name in options.clients:
        print(name, CLIENTS[name].install())


def show(_):
    for client in CLIENTS.values():
        print(f"{client.name:12} {client.version() or 'not installed'}")
    for claim in all_claims():
        print(f"{claim.name:32} {claim.page:18} {' '.join(claim.clients)}")


def run(options):
    network.leave()
    rows = []
    for name in options.clients or CLIENTS:
        if CLIENTS[name].version() is None:
            print(f"{name} is not installed", file=sys.stderr)
            continue
        for claim in all_claims():
            if name in claim.clients and options.claim in (None, claim.name):
                print(f"{name}: {claim.name}", file=sys.stderr)
                seen = claim.rows(CLIENTS[name], options.binary)
                print(as_text(seen), file=sys.stderr)
                rows += seen
    print(as_markdown(rows) if options.markdown else as_text(rows))
    return 0 if rows and all(row.right for row in rows) else 1


def draw(options):
    network.leave()
    print(picture(CLIENTS[options.client], options.binary))


def _parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("install", help="install the newest versions of clients")
    command.add_argument("clients", nargs="+", choices=CLIENTS)
    commands.add_parser("list", help="show clients and claims")
    command = commands.add_parser("run", help="look at the claims")
    command.add_argument("clients", nargs="*", metavar="CLIENT", help=", ".join(CLIENTS))
    command.add_argument("--binary", required=True, help="the ctxgauge to run")
    command.add_argument("--claim", metavar="NAME", help="only this one")
    command.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    command = commands.add_parser("picture", help="show a client's last rows with our line")
    command.add_argument("client", choices=CLIENTS)
    command.add_argument("--binary", required=True, help="the ctxgauge to run")
    return parser


if __name__ == "__main__":
    main()
