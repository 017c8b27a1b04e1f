#!/usr/bin/env python3
"""Asks versions of a client what they take models to be, and finds by halves where an answer changed.

history.py claude --ask deepseek-v4-flash --from 2.1.300
history.py claude --ask claude-opus-5 --from 2.1.300 --env CLAUDE_CODE_DISABLE_1M_CONTEXT=1
history.py codex --ask gpt-6.2-sol --from 0.160.0
history.py opencode --ask openai/gpt-5.5 --from 1.18.0 --to 1.18.20

Claude Code is run, without a network, and asked for its window and its size for compactions. Of the others nothing is run:
their lists of models are read (`catalogues/sources.py`), so there the answer is the window. Models of pi and OpenCode have
their provider before them. Versions are installed one after the other, and removed again. A change that was taken back
between two versions that agree is not found: begin and end closer together.
"""

import argparse
import json
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from catalogues.sources import CodexList, ModelsDev, PiAi
from clients import CLIENTS
from clients.client import Options
from rig import network
from rig.places import LAB, install, run

NOWHERE = "http://127.0.0.1:9"
QUESTION = {"type": "control_request", "request_id": "1", "request": {"subtype": "get_context_usage"}}
LISTS = {"codex": CodexList, "pi": PiAi, "opencode": ModelsDev}


@dataclass(frozen=True)
class Change:
    """A version whose answers are not those of the version before it."""

    before: str
    version: str
    old: dict
    new: dict

    def __str__(self):
        changed = [model for model in self.new if self.old[model] != self.new[model]]
        return "\n".join(f"{self.before} -> {self.version}: {m}: {self.old[m]} -> {self.new[m]}" for m in changed)


def main():
    options = _parser().parse_args()
    client = CLIENTS[options.client]
    variables = dict(pair.split("=", 1) for pair in options.env)
    versions = between(released(client), options.first, options.last)

    def ask(version):
        answers = asked(client, version, options.ask, variables)
        print(version, json.dumps(answers), flush=True)
        return answers

    for change in changes(versions, ask):
        print(change)


def changes(versions, ask):
    """Yields the changes between versions, in order. `ask` is called once for each version that has to be asked."""
    known = {}

    def answer(index):
        if index not in known:
            known[index] = ask(versions[index])
        return known[index]

    def within(first, last):
        if answer(first) == answer(last):
            return
        if last - first == 1:
            yield Change(versions[first], versions[last], answer(first), answer(last))
            return
        middle = (first + last) // 2
        yield from within(first, middle)
        yield from within(middle, last)

    yield from within(0, len(versions) - 1)


def between(versions, first, last):
    """Returns the versions from one to another, which need not be among them; None: from the beginning, to the end."""
    versions = sorted(versions, key=_numbers)
    low = _numbers(first) if first else ()
    chosen = [one for one in versions if low <= _numbers(one) and (not last or _numbers(one) <= _numbers(last))]
    if len(chosen) < 2:
        raise SystemExit("there are not two versions between these")
    return chosen


def released(client):
    """Returns the versions of a client's package, without previews."""
    listed = json.loads(run(["npm", "view", client.package, "versions", "--json"]))
    return [version for version in listed if version.replace(".", "").isdecimal()]


def asked(client, version, models, variables):
    """Returns the answer of a version for each model. The version is installed for that time."""
    folder = f"history/{client.agent}-{version}"
    try:
        install(folder, f"{client.package}@{version}")
        if client.name in LISTS:
            return windows(LISTS[client.name](folder).read(), models)
        program = LAB / "npm" / folder / "node_modules/.bin" / client.command
        return {model: _answer(client, program, model, variables) for model in models}
    finally:
        shutil.rmtree(LAB / "npm" / folder, ignore_errors=True)


def windows(entries, models):
    """Returns the window of each model in a list; its name may begin with its provider."""
    found = {}
    for (provider, model), entry in entries.items():
        found[f"{provider}/{model}"] = found[model] = entry.window
    return {model: found.get(model, "not in the list") for model in models}


def usage(lines):
    """Returns what Claude Code has answered: the window, and the size at which it compacts."""
    for line in lines:
        said = json.loads(line) if line.startswith("{") else {}
        if said.get("type") == "control_response":
            answer = said["response"].get("response") or {}
            if "rawMaxTokens" not in answer:
                return said["response"].get("error", "no answer")
            size = f"compacts at {answer['autoCompactThreshold']}" if "autoCompactThreshold" in answer else "no size"
            return f"{answer['rawMaxTokens']}, {size} ({answer.get('autocompactSource', 'no source')})"
    return "no answer"


def _answer(client, program, model, variables):
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        options = Options(variables=variables)
        client.configure(home, home, NOWHERE, options)
        how = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose", "--model", model]
        done = subprocess.run(
            [program, "-p", *how],
            input=json.dumps(QUESTION) + "\n",
            env=client.environment(home, NOWHERE, options),
            preexec_fn=network.leave,
            cwd=home, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
    return usage(done.stdout.splitlines())


def _numbers(version):
    return tuple(int(part) for part in version.split("."))


def _parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("client", choices=("claude", *LISTS))
    parser.add_argument("--ask", nargs="+", required=True, metavar="MODEL")
    parser.add_argument("--from", dest="first", metavar="VERSION", help="the first version; else the first that there is")
    parser.add_argument("--to", dest="last", metavar="VERSION", help="the last one; else the newest")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE", help="a variable for the client")
    return parser


if __name__ == "__main__":
    main()
