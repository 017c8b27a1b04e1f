"""The score of a session: its size, roles, results and compactions, against the provider's counts."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from proof.cut import cut_at
from proof.results import joined, results_of
from provider.kinds import SUMMARY
from provider.steps import TAG
from provider.tokens import is_reasoning

ROLES = ("container", "user", "assistant", "tool")


@dataclass
class Score:
    """A session's numbers, each shown and true. `known` is its size by the last answer; results of tools may follow it."""

    shown: object
    known: tuple
    roles: dict
    results: list
    compactions: tuple
    triggers: list

    @property
    def worst_role(self):
        """Returns the largest error of a role, as a share of the context."""
        return max((abs(ours - truth) / self.known[1] for ours, truth in self.roles.values()), default=0.0)

    @property
    def worst_result(self):
        return max((abs(result.error) for result in self.results), default=0.0)


@dataclass
class Trigger:
    """What was shown just before an automatic compaction: the agent's own count, and the size at which it compacts."""

    line: int
    count: int
    trigger: int | None


def score(record, shown, gauge):
    """Scores a session that shows a request."""
    report, last = shown.report, shown.last
    truth = roles_of(last, record.typed)
    ours = {role: report["roles"].get(role, {}).get("tokens", 0) for role in (*ROLES, "system")}
    ours["container"] += ours.pop("system")
    log = Path(shown.listed["path"])
    past, count = report["compaction"]["past"], len(compactions(record.requests, shown.requests))
    # Nobody has counted what is left then.
    is_over = is_compacted_since(record.requests, last)
    return Score(
        shown,
        (report["context"]["known"], 0 if is_over else last.after),
        {} if is_over else {role: (ours[role], truth[role]) for role in ROLES},
        [] if is_over else results_of(report, last, log),
        (len(past), count + is_over + begins_compacted(record.requests, shown.requests[0])),
        [trigger for one in past if one["cause"] == "auto" and (trigger := _trigger(one, log, gauge))],
    )


def roles_of(request, typed):
    """Returns the tokens by ctxgauge's roles, after the answer: of the user's texts only what was typed is the user's."""
    tokens = Counter({"assistant": request.output})
    for part in joined(request.parts):
        role, head = part.role, part.text.strip().strip('"')
        if head.startswith(SUMMARY[:40]):
            role = "summary"
        # Some clients put what was typed into a text of theirs.
        is_typed = TAG.search(head) or head.startswith(tuple(prompt[:30] for prompt in typed))
        if role == "user" and not part.media and not is_typed:
            role = "container"
        tokens[role if role in ROLES else "container"] += part.tokens
    return tokens


def compactions(requests, shown):
    """Returns the first request of a session after each compaction. One that came to nothing has none."""
    asked = [request.number for request in requests if request.kind == "compact"]
    main, found, since = [request for request in shown if request.kind == "main"], [], 0
    for before, then in zip(main, main[1:]):
        now = any(before.number < one < then.number for one in asked)
        # A summary may be made long before it is used. The prompt of another model may be larger after a compaction.
        lost = any(since < one < then.number for one in asked) and kept(before) - kept(then)
        if lost or now and then.prompt < before.after:
            found.append(then)
            since = then.number
    return found


def begins_compacted(requests, first):
    """Returns whether a session begins with answers, but without what an earlier request for a summary had: it is a fork."""
    asked = [one for one in requests if one.kind == "compact" and one.number < first.number]
    return bool(kept(first)) and any(kept(one) - kept(first) for one in asked)


def is_compacted_since(requests, last):
    """Returns whether a session was compacted after its last answer: a request for a summary has all of it, and no more."""
    asked = [one for one in requests if one.kind == "compact" and one.number > last.number]
    return any(kept(last) <= kept(one) and len(kept(one) - kept(last)) <= 1 for one in asked)


def kept(request):
    """Returns what only a compaction takes away: calls, and texts of the model, an earlier summary among them."""
    texts = {part.text for part in request.parts if part.role == "assistant" and not part.call}
    return {part.call for part in request.parts if part.call} | {text for text in texts if not is_reasoning(text)}


def _trigger(compaction, log, gauge):
    """Returns what is shown of the log up to the record of a compaction."""
    if log.suffix != ".jsonl":
        return None
    with cut_at(log, compaction["line"] - 1) as cut:
        report = gauge.report(cut)
    context = report["context"]
    return Trigger(compaction["line"], context.get("own_count", context["used"]), report["compaction"]["trigger"])
