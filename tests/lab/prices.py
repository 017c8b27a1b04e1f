#!/usr/bin/env python3
"""Measures what the definitions of our server's tools cost in each client, and writes that part of the page `mcp.md`.

prices.py --binary PATH            measures in all clients that are installed, and prints what the page says
prices.py codex --binary PATH      in this one
prices.py --binary PATH --write    puts it into the page

A session without the server and one with it have the same turn. The price is the difference of what their prompts contain, in
o200k tokens of the JSON or the text that the client sends: providers write definitions in forms of their own.
"""

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass

from clients import CLIENTS
from provider.tokens import count
from rig import network, server
from rig.run import Run

BEGIN, END = "<!-- prices -->\n", "<!-- /prices -->\n"
HEADS = ("client", "tokens with each request", "of these for tools of its own", "more once the model has looked for the tools")
# Clients start servers beside the first prompt, and declare their tools when they have them.
STEPS = [{"run": "sleep 3"}, {"run": "sleep 3"}]


@dataclass
class Price:
    """Tokens that prompts of a client hold because of the server.

    `own` are those of tools that the client itself declares as soon as there is any server. `looked` are added when the model
    looks for our tools; None: it need not.
    """

    client: str
    version: str
    always: int
    own: int
    looked: int | None

    def cells(self):
        name = f"{server.TITLES[self.client]} {self.version}"
        return name, str(self.always), str(self.own or ""), "" if self.looked is None else str(self.looked)


def main():
    options = _parser().parse_args()
    network.leave()
    clients = [CLIENTS[name] for name in options.clients or server.TITLES]
    prices = [measure(client, options.binary) for client in clients if client.version()]
    block = page_block(definitions(options.binary), prices)
    print(block, end="")
    if options.write:
        server.PAGE.write_text(with_block(server.PAGE.read_text(), block))


def measure(client, binary):
    """Runs a client without the server, with it, and without it again."""
    with Run(client, binary, name=f"price-{client.name}") as run:
        # The first session with the same settings may differ from later ones.
        _turn(run, STEPS)
        without = _turn(run, STEPS)[-1]
        server.add(run)
        _turn(run, STEPS)
        having = _turn(run, STEPS)[-1]
        steps = server.look(client)
        looked = looked_up(*_turn(run, [*STEPS, *steps])[-2:]) if steps else None
        server.remove(run)
        again = _turn(run, STEPS)[-1]
    print(f"{client.name}: without it {without.prompt} and {again.prompt}, with it {having.prompt}", file=sys.stderr)
    return Price(client.name, client.version(), having.prompt - without.prompt, own_tools(without, having), looked)


def own_tools(without, having):
    """Returns the tokens of the tools that a client declares beside ours, and does not declare without a server."""
    known = {part.tool for part in without.parts if part.role == "schema"}
    added = [part for part in having.parts if part.role == "schema" and part.tool not in known]
    return sum(part.tokens for part in added if not any(tool in part.text for tool in server.TOOLS))


def looked_up(before, after):
    """Returns the tokens of the definitions that a model got by looking for them: as tools, else in the result of the call."""
    declared = [sum(part.tokens for part in request.parts if part.role == "schema") for request in (before, after)]
    results = [part.tokens for part in after.parts if part.role == "tool"]
    return declared[1] - declared[0] or results[-1]


def definitions(binary):
    """Returns the tokens of all that the server says of its tools."""
    about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "prices", "version": "1"}}
    messages = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}},
    ]
    lines = "".join(json.dumps(message) + "\n" for message in messages)
    done = subprocess.run([binary, "mcp"], input=lines, capture_output=True, text=True, timeout=60, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    tools = next(answer["result"]["tools"] for answer in answers if answer["id"] == 1)
    return count(json.dumps(tools, separators=(",", ":"), ensure_ascii=False))


def page_block(tokens, prices):
    """Returns what the page says of prices."""
    rows = [HEADS, ("---",) * len(HEADS), *(price.cells() for price in prices)]
    table = "".join("| " + " | ".join(cells) + " |\n" for cells in rows)
    return f"The five tools that are always there have {tokens} tokens with their output schemas.\n\n{table}"


def with_block(page, block):
    """Returns a page with this between its markers."""
    head, rest = page.split(BEGIN, 1)
    return head + BEGIN + block + END + rest.split(END, 1)[1]


def _turn(run, steps):
    before = len(run.provider.of())
    done = run.headless("Wait a little.", [*steps, {"say": "Done."}])
    requests = run.provider.of()[before:]
    if len(requests) <= len(steps):
        raise RuntimeError(f"{run.client.name} made {len(requests)} requests: {(done.stdout + done.stderr)[-300:]}")
    return requests


def _parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("clients", nargs="*", metavar="CLIENT", help=", ".join(CLIENTS))
    parser.add_argument("--binary", required=True, help="the ctxgauge to run")
    parser.add_argument("--write", action="store_true", help="put it into the page")
    return parser


if __name__ == "__main__":
    main()
