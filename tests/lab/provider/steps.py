"""What the model does next: steps that a plan gives each session, one for a request.

A step is `{"run": COMMAND}`, a call of the client's shell tool; `{"tool": NAME or NAMES, "args": {…}}`, a call of
the first of these tools that the client has; `{"calls": [STEP, …]}`, several calls in one answer; or `{"say": TEXT}`,
which ends the turn. `"with": TEXT` is said beside a call, `"think": N` are tokens of reasoning.
"""

import re
import threading

from provider.kinds import shell_of
from provider.prompt import Call

# A word in each prompt that is typed, by which requests of two sessions are told apart.
TAG = re.compile(r"\bLAB-[A-Z]+\b")
TAG_OF_ONE = "LAB-MAIN"
END = {"say": "That is all."}


class Steps:
    """The steps that are left, by session. Requests come from several threads."""

    def __init__(self):
        self._left = {}
        self._lock = threading.Lock()

    def expect(self, steps, tag=TAG_OF_ONE):
        """Sets what the model does in the next turn of the session with this tag."""
        with self._lock:
            self._left[tag] = list(steps)

    def next(self, tag):
        """Returns the next step of a session; past the last one, a step that ends the turn."""
        with self._lock:
            left = self._left.get(tag)
            return left.pop(0) if left else END

    def planned(self):
        """Returns the names of the tools that are still to be called by name."""
        with self._lock:
            steps = [step for left in self._left.values() for step in left]
        return {name for step in steps for one in step.get("calls", [step]) for name in _names(one)}


def tag_of(prompt):
    """Returns the tag of the session that a request belongs to."""
    tags = [tag for part in prompt.parts if part.role == "user" for tag in TAG.findall(part.text)]
    return tags[-1] if tags else TAG_OF_ONE


def calls_of(step, prompt):
    """Returns the calls of a step, with the tools that this client has for them."""
    found = []
    for one in step.get("calls", [step]):
        name = next((name for name in _names(one) if prompt.tool(name)), None)
        if name:
            found.append(Call(name, one.get("args", {}), prompt.tool(name)))
        elif "run" in one and (shell := shell_of(prompt)):
            tool = prompt.tool(shell)
            found.append(Call(shell, arguments(tool.schema, one["run"]) | one.get("args", {}), tool))
    return found


def arguments(schema, command):
    """Returns the arguments for a shell tool by its schema: the command, and something for each field it requires."""
    fields, given = schema.get("properties") or {}, {}
    for name in ("command", "cmd", "script"):
        if name in fields:
            is_list = fields[name].get("type") == "array"
            given[name] = ["bash", "-lc", command] if is_list else command
            break
    for name in schema.get("required") or []:
        if name not in given:
            given[name] = _something(fields.get(name) or {})
    return given


def _something(field):
    if choices := field.get("enum"):
        return choices[0]
    kind = field.get("type")
    values = {"boolean": False, "integer": 60000, "number": 60000, "array": [], "object": {}}
    return values.get(kind, "step") if isinstance(kind, str) else "step"


def _names(step):
    names = step.get("tool", [])
    return [names] if isinstance(names, str) else names
