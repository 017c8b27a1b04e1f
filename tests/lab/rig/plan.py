"""Plans as data: what a user types and what the model does, turn by turn, and how clients are set up for it.

A plan is a file of `plans/`; `{WORK}` in a step stands for the project's folder.

    turns       a list, each `{"prompt": TEXT, "steps": [STEP, …]}`; `provider/steps.py` says what a step is
    clients     by client: its options, or null for one that the plan is not for
    provider    by client: the tokens of reasoning in each answer (`thinking`), the seconds before it (`pace`)
    terminal    true: it is typed into a terminal; else each turn is a process

and a turn may have

    subs        the steps of sub-agents, by the tag in their prompts
    command     `compact` or `clear`: the client's own command for it is typed instead of a prompt
    from        `new`: it begins a session; `fork`: it goes on in a fork of the session
    session     the number of the session that it goes on with, from 0; otherwise it is the last
    options     by client: what differs from the plan's options in this turn
    interrupted true: the user interrupts it while the provider hangs
    may_fail    true: a client may give up in it
    project     true: memory files, skills and pictures are put into the project first
    only        the clients that have this turn
"""

import json
from dataclasses import dataclass, field, replace

from clients.client import Options
from rig.places import PLANS


@dataclass
class Turn:
    """What a user does, and the model after it. `options` are those of one client in this turn."""

    prompt: str
    steps: list
    options: Options
    subs: dict = field(default_factory=dict)
    command: str | None = None
    begins: str | None = None
    session: int | None = None
    interrupted: bool = False
    may_fail: bool = False
    project: bool = False


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
    """Loads a plan of `plans/` for a client. Returns None where the plan is not for it."""
    plan = json.loads((PLANS / f"{name}.json").read_text())
    given = plan.get("clients", {}).get(client.name, {})
    if given is None or client.plans is not None and name not in client.plans:
        return None
    options = Options(**given)
    turns = [_turn(turn, client, options) for turn in plan["turns"] if client.name in turn.get("only", [client.name])]
    return Plan(name, turns, options, plan.get("provider", {}).get(client.name, {}), plan.get("terminal", False))


def _turn(turn, client, options):
    options = replace(options, **turn.get("options", {}).get(client.name, {}))
    same = ("subs", "command", "session", "interrupted", "may_fail", "project")
    rest = {key: turn[key] for key in same if key in turn}
    return Turn(turn.get("prompt", ""), turn.get("steps", []), options, begins=turn.get("from"), **rest)
