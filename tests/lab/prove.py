#!/usr/bin/env python3
"""Proves versions of clients: runs plans with them, and compares what ctxgauge shows with what the provider counted.

prove.py all --binary PATH               installs the newest clients, runs all plans, and prints the table of versions
prove.py all codex pi --installed --binary PATH --write    those that are installed; writes the table into the program
prove.py table RUN... --binary PATH --write                the same of runs that are there
prove.py run claude --plan long --binary PATH              one plan, or FILE.json; prints the run's folder
prove.py score RUN... --binary PATH      each session of runs: requests, size, roles, results, compactions
prove.py moments RUN... --binary PATH    what is shown after each line of the logs, against what came next
prove.py rebuild RUN...                  Claude Code's own records of its requests, against what was sent

`all` ends with 1 if a version is not right. With --write a version that is right goes into `assets/proven.toml`.
"""

import argparse
import sys
from pathlib import Path

from clients import CLIENTS, WITH_FORMAT
from proof import life, moments, rebuild
from proof.record import load
from proof.table import Proof, as_text, with_proofs
from rig import network, places, plan
from rig.play import play

PROVEN = Path(__file__).resolve().parents[2] / "assets/proven.toml"


def main():
    options = _parser().parse_args()
    sys.exit(options.go(options))


def prove(options):
    clients = [CLIENTS[name] for name in options.clients or CLIENTS]
    if not options.installed:
        places.install("node", places.NODE)
        clients = [client for client in clients if _installs(client)]
    network.leave()
    return _table([_played(client, options) for client in clients if client.version()], options)


def _installs(client):
    """Installs the newest version of a client. Returns whether it could be installed."""
    try:
        print(client.install(), flush=True)
    except RuntimeError as error:
        print(f"{client.name} is not installed: {error}", flush=True)
        return False
    return True


def table(options):
    proofs = {}
    for record in map(load, options.runs):
        agent, version = record.meta["agent"], record.meta["version"]
        proof = proofs.setdefault((agent, version), Proof(agent, version))
        try:
            _add(proof, record, options)
        except RuntimeError as error:  # What ctxgauge says where it fails.
            proof.notes.append(f"{record.meta['plan']}: {error}")
    return _table(list(proofs.values()), options)


def _table(proofs, options):
    """Prints the table, and writes the versions that are right. Returns 1 if one is not."""
    print(as_text(proofs))
    for proof in proofs:
        print(*(f"{proof.agent} {note}" for note in proof.notes), sep="\n", end="\n" if proof.notes else "")
    if options.write:
        right = [proof for proof in proofs if proof.is_right and proof.agent in WITH_FORMAT]
        options.write.write_text(with_proofs(options.write.read_text(), right))
    return 0 if proofs and all(proof.is_right for proof in proofs) else 1


def _played(client, options):
    """Plays the plans with a client, and looks at what they left."""
    proof = Proof(client.agent, client.version())
    for name in options.plan or plan.names():
        if (chosen := plan.load(name, client)) is None:
            continue
        try:
            _add(proof, load(play(client, options.binary, chosen)), options)
        except Exception as error:  # A client of tomorrow may fail in any way.
            proof.notes.append(f"{name}: {type(error).__name__}: {error}".replace("\n", " ")[:300])
    return proof


def _add(proof, record, options):
    """Adds a run to what was seen of its client, and prints it."""
    seen = life.look(record, options.binary)
    proof.add_life(seen)
    print(life.text(seen), flush=True)
    if not options.quick:
        phases = moments.look(record, options.binary)
        proof.add_moments(record, phases)
        print(moments.text(record, phases), flush=True)


def run(options):
    network.leave()
    client = CLIENTS[options.client]
    chosen = plan.load(options.plan, client)
    if chosen is None:
        sys.exit(f"the plan {options.plan} is not for {client.name}")
    print(play(client, options.binary, chosen))
    return 0


def score(options):
    for folder in options.runs:
        print(life.text(life.look(load(folder), options.binary)), flush=True)
    return 0


def look(options):
    for folder in options.runs:
        record = load(folder)
        print(moments.text(record, moments.look(record, options.binary)), flush=True)
    return 0


def compare(options):
    logs = []
    for folder in options.runs:
        record = load(folder)
        logs += (seen := rebuild.look(record))
        print(rebuild.text(record, seen), flush=True)
    return 0 if logs and all(log.is_right for log in logs) else 1


def _parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = _command(commands, "all", prove, "prove clients")
    command.add_argument("clients", nargs="*", metavar="CLIENT", help=", ".join(CLIENTS))
    command.add_argument("--installed", action="store_true", help="use the versions that are there")
    command.add_argument("--plan", action="append", choices=plan.names(), help="only this one")
    _table_options(command)
    command = _command(commands, "table", table, "the table of runs that are there")
    command.add_argument("runs", nargs="+", type=Path)
    _table_options(command)
    command = _command(commands, "run", run, "run a plan with a client")
    command.add_argument("client", choices=CLIENTS)
    command.add_argument("--plan", default="short", metavar="PLAN", help="a file, or one of " + ", ".join(plan.names()))
    for name, go, what in (("score", score, "score the sessions of runs"), ("moments", look, "look at each moment")):
        _command(commands, name, go, what).add_argument("runs", nargs="+", type=Path)
    command = _command(commands, "rebuild", compare, "put requests of Claude Code together", binary=False)
    command.add_argument("runs", nargs="+", type=Path)
    return parser


def _table_options(command):
    command.add_argument("--quick", action="store_true", help="leave out the moments, which take longest")
    command.add_argument("--write", nargs="?", type=Path, const=PROVEN, metavar="FILE",
                         help="put the versions that are right into this file, or into assets/proven.toml")  # fmt: skip


def _command(commands, name, go, what, binary=True):
    command = commands.add_parser(name, help=what)
    command.set_defaults(go=go)
    if binary:
        command.add_argument("--binary", required=True, help="the ctxgauge to run")
    return command


if __name__ == "__main__":
    main()
