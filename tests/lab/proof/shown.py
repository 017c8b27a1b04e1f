"""Which of the provider's requests a session shows."""

from collections import defaultdict
from dataclasses import dataclass, field

from provider.server import Request


@dataclass
class Shown:
    """A session of a run: its row in `ls`, its report, and the requests that its calls are, in their order.

    `foreign` are calls that no request is, as pairs of prompt and output; `inexact` those whose output differs.
    """

    listed: dict
    report: dict
    requests: list[Request] = field(default_factory=list)
    foreign: list = field(default_factory=list)
    inexact: int = 0

    @property
    def id(self):
        return self.listed["id"] or "-"

    @property
    def last(self):
        return self.requests[-1] if self.requests else None


def sessions_of(record, gauge):
    """Returns all sessions of a run, the oldest first."""
    listed = sorted(gauge.sessions(), key=lambda row: row["updated_at"] or "")
    taken = set()
    shown = [Shown(row, _report(record, gauge, row)) for row in listed]
    # Forks repeat their parents' requests: sessions without a parent come first.
    for session in sorted(shown, key=lambda one: one.listed["parent"] is not None):
        match(session, record.requests, taken)
    return shown


def _report(record, gauge, row):
    """Returns the last report of a session that was followed, or the report of its log."""
    followed = record.followed(row["id"])
    # A session without an id is found by its title.
    return followed[-1] if followed else gauge.report(row["path"], row["id"] or row["name"])


def match(session, requests, taken):
    """Finds the requests that a session's calls are. `taken` are the numbers of those that other sessions show."""
    by_prompt, own = defaultdict(list), set()
    for request in requests:
        by_prompt[request.prompt].append(request)
    for call in session.report["calls"]:
        free = [one for one in by_prompt.get(call["input"], []) if one.number not in own]
        # A request that failed is repeated.
        free.sort(key=lambda one: (one.fault is not None, one.output != call["output"], one.number in taken))
        if not free:
            session.foreign.append((call["input"], call["output"]))
            continue
        hit = free[0]
        session.inexact += hit.is_reported and hit.output != call["output"]
        session.requests.append(hit)
        own.add(hit.number)
    taken |= own
