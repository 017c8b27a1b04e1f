"""Which of the provider's requests a session shows."""

from collections import Counter, defaultdict
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
    # Whether its log has no other session.
    is_alone: bool = True

    @property
    def id(self):
        return self.listed["id"] or "-"

    @property
    def selector(self):
        """Returns that by which it is chosen in its log: one without an id has a title."""
        return self.listed["id"] or self.listed["name"]

    @property
    def last(self):
        return self.requests[-1] if self.requests else None


def sessions_of(record, gauge):
    """Returns all sessions of a run, the oldest first."""
    listed = sorted(gauge.sessions(), key=lambda row: row["updated_at"] or "")
    taken = set()
    shown = [Shown(row, {}) for row in listed]
    paths = Counter(row["path"] for row in listed)
    for session in shown:
        session.is_alone = paths[session.listed["path"]] == 1
        session.report = _report(record, gauge, session)
    # Forks repeat their parents' requests: sessions without a parent come first.
    for session in sorted(shown, key=lambda one: one.listed["parent"] is not None):
        match(session, record.requests, taken)
    return shown


def _report(record, gauge, session):
    """Returns the last report of a session that was followed, or the report of its log."""
    followed = record.followed(session.listed["id"])
    return followed[-1] if followed else gauge.report(session.listed["path"], session.selector)


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
