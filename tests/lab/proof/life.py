"""A run's whole life: the score of each of its sessions, and the requests that none of them shows, or several do."""

from collections import Counter
from dataclasses import dataclass

from proof import score
from proof.shown import sessions_of


@dataclass
class Life:
    """`lost` are requests that no session shows; `twice` the numbers of those that several do; `foreign` calls that no
    request is; `inexact` calls whose output differs."""

    record: object
    scores: list
    logged: int
    lost: list
    twice: list
    foreign: list
    inexact: int
    skipped: int

    @property
    def exact(self):
        return self.logged - len(self.lost) - self.inexact


def look(record, binary):
    """Looks at all sessions of a run."""
    gauge = record.gauge(binary)
    sessions = sessions_of(record, gauge)
    times = Counter(request.number for session in sessions for request in session.requests)
    return Life(
        record,
        [score.score(record, session, gauge) for session in sessions if session.last],
        len(record.logged),
        [request for request in record.logged if request.number not in times],
        [number for number, count in times.items() if count > 1],
        [call for session in sessions for call in session.foreign],
        sum(session.inexact for session in sessions),
        sum(session.report["session"]["unreadable"] for session in sessions),
    )


def text(life):
    """Returns a paragraph on a run, with a line for each session."""
    lines = [f"== {life.record.name}: requests {life.exact}/{life.logged} exact"]
    notes = {
        "failed": life.record.failed,
        "lost": [(one.number, one.tag, one.prompt, one.output) for one in life.lost],
        "in several sessions": life.twice,
        "foreign calls": life.foreign,
        "unreadable": life.skipped,
    }
    lines += [f"   {what}: {value}" for what, value in notes.items() if value]
    return "\n".join(lines + [_session(one) for one in life.scores])


def _session(one):
    known, truth = one.known
    roles = ", ".join(f"{role} {ours}/{true}" for role, (ours, true) in one.roles.items())
    told = [f"known {known}/{truth}", roles, f"results {len(one.results)}, worst {one.worst_result:.1%}"]
    told.append("compactions {}/{}".format(*one.compactions))
    told += [f"trigger {trigger.trigger} at {trigger.count}" for trigger in one.triggers]
    kind = "sub-agent" if one.shown.listed["parent"] else "session"
    return f"   {kind} {one.shown.id[-12:]}, {len(one.shown.requests)} requests: " + "; ".join(told)
