"""Folders of cases: logs, and the values that are right for them."""

import json
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rig.gauge import Gauge

LISTED = ["ls", "--totals"]
# What an expression may call.
FUNCTIONS = {one.__name__: one for one in (abs, all, any, len, max, min, round, set, sorted, str, sum)}


@dataclass
class Check:
    """An expression of a case, its value, and the one that is right: itself, or the least and the most of a number."""

    case: str
    expression: str
    value: object
    wanted: object

    @property
    def is_right(self):
        is_number = isinstance(self.value, (int, float)) and not isinstance(self.value, bool)
        if is_number and isinstance(self.wanted, list) and len(self.wanted) == 2:
            return self.wanted[0] <= self.value <= self.wanted[1]
        return self.value == self.wanted

    def __str__(self):
        if self.is_right:
            return f"right  {self.case}: {self.expression} = {self.value}"
        return f"WRONG  {self.case}: {self.expression} = {self.value}, right: {self.wanted}"


def checks_of(folder, binary, names=()):
    """Yields the checks of the cases in a folder, or of those with these names."""
    for case in json.loads((folder / "want.json").read_text()):
        if not names or case["case"] in names:
            with tempfile.TemporaryDirectory() as home:
                yield from _checks(case, folder, binary, Path(home))


def _checks(case, folder, binary, home):
    place(folder / case["case"], home)
    variables = {
        "TZ": "UTC",
        "XDG_CONFIG_HOME": f"{home}/.config",
        "XDG_DATA_HOME": f"{home}/.local/share",
        "XDG_CACHE_HOME": f"{home}/.cache",
        "XDG_STATE_HOME": f"{home}/.state",
    }
    own = {name: value.replace("@HOME@", str(home)) for name, value in case.get("env", {}).items()}
    gauge = Gauge(binary, home, home, variables | own)
    argv = [*case.get("run", LISTED), *([] if case.get("home") else [home])]
    names = None
    for expression, wanted in case["checks"]:
        try:
            names = names or _names(gauge, [one for one in argv if one != "--json"], home)
            # The folder is the user's own, as a script of theirs would be.
            value = eval(expression, {"__builtins__": {}} | names)
        except Exception as error:  # An expression may ask for what is not there.
            value = f"{type(error).__name__}: {error}"
        yield Check(case["case"], expression, value, wanted)


def _names(gauge, argv, home):
    """Returns what an expression may use."""
    printed = gauge.json(*argv)

    def session(part):
        has = lambda row: part in (row.get("id") or "") or part in (row.get("path") or "")
        return next((row for row in printed["sessions"] if has(row)), None)

    def report(pattern):
        return gauge.json("report", sorted(home.rglob(pattern))[0])

    return FUNCTIONS | {"d": printed, "s": session, "report": report}


def place(case, home):
    """Copies a case into a home, with that home's path where the case has `@HOME@` or `@SLUG@`."""
    slug = re.sub(r"[^A-Za-z0-9]", "-", str(home))
    for source in sorted(case.rglob("*")):
        if source.is_file():
            name = str(source.relative_to(case)).replace("@SLUG@", slug).replace("_git", ".git")
            target = home / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            content = source.read_bytes()
            if b"@HOME@" in content:
                target.write_bytes(content.replace(b"@HOME@", str(home).encode()))
