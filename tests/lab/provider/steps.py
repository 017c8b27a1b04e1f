"""What the model does next: steps that a plan gives each session, one for a request.

A step is `{"run": COMMAND}`, a call of the client's shell tool; `{"agent": PROMPT}`, a call of its tool for sub-agents;
`{"tool": NAME or NAMES, "args": {…}}`, a call of the first of these tools that the client has; `{"calls": [STEP, …]}`,
several calls in one answer; or `{"say": TEXT}`, which ends the turn. Of `"args"` a tool gets those that its schema has.
`"with": TEXT` is said beside a call, `"think": N` are tokens of reasoning. `"faults": [FAULT, …]` go wrong before the step,
one for a request, and `"usage": "none"` or `"zero"` is what the answer reports: see `provider/faults.py`.
"""

import json
import re
import threading

from provider.kinds import shell_of
from provider.prompt import Call

# A word in each prompt that is typed, by which requests of two sessions are told apart. Sub-agents have tags too.
TAG = re.compile(r"\bLAB-[A-Z]+(?:-[A-Z])?\b")
TAG_OF_ONE = "LAB-MAIN"
SUB = "LAB-SUB"
END = {"say": "That is all."}

# Tools that start a sub-agent, and what they are given beside the prompt, where their schemas have it.
AGENTS = {
    "Agent": {},
    "Task": {"subagent_type": "worker", "await": True},
    "agent": {"subagent_type": "general-purpose"},
    "task": {"subagent_type": "general", "agent_type": "general-purpose"},
    "invoke_agent": {"agent_name": "generalist"},
    "spawn_agent": {"fork_turns": "none", "systemPrompt": "Read what you are asked to read."},
    "spawn_subagent": {"subagent_type": "general-purpose", "background": False},
    "delegate_task": {},
    "run_typescript": {},
}
# The script by which Mistral Vibe starts one.
SPAWN = "async function main() {{ return await tools.agents.spawn({}) }}"
# The tool by which a sub-agent of Gemini CLI ends.
COMPLETE = "complete_task"
# The text by which mini-SWE-agent ends, when a command prints it.
SUBMIT = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"


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
        """Returns the next step of a session; past the last one, a step that ends the turn.

        As long as a step has faults it stays, and is returned with the next of them as its `fault`.
        """
        with self._lock:
            left = self._left.get(tag)
            if not left:
                return END
            if faults := left[0].get("faults"):
                left[0] = left[0] | {"faults": faults[1:]}
                return left[0] | {"fault": faults[0]}
            return left.pop(0)

    def planned(self):
        """Returns the names of the tools that are still to be called by name."""
        with self._lock:
            steps = [step for left in self._left.values() for step in left]
        return {name for step in steps for one in step.get("calls", [step]) for name in _names(one)}


def tag_of(prompt, inherits=False):
    """Returns the tag of the session that a request belongs to.

    A parent's prompt has the tags of its sub-agents too, where the client reports on them. A sub-agent's has its parent's
    only where the API `inherits`.
    """
    tags = [tag for part in prompt.parts if part.role == "user" for tag in TAG.findall(part.text)]
    own = [tag for tag in tags if not tag.startswith(SUB)]
    if tags and tags[-1].startswith(SUB) and (inherits or not own):
        return tags[-1]
    return own[-1] if own else TAG_OF_ONE


def calls_of(step, prompt):
    """Returns the calls of a step, with the tools that this client has for them."""
    if "say" in step and (tool := prompt.tool(COMPLETE)):
        return [Call(COMPLETE, {"result": _as(tool.schema.get("properties", {}).get("result", {}), step["say"])}, tool)]
    if "say" in step and any(SUBMIT in part.text for part in prompt.parts):
        step = {"run": f"echo {SUBMIT}"}
    calls = [_call(one, prompt) for one in step.get("calls", [step])]
    return [call for call in calls if call]


def _call(step, prompt):
    own = step.get("args", {})
    if "agent" in step:
        name = next((name for name in AGENTS if prompt.tool(name)), None)
        tool = name and prompt.tool(name)
        return tool and Call(name, agent_arguments(tool, step["agent"]) | own, tool)
    if "run" in step:
        tool = prompt.tool(shell_of(prompt))
        return tool and Call(tool.name, arguments(tool.schema, step["run"]) | _known(tool.schema, own), tool)
    tool = next((tool for tool in map(prompt.tool, _names(step)) if tool), None)
    return tool and Call(tool.name, _known(tool.schema, own), tool)


def arguments(schema, command):
    """Returns the arguments for a shell tool by its schema: the command, and something for each field it requires."""
    fields, given = schema.get("properties") or {}, {}
    if not fields:
        return {"command": command}
    for name in ("command", "cmd", "script", "commands"):
        if name in fields:
            is_list = fields[name].get("type") == "array"
            words = [command] if name == "commands" else ["bash", "-lc", command]
            given[name] = words if is_list else command
            break
    return _filled(schema, given)


def agent_arguments(tool, prompt):
    """Returns the arguments for a tool that starts a sub-agent with this prompt."""
    tag = TAG.findall(prompt)[-1].lower().replace("-", "_")
    given = AGENTS[tool.name] | {"description": f"reader {tag}", "task_name": tag}
    given |= dict.fromkeys(("prompt", "message", "goal", "task"), prompt)
    given["code"] = SPAWN.format(json.dumps({"name": tag, "message": prompt}))
    return _filled(tool.schema, _known(tool.schema, given))


def _known(schema, given):
    """Returns the arguments that a schema has, of those for several clients."""
    fields = schema.get("properties")
    return {name: value for name, value in given.items() if not fields or name in fields}


def _filled(schema, given):
    """Returns arguments with something for each other field that a schema requires."""
    fields = schema.get("properties") or {}
    missing = [name for name in schema.get("required") or [] if name not in given]
    return given | {name: _something(fields.get(name) or {}) for name in missing}


def _as(schema, text):
    """Returns a text in the form that a schema wants: itself, or an object with it in each required field."""
    if schema.get("type") != "object":
        return text
    return {name: _as(field, text) for name, field in schema.get("properties", {}).items()}


def _something(field):
    if choices := field.get("enum"):
        return choices[0]
    kind = field.get("type")
    values = {"boolean": False, "integer": 60000, "number": 60000, "array": [], "object": {}}
    return values.get(kind, "step") if isinstance(kind, str) else "step"


def _names(step):
    names = step.get("tool", [])
    return [names] if isinstance(names, str) else names
