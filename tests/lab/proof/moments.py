"""What ctxgauge shows at every moment of a session, against what came next.

A log of lines is cut after each of its lines; of a database there are copies from the time of each request; a session
that was followed has the reports of that time. What is in the context at a moment lies between what the last answered
request left and the next prompt, by the provider's count.
"""

from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from shutil import copyfile

from proof.cut import cut_at
from proof.score import compactions, kept
from proof.shown import sessions_of
from rig.play import parts_of

# The phases: before the first answer; between answers; between a compaction and the next answer; after the user went back;
# before the first answer of another model; and what was foretold of each prompt.
PHASES = ("first", "then", "after", "rewound", "switch", "foretold")
# An error within this much is not counted: a share, and the framing of a message.
SLACK, FRAMING = 0.001, 20
# The moments of a session that are looked at, of a long log.
MOST_STATES = 40
# A moment is wrong if its error is larger. Before the first answer nothing of the session's prefix is known.
WRONG, WRONG_AT_FIRST = 0.03, 0.15


@dataclass
class Moment:
    """What was shown, with its interval, and between what it should be, all in tokens. `place` is the line or the copy."""

    place: int
    phase: str
    used: int
    known: int
    low: int
    high: int
    least: int
    most: int

    @property
    def error(self):
        """Returns how far the number is outside of what is possible, as a share of the next prompt."""
        if self._least <= self.used <= self._most:
            return 0.0
        return (self.used - (self.most if self.used > self.most else self.least)) / self.most

    @property
    def is_wrong(self):
        return abs(self.error) > (WRONG_AT_FIRST if self.phase == "first" else WRONG)

    @property
    def holds(self):
        """Returns whether the interval has a possible value in it."""
        return self.low <= self._most and self.high >= self._least

    @property
    def is_falsely_known(self):
        return self.known > self._most

    @property
    def _least(self):
        return self.least * (1 - SLACK) - FRAMING

    @property
    def _most(self):
        return self.most * (1 + SLACK) + FRAMING


@dataclass
class Phase:
    """The moments of one phase of a session."""

    session: str
    name: str
    moments: list[Moment]

    @property
    def wrong(self):
        return sum(moment.is_wrong for moment in self.moments)

    @property
    def worst(self):
        return max(self.moments, key=lambda moment: abs(moment.error))


def look(record, binary):
    """Looks at all moments of a run. Returns the phases of each session."""
    gauge, phases = record.gauge(binary), []
    for session in sessions_of(record, gauge):
        moments = [*_foretold(session.report), *_seen(record, gauge, session)]
        for name in PHASES:
            if here := [moment for moment in moments if moment.phase == name]:
                phases.append(Phase(session.id[-12:], name, here))
    return phases


def _foretold(report):
    """Returns what was predicted of each prompt before its usage was read, against that prompt."""
    for call in report["calls"]:
        if (tokens := call["predicted"]) is not None:
            low, high = call["predicted_low"] or tokens, call["predicted_high"] or tokens
            yield Moment(call["line"] or 0, "foretold", tokens, 0, low, high, call["input"], call["input"])


def _seen(record, gauge, session):
    requests = session.requests
    compacted = [requests.index(then) for then in compactions(record.requests, requests)]
    went_back = rewinds(record, requests, compacted)
    followed = list(enumerate(record.followed(session.listed["id"]), 1))
    for place, report in followed or _reports(record, gauge, session):
        if answered(report, requests) == len(requests):
            return
        if moment := moment_of(place, report, requests, compacted, went_back):
            yield moment


def _reports(record, gauge, session):
    """Yields the number and the report of each state of a session's log."""
    for place, state in _states(record, session):
        with state as log:
            try:
                # A copy of a log with one session may have another id.
                is_one = session.is_alone and log.suffix == ".jsonl"
                yield place, gauge.report(log, None if is_one else session.selector)
            except RuntimeError:
                continue  # There is nothing of the session yet.


