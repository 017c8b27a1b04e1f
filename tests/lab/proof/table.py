"""What was seen of a client in all its runs, as rows of a table and of `assets/proven.toml`."""

import datetime
import re
from dataclasses import dataclass, field

from rig import plan

# From here on a role or the result of a tool is wrong, as a share of the context or of the result.
ROLE_ERROR, RESULT_ERROR = 0.01, 0.10
HEADS = ("agent", "version", "requests", "sizes at the end", "roles", "results", "compactions", "moments", "right")
HEAD_OF_FILE = """\
# The versions of agents that were run against a provider whose counts are known, with what `tests/lab/prove.py` saw:
# shown as it is, of all that there were. It writes this file. A table of these in the user's `models.toml` goes before it.
"""


@dataclass
class Proof:
    """The runs of one client. Pairs are what is right, of all; `notes` say what is not."""

    agent: str
    version: str
    requests: tuple = (0, 0)
    sizes: tuple = (0, 0)
    roles: tuple = (0, 0)
    results: tuple = (0, 0)
    compactions: tuple = (0, 0)
    moments: tuple = (0, 0)
    notes: list = field(default_factory=list)

    @property
    def is_right(self):
        """Returns whether all that a log has is shown as it is. What is shared out or foretold has errors by its nature."""
        exact = (self.requests, self.sizes, self.compactions)
        return not self.notes and self.requests[1] > 0 and all(right == count for right, count in exact)

    def add_life(self, life):
        """Adds the sessions of a run."""
        self.requests = _plus(self.requests, life.exact, life.logged)
        name = life.record.meta["plan"]
        for what in (*life.record.failed, *(f"call {call} is no request" for call in life.foreign)):
            self.notes.append(f"{name}: {what}")
        for one in life.scores:
            known, truth = one.known
            self.sizes = _plus(self.sizes, known == truth, 1)
            shown, true = one.compactions
            self.compactions = _plus(self.compactions, min(shown, true), max(shown, true))
            if not plan.has_only_sizes(name):
                self.roles = _plus(self.roles, one.worst_role <= ROLE_ERROR, 1)
                right = sum(abs(result.error) <= RESULT_ERROR for result in one.results)
                self.results = _plus(self.results, right, len(one.results))

    def add_moments(self, record, phases):
        """Adds the moments after the first answer of a run's sessions."""
        if plan.has_only_sizes(record.meta["plan"]):
            return
        for phase in phases:
            if phase.name != "first":
                self.moments = _plus(self.moments, len(phase.moments) - phase.wrong, len(phase.moments))

    def cells(self):
        pairs = (self.requests, self.sizes, self.roles, self.results, self.compactions, self.moments)
        return [self.agent, self.version, *(f"{right} of {count}" for right, count in pairs), _yes(self.is_right)]


def _yes(is_right):
    return "yes" if is_right else "NO"


def _plus(pair, right, count):
    return pair[0] + right, pair[1] + count


def as_text(proofs):
    """Returns the table of versions."""
    rows = [HEADS, *(proof.cells() for proof in proofs)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(HEADS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def as_toml(proof, date=None):
    """Returns the table of a version, as the file has it."""
    rows = [f"[proven.{proof.agent}]", f'version = "{proof.version}"', f'date = "{date or datetime.date.today()}"']
    for name in ("requests", "sizes", "roles", "results", "compactions", "moments"):
        right, count = getattr(proof, name)
        if count:
            rows.append(f'{name} = "{right} of {count}"')
    return "\n".join(rows) + "\n"


def with_proofs(text, proofs):
    """Returns the file with these versions in it, by agent, and those of other agents as they were."""
    found = re.finditer(r"^\[proven\.(\S+)\]\n[^\[]*", text, re.M)
    tables = {table.group(1): table.group().strip() + "\n" for table in found}
    tables |= {proof.agent: as_toml(proof) for proof in proofs}
    return HEAD_OF_FILE + "".join("\n" + tables[agent] for agent in sorted(tables))
