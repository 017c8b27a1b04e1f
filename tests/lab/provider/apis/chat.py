"""OpenAI's Chat Completions API."""

import json
import time

from provider.media import media_of
from provider.prompt import FRAME, Part, Prompt, Tool, blocks_of, flat, fresh, text_of

NAME = "chat"
INHERITS = False


def read(body, path):
    declared = [tool.get("function") or tool for tool in body.get("tools") or []]
    parts = [Part("schema", flat(tool), tool=tool.get("name")) for tool in declared]
    names = {}
    for message in body["messages"]:
        parts += _parts(message, names)
    tools = [Tool(tool.get("name"), tool.get("parameters") or {}) for tool in declared]
    no_calls = body.get("tool_choice") == "none"
    return Prompt(body.get("model") or "", parts, tools, bool(body.get("stream")), no_calls)


def _parts(message, names):
    role, content = message["role"], message.get("content")
    if role == "tool":
        call = message.get("tool_call_id")
        result = Part("tool", text_of(content), names.get(call), call, media=media_of(NAME, content))
        result.tokens += FRAME
        return [result]
    role = "system" if role == "developer" else role
    parts = [Part(role, text_of([block]), media=media_of(NAME, block)) for block in blocks_of(content)]
    parts[0].tokens += FRAME
    if message.get("reasoning_content"):
        parts.append(Part("assistant", message["reasoning_content"]))
    for call in message.get("tool_calls") or []:
        name = names[call["id"]] = call["function"]["name"]
        parts.append(Part("assistant", name + call["function"]["arguments"], name, call["id"]))
    return parts


def _usage(answer):
    return {
        "prompt_tokens": answer.prompt,
        "completion_tokens": answer.output,
        "total_tokens": answer.prompt + answer.output,
        "prompt_tokens_details": {"cached_tokens": answer.cached},
        "completion_tokens_details": {"reasoning_tokens": answer.reasoned},
    }


def _calls(answer):
    return [
        {
            "index": index,
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for index, call in enumerate(answer.calls)
    ]


def whole(answer):
    content = answer.text or (None if answer.calls else "ok")
    message = {"role": "assistant", "content": content}
    if answer.calls:
        message["tool_calls"] = _calls(answer)
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls" if answer.calls else "stop"}
    return {
        "id": fresh("chatcmpl-"),
        "object": "chat.completion",
        "created": int(time.time()),
        "model": answer.model,
        "choices": [choice],
        "usage": _usage(answer),
    }


def stream(answer, body):
    head = {
        "id": fresh("chatcmpl-"),
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": answer.model,
    }

    def chunk(delta, finish=None):
        return None, {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield chunk({"role": "assistant", "content": answer.text or ("" if answer.calls else "ok")})
    if answer.calls:
        yield chunk({"tool_calls": _calls(answer)})
    yield chunk({}, "tool_calls" if answer.calls else "stop")
    if (body.get("stream_options") or {}).get("include_usage"):
        yield None, {**head, "choices": [], "usage": _usage(answer)}
    yield None, "[DONE]"
