"""Anthropic's Messages API."""

import json
import re

from provider.edits import CLEAR, cleared
from provider.media import media_of
from provider.prompt import FRAME, Part, Prompt, Tool, flat, fresh, text_of
from provider.tokens import reasoning, reasoning_tokens

NAME = "anthropic"
INHERITS = False

# Claude Code appends these to the results of tools.
REMINDER = re.compile(r"\s*<system-reminder>.*?</system-reminder>\s*", re.S)


def read(body, path):
    sent, count = cleared(body)
    prompt = _read(sent)
    if count:
        prompt.cleared = (count, _read(body).tokens - prompt.tokens)
    return prompt


def _read(body):
    system = body.get("system") or ""
    parts = [Part("system", text_of(block)) for block in (system if isinstance(system, list) else [system])]
    tools = [Tool(tool.get("name"), tool.get("input_schema") or {}) for tool in body.get("tools") or []]
    parts += [Part("schema", flat(tool), tool=tool.get("name")) for tool in body.get("tools") or []]
    names = {}
    for message in body["messages"]:
        content = message["content"]
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            parts += _parts(block, message["role"], names, body.get("model") or "")
        parts[-1].tokens += FRAME
    no_calls = (body.get("tool_choice") or {}).get("type") == "none"
    life = 3600 if '"ttl": "1h"' in json.dumps(body) else 300
    return Prompt(body.get("model") or "", parts, tools, bool(body.get("stream")), no_calls, life)


def _parts(block, role, names, model):
    kind = block.get("type")
    if kind == "text":
        return [Part(role if role in ("user", "assistant") else "system", block["text"])]
    if kind in ("thinking", "redacted_thinking"):
        return [Part("assistant", "", tokens=reasoning_tokens(block.get("signature") or block.get("data")))]
    if kind == "tool_use":
        names[block["id"]] = block["name"]
        return [Part("assistant", block["name"] + flat(block["input"]), block["name"], block["id"])]
    if kind == "tool_result":
        text, call = text_of(block.get("content")), block["tool_use_id"]
        reminders = "".join(REMINDER.findall(text))
        media = media_of(NAME, block.get("content"), model)
        result = Part("tool", REMINDER.sub("", text), names.get(call), call, media=media)
        return [result] + ([Part("reminder", reminders)] if reminders else [])
    if media := media_of(NAME, block, model):
        return [Part(role, "", media=media)]
    return [Part("user", flat(block)[:2000])]


def whole(answer):
    fresh_tokens = answer.prompt - answer.cached
    written = fresh_tokens // 2
    lives = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}
    lives["ephemeral_1h_input_tokens" if answer.cache_life == 3600 else "ephemeral_5m_input_tokens"] = written
    content = []
    if answer.thinking:
        content.append({"type": "thinking", "thinking": "Thinking.", "signature": reasoning(answer.thinking)})
    if answer.text or not answer.calls and not content:
        content.append({"type": "text", "text": answer.text or "ok"})
    for call in answer.calls:
        content.append({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments})
    results, tokens = answer.cleared
    edits = [{"type": CLEAR, "cleared_tool_uses": results, "cleared_input_tokens": tokens}] if results else []
    return {
        "id": fresh("msg_"),
        "type": "message",
        "role": "assistant",
        "model": answer.model,
        "content": content,
        "stop_reason": "tool_use" if answer.calls else "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": fresh_tokens - written,
            "cache_creation_input_tokens": written,
            "cache_creation": lives,
            "cache_read_input_tokens": answer.cached,
            "output_tokens": answer.output,
            "output_tokens_details": {"thinking_tokens": answer.reasoned},
            "service_tier": "standard",
        },
        "context_management": {"applied_edits": edits},
    }


def stream(answer, body):
    message = whole(answer)
    begun = {**message, "content": [], "stop_reason": None, "usage": {**message["usage"], "output_tokens": 1}}
    yield "message_start", {"type": "message_start", "message": begun}
    for index, block in enumerate(message["content"]):
        empty, deltas = _deltas(block)
        yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": empty}
        for delta in deltas:
            yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    more = {key: message[key] for key in ("usage", "context_management")}
    yield "message_delta", {"type": "message_delta", "delta": ended} | more
    yield "message_stop", {"type": "message_stop"}


def _deltas(block):
    """Returns a block as it begins, and what is sent of it after that."""
    if block["type"] == "text":
        return {**block, "text": ""}, [{"type": "text_delta", "text": block["text"]}]
    if block["type"] == "tool_use":
        return {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": json.dumps(block["input"])}]
    return {**block, "thinking": "", "signature": ""}, [
        {"type": "thinking_delta", "thinking": block["thinking"]},
        {"type": "signature_delta", "signature": block["signature"]},
    ]
