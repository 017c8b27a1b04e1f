"""A program named ctxgauge that keeps what clients pass to the real one, and what it answers."""

import json
import shlex
from dataclasses import dataclass
from pathlib import Path

# Only calls that end by themselves are kept: `mcp` talks as long as the client lives.
SCRIPT = """#!/bin/sh
case "$1" in
    statusline | hook) ;;
    *) exec {program} "$@" ;;
esac
call=$(mktemp -d {calls}/XXXXXXXX)
printf '%s\\n' "$@" >"$call/arguments"
cat >"$call/input"
date +%s.%N >"$call/began"
{program} "$@" <"$call/input" >"$call/output" 2>"$call/errors"
code=$?
date +%s.%N >"$call/ended"
cat "$call/errors" >&2
cat "$call/output"
exit $code
"""


@dataclass
class Call:
    """One call by the client."""

    arguments: list[str]
    input: str
    output: str
    errors: str
    began: float
    ended: float

    @property
    def passed(self):
        """Returns the JSON that the client has passed; an empty object where it is none."""
        try:
            value = json.loads(self.input)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


def write(folder, calls, program):
    """Writes the recorder into a folder, as `ctxgauge`."""
    folder.mkdir(parents=True, exist_ok=True)
    calls.mkdir(parents=True, exist_ok=True)
    script = folder / "ctxgauge"
    script.write_text(SCRIPT.format(program=shlex.quote(str(program)), calls=shlex.quote(str(calls))))
    script.chmod(0o755)


def read(calls, command):
    """Returns the calls of a command that have ended, the oldest first."""
    found = []
    for call in Path(calls).iterdir():
        if not (call / "ended").exists() or not (ended := (call / "ended").read_text().strip()):
            continue
        arguments = (call / "arguments").read_text().split("\n")[:-1]
        if arguments[:1] == [command]:
            texts = [(call / name).read_text(errors="replace") for name in ("input", "output", "errors")]
            found.append(Call(arguments, *texts, float((call / "began").read_text()), float(ended)))
    return sorted(found, key=lambda call: call.began)
