"""OpenAI's Responses API."""

import json
import time

from provider.media import media_of
from provider.prompt import FRAME, Part, Prompt, Tool, blocks_of, flat, fresh, text_of
from provider.tokens import reasoning, reasoning_tokens

NAME = "responses"
# A sub-agent may go on with its parent's conversation.
INHERITS = True
# Newer models of Codex call their shell from a script.
SCRIPT = 'const it = await tools.exec_command({cmd: %s}); text(typeof it === "string" ? it : it.output ?? "");'
# An item that asks for a summary, which is an opaque item too.
TRIGGER = "compaction_trigger"
SUMMARY_TOKENS = 300
CALLS = ("function_call", "custom_tool_call", "local_shell_call")


def read(body, path):
    parts = [Part("system", body.get("instructions") or "")]
    declared = list(body.get("tools") or [])
    parts += [Part("schema", flat(tool), tool=tool.get("name") or tool.get("type")) for tool in declared]
    items = body["input"]
    if not isinstance(items, list):
        items = [{"type": "message", "role": "user", "content": items}]
    names, last_prompt = {}, max((at for at, item in enumerate(items) if item.get("role") == "user"), default=0)
    for at, item in enumerate(items):
        # The provider leaves out the reasoning of earlier turns.
        parts += [] if item.get("type") == "reasoning" and at < last_prompt else _parts(item, names)
        if item.get("type") in ("tool_search_output", "additional_tools"):
            declared += item.get("tools") or []
    no_calls = body.get("tool_choice") == "none" or _is_for_compaction(body)
    return Prompt(body.get("model") or "", parts, _tools(declared), bool(body.get("stream")), no_calls)


def _is_for_compaction(body):
    """Returns whether a summary is asked for by an item of its own, as Codex does of OpenAI's provider."""
    items = body["input"] if isinstance(body["input"], list) else []
    return any(item.get("type") == TRIGGER for item in items)


def _parts(item, names):
    kind, call = item.get("type", "message"), item.get("call_id")
    if kind == "message":
        role = "system" if item["role"] == "developer" else item["role"]
        blocks = blocks_of(item["content"])
        parts = [Part(role, text_of([block]), media=media_of(NAME, block)) for block in blocks]
        parts[0].tokens += FRAME
        return parts
    if kind == "agent_message":  # What one agent says to another: its text may be encrypted.
        texts = [block.get("text") or block.get("encrypted_content") or "" for block in item.get("content") or []]
        message = Part("user", "".join(texts))
        message.tokens += FRAME
        return [message]
    if kind == "reasoning":
        return [Part("assistant", "", tokens=reasoning_tokens(item.get("encrypted_content")))]
    if kind in ("compaction", "compaction_summary"):
        return [Part("summary", "", tokens=reasoning_tokens(item.get("encrypted_content")))]
    if kind in CALLS:
        name = names[call] = item.get("name") or kind
        given = item.get("arguments") or item.get("input") or item.get("action")
        return [Part("assistant", (item.get("name") or "") + flat(given), name, call)]
    if kind == "tool_search_call":
        return [Part("assistant", flat(item.get("arguments")), "tool_search", call)]
    if kind == "tool_search_output":
        return [Part("schema", flat(item.get("tools")), "tool_search", call)]
    if kind == "additional_tools":
        return [Part("schema", flat(tool), tool=tool.get("name")) for tool in item.get("tools") or []]
    if kind.endswith("_output"):
        output = item.get("output")
        result = Part("tool", text_of(output), names.get(call), call, media=media_of(NAME, output))
        result.tokens += FRAME
        return [result]
    return [] if kind == TRIGGER else [Part("system", flat(item))]


def _tools(declared):
    tools = []
    for tool in declared:
        space = tool["name"] if tool.get("type") == "namespace" else None
        tools += [_tool(one, space) for one in (tool["tools"] if space else [tool])]
    return tools


def _tool(tool, space):
    kind = tool.get("type") or "function"
    return Tool(tool.get("name") or kind, tool.get("parameters") or {}, kind, space)


def whole(answer):
    items = []
    if answer.thinking:
        items.append({
            "type": "reasoning",
            "id": fresh("rs_"),
            "summary": [],
            "encrypted_content": reasoning(answer.thinking),
        })
    if answer.text or not answer.calls:
        content = [{"type": "output_text", "text": answer.text or "ok", "annotations": []}]
        message = {"type": "message", "id": fresh("msg_"), "role": "assistant", "status": "completed"}
        items.append({**message, "content": content})
    items += [_call(call) for call in answer.calls]
    return {
        "id": fresh("resp_"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "completed",
        "model": answer.model,
        "output": items,
        "usage": {
            "input_tokens": answer.prompt,
            "input_tokens_details": {"cached_tokens": answer.cached},
            "output_tokens": answer.output,
            "output_tokens_details": {"reasoning_tokens": answer.reasoned},
            "total_tokens": answer.prompt + answer.output,
        },
    }


def _call(call):
    shared = {"call_id": call.id, "status": "completed"}
    if call.name == "tool_search":
        return {"type": "tool_search_call", "id": fresh("tsc_"), "execution": "client",
                "arguments": call.arguments, **shared}
    if call.tool and call.tool.kind == "custom":
        text = call.arguments.get("command") or call.arguments.get("cmd") or ""
        text = SCRIPT % json.dumps(text) if call.name == "exec" else text
        return {"type": "custom_tool_call", "id": fresh("ctc_"), "name": call.name, "input": text, **shared}
    space = {"namespace": call.tool.space} if call.tool and call.tool.space not in (None, "functions") else {}
    arguments = json.dumps(call.arguments)
    return {"type": "function_call", "id": fresh("fc_"), "name": call.name, "arguments": arguments, **space, **shared}


def compacted(prompt, cached, summary_tokens=SUMMARY_TOKENS):
    """Returns the answer of `/responses/compact`: the messages of the user, and an opaque summary."""
    users = [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": part.text}]}
             for part in prompt.parts if part.role == "user"]
    usage = {
        "input_tokens": prompt.tokens,
        "input_tokens_details": {"cached_tokens": cached},
        "output_tokens": summary_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt.tokens + summary_tokens,
    }
    summary = {"type": "compaction", "encrypted_content": reasoning(summary_tokens)}
    return {"id": fresh("resp_"), "object": "response.compaction", "output": [*users, summary], "usage": usage}


def stream(answer, body):
    response = whole(answer)
    if _is_for_compaction(body):
        response["output"] = [{"type": "compaction", "id": fresh("cmp_"), "encrypted_content": reasoning(SUMMARY_TOKENS)}]
    begun = {**response, "status": "in_progress", "output": [], "usage": None}
    yield "response.created", {"type": "response.created", "response": begun}
    for index, item in enumerate(response["output"]):
        at = {"output_index": index}
        yield "response.output_item.added", {"type": "response.output_item.added", **at, "item": item}
        if item["type"] == "message":
            kind, text = "response.output_text.delta", item["content"][0]["text"]
            yield kind, {"type": kind, "item_id": item["id"], **at, "content_index": 0, "delta": text}
        yield "response.output_item.done", {"type": "response.output_item.done", **at, "item": item}
    yield "response.completed", {"type": "response.completed", "response": response}
