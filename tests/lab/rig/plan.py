"""Plans as data: what a user types and what the model does, turn by turn, and how clients are set up for it.

A plan is a file of `plans/`; `{WORK}` in a step stands for the project's folder.

    turns       a list, each `{"prompt": TEXT, "steps": [STEP, …]}`; `provider/steps.py` says what a step is
    clients     by client: its options
    provider    by client: the tokens of reasoning in each answer (`thinking`), the seconds before it (`pace`),
                how many tokens it counts for each (`times`)
    terminal    true: it is typed into a terminal; else each turn is a process
    only        the clients that the plan is for, where these are few; a client has `plans`, where these are few
    only_sizes  true: its provider counts what nobody can know, so roles, results and moments do not count

and a turn may have

    subs        the steps of sub-agents, by the tag in their prompts
    command     `compact`, `clear` or `branch`: the client's own command for it is typed instead of a prompt
    keys        in a terminal, instead of a prompt: keys by the names of tmux, one after another; `{"see": TEXT}` waits until
                a text is on the screen, `{"gone": TEXT}` until it is not
    from        `new`: it begins a session; `fork`: it goes on in a fork of the session
    session     the number of the session that it goes on with, from 0; otherwise it is the last
    options     by client: what differs from the plan's options in this turn
    interrupted true: the user interrupts it while the provider hangs
    may_fail    true: a client may give up in it
    project     true: memory files, skills and pictures are put into the project first
    server      true: from here on the client has the server `store`, which is `rig/store_server.py`
    only        the clients that have this turn

A step may also be `{"look": [TOOL, …]}`, by which the model looks for tools of that server where the client does not
declare them, or `{"served": TOOL, "args": {…}}`, a call of one.
"""

import json
from dataclasses import dataclass, field, replace
from pathlib import Path

from clients.client import Options
from rig import server
from rig.places import PLANS

# The server of the lab's own that a client may have.
STORE = "store"


@dataclass
class Turn:
    """What a user does, and the model after it. `options` are those of one client in this turn."""

    prompt: str
    steps: list
    options: Options
    subs: dict = field(default_factory=dict)
    command: str | None = None
    keys: list = field(default_factory=list)
    begins: str | None = None
    session: int | None = None
    interrupted: bool = False
    may_fail: bool = False
    project: bool = False
    server: bool = False


@dataclass
class Plan:
    """The turns and the options of one client."""

    name: str
    turns: list[Turn]
    options: Options
    provider: dict
    terminal: bool


def names():
    """Returns the names of all plans."""
    return sorted(path.stem for path in PLANS.glob("*.json"))


def load(name, client):
    """Loads a plan for a client: a file, or one of `plans/` by its name. Returns None where the plan is not for it."""
    plan = json.loads(_file(name).read_text())
    if client.name not in plan.get("only", [client.name]) or name not in (client.plans or [name]):
        return None
    options = Options(**plan.get("clients", {}).get(client.name, {}))
    turns = [_turn(turn, client, options) for turn in plan["turns"] if client.name in turn.get("only", [client.name])]
    return Plan(_file(name).stem, turns, options, plan.get("provider", {}).get(client.name, {}), plan.get("terminal", False))


def has_only_sizes(name):
    """Returns whether only requests and sizes can be right in a plan."""
    return name in names() and json.loads(_file(name).read_text()).get("only_sizes", False)


def _file(name):
    return Path(name) if name.endswith(".json") else PLANS / f"{name}.json"


def _turn(turn, client, options):
    options = replace(options, **turn.get("options", {}).get(client.name, {}))
    same = ("subs", "command", "keys", "session", "interrupted", "may_fail", "project", "server")
    rest = {key: turn[key] for key in same if key in turn}
    steps = [own for step in turn.get("steps", []) for own in _steps(step, client)]
    return Turn(turn.get("prompt", ""), steps, options, begins=turn.get("from"), **rest)


def _steps(step, client):
    """Returns a step as this client has it: it has its own ways to look for tools of servers, and to call them."""
    if "look" in step:
        return server.look(client, step["look"], STORE)
    if "served" in step:
        return [server.ask(client, step["served"], step.get("args"), STORE)]
    return [step]
