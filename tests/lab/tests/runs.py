"""Requests, reports and folders of runs that tests make up."""

from provider.prompt import Part
from provider.server import Request


def request(number, prompt, output=10, kind="main", parts=(), model="m", **more):
    """Returns a request of the session."""
    ends = more.pop("ends_turn", False)
    return Request(number, 0.0, "chat", model, kind, more.pop("tag", "LAB-MAIN"), prompt, 0, output, ends, list(parts), **more)


def part(role, tokens, call=None, text=""):
    return Part(role, text, call=call, tokens=tokens)


def call(prompt, output=10):
    """Returns a call as a report has it."""
    return {"input": prompt, "output": output, "line": 1, "predicted": None}


def report(calls=(), used=0, known=None, past=(), messages=(), roles=None):
    """Returns what the proof reads of a report."""
    known = used if known is None else known
    return {
        "calls": list(calls),
        "context": {"used": used, "known": known, "low": used, "high": used},
        "compaction": {"past": list(past), "trigger": 100},
        "messages": list(messages),
        "roles": {role: {"tokens": tokens} for role, tokens in (roles or {}).items()},
        "session": {"unreadable": 0},
    }


def item(line, tokens, source="derived"):
    """Returns the result of a tool as a report has it."""
    return {"role": "tool", "in_context": True, "entered": 1, "line": line, "tokens": tokens, "source": source}
