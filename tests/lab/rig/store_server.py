#!/usr/bin/env python3
"""A server of tools over stdin and stdout: `lookup` returns a long text, `records` structured data, `picture` a picture.

store_server.py PICTURE

It runs by itself, in any client: of the lab it has only the picture, which is a file. The schemas are as large as those of
real servers.
"""

import base64
import json
import random
import sys
from pathlib import Path

WORDS = "aisle bale box cart crate door drawer floor hook label ladder lamp ledger pallet rack ramp rope scale shelf wall".split()
TEXT_WORDS, ROWS = 6000, 60
ROWS_SCHEMA = {
    "type": "object",
    "properties": {"rows": {"type": "array", "items": {"type": "object"}}},
    "required": ["rows"],
}


def main():
    picture = Path(sys.argv[1])
    for line in sys.stdin:
        asked = json.loads(line)
        # A notification has no id, and gets no answer.
        if "id" in asked:
            result = answer(asked["method"], asked.get("params") or {}, picture)
            print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)


def answer(method, given, picture):
    """Returns the result of a request."""
    if method == "initialize":
        return {
            "protocolVersion": given.get("protocolVersion", "2025-06-18"),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "store", "version": "1.0.0"},
            "instructions": "What is in the store. " + words(60, 1),
        }
    if method == "tools/list":
        return {"tools": tools()}
    if method == "tools/call":
        return call(given["name"], (given.get("arguments") or {}).get("size"), picture)
    return {}


def tools():
    """Returns the definitions of the tools."""
    return [
        _tool("lookup", "words of a text", 20),
        _tool("records", "records of the store", 25) | {"outputSchema": ROWS_SCHEMA},
        _tool("picture", "a picture of the store", 15),
    ]


def _tool(name, what, fields):
    properties = {f"field_{number}": {"type": "string", "description": words(40, number)} for number in range(fields)}
    properties["size"] = {"type": "integer", "description": "how many"}
    schema = {"type": "object", "properties": properties, "required": []}
    return {"name": name, "description": f"Returns {what}. {words(120, fields)}", "inputSchema": schema}


def call(name, size, picture):
    """Returns what a tool returns."""
    if name == "lookup":
        return {"content": [_text(words(size or TEXT_WORDS, 2))]}
    if name == "records":
        rows = {"rows": [_row(number) for number in range(size or ROWS)]}
        return {"content": [_text(json.dumps(rows))], "structuredContent": rows}
    data = base64.b64encode(picture.read_bytes()).decode()
    return {"content": [_text("A picture."), {"type": "image", "mimeType": "image/png", "data": data}]}


def _row(number):
    return {"id": number, "name": words(2, number), "shelf": number * 37 % 101, "tags": words(3, number + 1000).split()}


def _text(text):
    return {"type": "text", "text": text}


def words(count, seed):
    """Returns so many words, which are the same for a seed."""
    draw = random.Random(seed)
    return " ".join(draw.choice(WORDS) for _ in range(count))


if __name__ == "__main__":
    main()
