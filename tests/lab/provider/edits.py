"""What a client has the Messages API leave out of a prompt: the results of old calls."""

CLEAR = "clear_tool_uses_20250919"
STAND_IN = "[Old tool result content cleared]"


def cleared(body):
    """Returns a request without the results that its edits clear, and how many these are.

    An edit clears all results but the newest `keep`, where there are more than `trigger`. Results of tools in
    `exclude_tools` stay, and do not count.
    """
    edits = (body.get("context_management") or {}).get("edits") or []
    old = {call for edit in edits if edit.get("type") == CLEAR for call in _old(body, edit)}
    messages = [message | {"content": _without(message["content"], old)} for message in body["messages"]]
    return body | {"messages": messages}, len(old)


def _old(body, edit):
    """Returns the ids of the calls whose results an edit clears."""
    contents = [message["content"] for message in body["messages"] if isinstance(message["content"], list)]
    blocks = [block for content in contents for block in content]
    names = {block["id"]: block["name"] for block in blocks if block.get("type") == "tool_use"}
    calls = [block["tool_use_id"] for block in blocks if block.get("type") == "tool_result"]
    calls = [call for call in calls if names.get(call) not in (edit.get("exclude_tools") or [])]
    if len(calls) <= edit["trigger"]["value"]:
        return []
    return calls[: max(0, len(calls) - edit["keep"]["value"])]


def _without(content, old):
    if not isinstance(content, list):
        return content
    return [block | {"content": STAND_IN} if block.get("tool_use_id") in old else block for block in content]
