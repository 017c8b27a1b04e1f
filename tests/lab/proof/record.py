"""What a run has left: what was typed, the logs, and the provider's requests."""

import json
from dataclasses import dataclass
from pathlib import Path

from provider.prompt import Part
from provider.server import Request
from rig.follow import FOLLOWED, reports
from rig.gauge import Gauge


@dataclass
class Record:
    """A folder of a run, as `rig/play.py` leaves it. A part of a request has the beginning of its text only."""

    at: Path
    meta: dict
    requests: list[Request]

    @property
    def name(self):
        return f"{self.meta['plan']} {self.meta['client']} {self.meta['version']}"

    @property
    def failed(self):
        """Returns what failed in the run itself."""
        return [turn["failed"] for turn in self.meta["turns"] if turn["failed"]]

    @property
    def typed(self):
        """Returns the prompts that the user typed."""
        return [turn["prompt"] for turn in self.meta["turns"] if turn["prompt"]]

    @property
    def logged(self):
        """Returns the requests that a log has to have: those of sessions and sub-agents whose usage was reported."""
        return [one for one in self.requests if one.kind == "main" and one.is_reported]

    def followed(self, session):
        """Returns the reports of a session while it was followed, the oldest first; none where it was not."""
        return reports(self.at / FOLLOWED, session)

    def gauge(self, binary):
        return Gauge(Path(binary).resolve(), self.at / "home", self.at / "work/project")


def load(folder):
    """Loads a run's folder."""
    folder = Path(folder).resolve()
    lines = (folder / "truth.jsonl").read_text().splitlines()
    return Record(folder, json.loads((folder / "meta.json").read_text()), [_request(line) for line in lines])


def _request(line):
    request = json.loads(line)
    parts = [Part(**{key: value for key, value in part.items() if key != "head"}, text=part["head"])
             for part in request.pop("parts")]  # fmt: skip
    return Request(**request, parts=parts)
