"""The results of tools in a context: their sizes by the provider, and as they are shown."""

import json
from collections import defaultdict
from dataclasses import dataclass, replace

from provider.steps import TAG

CALL_KEYS = ("tool_use_id", "toolCallId", "call_id", "tool_call_id")
# So many tokens are the framing of a result, which each API counts in its own way.
FRAMING = 20


@dataclass
class Result:
    """A result: its tokens by the provider, the tokens that are shown, and the source of these."""

    call: str | None
    truth: int
    shown: int
    source: str

    @property
    def error(self):
        """Returns the error as a share of the truth; none where it is framing."""
        off = self.shown - self.truth
        return off / self.truth if self.truth and abs(off) > FRAMING else 0.0


def results_of(report, last, log):
    """Returns the results that the last request contains, beside what the report shows for each.

    They belong together by the ids on the log's lines. Where a log has no lines, or ids that come twice or that are in
    another file (the past of a fork), they belong together by their sizes.
    """
    there = [part for part in joined(last.parts) if part.role == "tool"]
    shown = [item for item in report["messages"] if item["role"] == "tool" and item["in_context"]]
    shown = [item for item in shown if item["entered"] is not None or report["calls"]]
    items, calls = _by_call(shown, log), {part.call for part in there}
    if calls <= items.keys() and len(calls) == len(there):
        return [_result(part, items[part.call]) for part in there]
    return [_result(part, items) for part, items in _by_size(there, shown)]


def joined(parts):
    """Returns the parts of a prompt, with each picture in the result that it belongs to: some clients send it after that.

    A note may be before the picture, such as "Attached media from tool result:".
    """
    found = []
    for part, after in zip(parts, [*parts[1:], None]):
        is_note = after is not None and after.role == "user" and after.media and not TAG.search(part.text)
        if found and found[-1].role == "tool" and part.role == "user" and (part.media or is_note):
            result = found.pop()
            part = replace(result, tokens=result.tokens + part.tokens, media=result.media + part.media)
        found.append(part)
    return found


def _by_size(there, shown):
    """Yields each result with the item that is nearest to it in size, or with none if that is off by more than half."""
    left = list(shown)
    for part in sorted(there, key=lambda part: -part.tokens):
        nearest = min(left, key=lambda item: abs(item["tokens"] - part.tokens), default=None)
        if nearest and abs(nearest["tokens"] - part.tokens) <= max(part.tokens / 2, FRAMING):
            left.remove(nearest)
            yield part, [nearest]
        else:
            yield part, []


def _result(part, items):
    source = items[0]["source"] if items else "missing"
    return Result(part.call, part.tokens, sum(item["tokens"] for item in items), source)


def _by_call(shown, log):
    """Returns the items of each call, by the ids on their lines."""
    ids, lines, found = ids_of(log), defaultdict(list), defaultdict(list)
    for item in shown:
        lines[item["line"]].append(item)
    for line, items in lines.items():
        # A line that is a whole request has all results until then: the new ones are its last ones.
        calls = ids.get(line, [])[-len(items) :]
        # A line with several results has them in the order of their ids.
        pairs = zip(calls, items) if len(calls) == len(items) else ((call, item) for item in items for call in calls)
        for call, item in pairs:
            found[call].append(item)
    return found


def ids_of(log):
    """Returns the ids of calls on each line of a log of lines."""
    if log.suffix != ".jsonl":
        return {}
    found = {}
    for number, line in enumerate(log.read_bytes().splitlines(), 1):
        try:
            found[number] = list(dict.fromkeys(_ids(json.loads(line))))
        except ValueError:
            continue
    return found


def _ids(value):
    if isinstance(value, list):
        for one in value:
            yield from _ids(one)
    elif isinstance(value, dict):
        yield from (value[key] for key in CALL_KEYS if isinstance(value.get(key), str))
        response = value.get("functionResponse")
        if isinstance(response, dict) and response.get("id"):
            yield response["id"]
        for one in value.values():
            yield from _ids(one)
