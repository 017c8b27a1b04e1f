"""Plans as data: what a user types and what the model does, turn by turn, and how each client is set up for it."""

import json
from dataclasses import dataclass

from clients.client import Options
from rig.places import PLANS


@dataclass
class Plan:
    """The turns, each a prompt and its steps, and the options of one client."""

    turns: list[dict]
    options: Options


def load(name, client):
    """Loads a plan of `plans/` for a client. `clients` in the file has the options that it needs."""
    plan = json.loads((PLANS / f"{name}.json").read_text())
    return Plan(plan["turns"], Options(**plan.get("clients", {}).get(client.name, {})))