def _states(record, session):
    """Yields the states of a session's log: the number of each, and a context manager that puts it beside the log."""
    log = Path(session.listed["path"])
    if log.suffix == ".jsonl":
        lines = log.read_bytes().count(b"\n")
        every = -(-lines // MOST_STATES)
        yield from ((line, cut_at(log, line)) for line in range(1, lines + 1, every))
    else:
        copies = sorted((record.at / "moments").glob(f"*-{log.name}"))
        yield from ((number, _copied(copy.name.split("-")[0], copy.parent, log)) for number, copy in enumerate(copies, 1))


@contextmanager
def _copied(moment, folder, log):
    """Puts the copies of one moment beside the log."""
    put = {part: log.with_name(f"cut-{part.name}") for part in parts_of(log)}
    try:
        for part, at in put.items():
            if (copy := folder / f"{moment}-{part.name}").exists():
                copyfile(copy, at)
        yield put[log]
    finally:
        for at in put.values():
            at.unlink(missing_ok=True)


def answered(report, requests):
    """Returns how many of a session's requests a report shows."""
    count = 0
    for call in report["calls"]:
        count += count < len(requests) and call["input"] == requests[count].prompt
    return count


def rewinds(record, requests, compacted):
    """Returns the positions of the first requests after the user went back by keys, each with the time of its turn."""
    turns, found = record.meta["turns"], {}
    for at, (before, then) in enumerate(zip(requests, requests[1:]), 1):
        pressed = any(turn.get("keys") for turn in turns[before.turn : then.turn])
        if pressed and at not in compacted and kept(before) - kept(then):
            found[at] = turns[then.turn]["at"]
    return found


def _shared(requests, then):
    """Returns the largest of earlier prompts that a prompt begins with."""
    texts = [[part.text for part in one.parts if part.role not in ("system", "schema")] for one in (*requests, then)]
    own = texts.pop()
    return max((one.prompt for one, theirs in zip(requests, texts) if own[: len(theirs)] == theirs), default=0)


def moment_of(place, report, requests, compacted=(), went_back={}):
    """Returns the moment that a report is of; None between a request for a summary and the compaction that it makes, and
    after the user went back, as long as no record shows it.

    `compacted` are the positions of the first requests after compactions: such a prompt may be no smaller than the one before.
    """
    context, count = report["context"], answered(report, requests)
    next_one, last = requests[count], requests[count - 1] if count else None
    falls = {at for at in range(1, len(requests)) if requests[at].prompt < requests[at - 1].prompt} | set(compacted)
    falls -= set(went_back)
    if count in falls and len(report["compaction"]["past"]) < sum(at <= count for at in falls):
        return None
    phase = "then"
    if last is None:
        phase = "first"
    elif count in falls:
        phase = "after"
    elif count in went_back:
        if datetime.fromisoformat(report["session"]["updated_at"]).timestamp() < went_back[count]:
            return None
        phase = "rewound"
    elif next_one.model != last.model:
        phase = "switch"
    goes_on = last and count not in falls and phase != "rewound"
    least = min(last.prompt, next_one.prompt) if goes_on else 0
    # Reasoning may leave the context before the next prompt.
    most = max(last.after, next_one.prompt) if goes_on else next_one.prompt
    least = _shared(requests[:count], next_one) if phase == "rewound" else least
    sizes = (context[key] for key in ("used", "known", "low", "high"))
    return Moment(place, phase, *sizes, least, most)


def text(record, phases):
    """Returns a line for each phase of each session."""
    return "\n".join(f"{record.name} {_phase(phase)}" for phase in phases)


def _phase(phase):
    count, worst = len(phase.moments), phase.worst
    mean = sum(abs(moment.error) for moment in phase.moments) / count
    holds = sum(moment.holds for moment in phase.moments) / count
    falsely = sum(moment.is_falsely_known for moment in phase.moments)
    told = [
        f"{phase.session} {phase.name:8} {count:4} moments, {phase.wrong} wrong, mean {mean:.2%}",
        f"worst {worst.error:+.1%} (at {worst.place}: {worst.used} for {worst.least} to {worst.most})",
        f"the interval holds {holds:.1%}",
    ]
    return ", ".join(told + ([f"FALSELY KNOWN {falsely}"] if falsely else []))
