"""Claude Code's own records of its requests, put together from the log, against what the provider got.

Since 2.1.330 it logs each request of a session and of its sub-agents; compactions and titles it does not:

    api-request-shape   {shapeHash, shape: {system, tools}}, once for each shape
    api-request-blob    {hash, message}, for a message that no lines make up
    api-request         {id, base, keep, tail, shapeHash, params, cacheControl, requestDigest, querySource}

The messages of a request are the first `keep` of those of request `base`, then `tail`, all as hashes. A hash is the
SHA-256 of the message as JSON with sorted keys, no spaces, no `cache_control`, and a text as one block. A message without
a blob is a run of lines: `user` lines that follow each other, or `assistant` lines of one `message.id`; every beginning
of a run counts. After a `compact_boundary` all begins anew.
"""

import hashlib
import json
from dataclasses import dataclass


@dataclass
class Rebuilt:
    """The requests of a log: how many there are, how many have messages and tools as they were sent, and a right digest.

    `sources` are what the requests were for, as the client says.
    """

    log: str
    requests: int
    messages: int
    tools: int
    digests: int
    sources: list

    @property
    def is_right(self):
        return self.requests == self.messages == self.tools == self.digests


def look(record):
    """Compares each log of a run with the bodies that the provider kept."""
    sent = [json.loads(path.read_text()) for path in sorted((record.at / "bodies").glob("*.json"))]
    by_messages = {canonical([whole(one) for one in body["messages"]]): body for body in sent if "messages" in body}
    logs = sorted((record.at / "home/.claude/projects").rglob("*.jsonl"))
    return [_compare(log, by_messages) for log in logs if log.stem != "journal"]


def _compare(log, by_messages):
    found = requests_of([json.loads(line) for line in log.read_text().splitlines()])
    bodies = [by_messages.get(canonical(messages)) for _, messages, _ in found]
    tools = [bare(body.get("tools")) == shape.get("tools") for body, (_, _, shape) in zip(bodies, found) if body]
    digests = [digest(*one) == one[0].get("requestDigest") for one in found if None not in one[1]]
    sources = sorted({record["querySource"] for record, _, _ in found})
    return Rebuilt(log.name, len(found), sum(body is not None for body in bodies), sum(tools), sum(digests), sources)


def requests_of(lines):
    """Returns each request of a log: its record, its messages (None for one that is not found), and its shape."""
    messages, lists, shapes, run, found = {}, {}, {}, None, []
    for line in lines:
        kind, message = line.get("type"), line.get("message")
        if kind == "api-request-shape":
            shapes[line["shapeHash"]] = line["shape"]
        elif kind == "api-request-blob":
            messages[line["hash"]] = whole(message)
        elif kind in ("user", "assistant") and isinstance(message, dict):
            run = _joined(run, message)
            begun = bare({"role": run["role"], "content": run["content"]})
            messages.setdefault(hashed(begun), begun)
        elif kind == "system" and line.get("subtype") == "compact_boundary":
            run = None
        elif kind == "api-request":
            hashes = lists[line["id"]] = lists.get(line.get("base"), [])[: line["keep"]] + line["tail"]
            found.append((line, [messages.get(one) for one in hashes], shapes.get(line["shapeHash"], {})))
    return found


def _joined(run, message):
    """Returns a run of lines with one more, or a new run."""
    role, blocks = message["role"], blocks_of(message["content"])
    goes_on = run and run["role"] == role and (role == "user" or run["id"] == message.get("id"))
    return {"role": role, "id": message.get("id"), "content": (run["content"] if goes_on else []) + blocks}


def digest(record, messages, shape):
    """Returns the digest of a request, with each `cache_control` where it was."""
    body = json.loads(json.dumps({**record["params"], **shape, "messages": messages}))
    for control in record["cacheControl"]:
        at = body
        for key in control["path"]:
            at = at[key]
        at["cache_control"] = control["value"]
    return hashed(body)


def whole(message):
    """Returns a message as its hash has it."""
    return bare({**message, "content": blocks_of(message["content"])})


def bare(value):
    """Returns a value without `cache_control`."""
    if isinstance(value, dict):
        return {key: bare(one) for key, one in value.items() if key != "cache_control"}
    return [bare(one) for one in value] if isinstance(value, list) else value


def blocks_of(content):
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def canonical(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, sort_keys=True)


def hashed(value):
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def text(record, logs):
    """Returns a line for each log."""
    return "\n".join(f"{record.name} {_log(log)}" for log in logs)


def _log(log):
    counts = f"{log.messages} with messages as sent, {log.tools} with tools as sent, {log.digests} with their digest"
    return f"{log.log[:14]}: {log.requests} requests ({', '.join(log.sources)}), {counts}"
