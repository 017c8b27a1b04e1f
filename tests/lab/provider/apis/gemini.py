"""Google's generateContent API."""

from provider.media import media_of
from provider.prompt import FRAME, Part, Prompt, Tool, flat, text_of

NAME = "gemini"
INHERITS = False


def read(body, path):
    parts = [Part("system", text_of((body.get("systemInstruction") or {}).get("parts") or ""))]
    tools = []
    for group in body.get("tools") or []:
        for tool in group.get("functionDeclarations") or []:
            schema = tool.get("parametersJsonSchema") or tool.get("parameters") or {}
            tools.append(Tool(tool["name"], schema))
            parts.append(Part("schema", flat(tool), tool=tool["name"]))
    for content in body.get("contents") or []:
        for part in content.get("parts") or []:
            parts.append(_part(part, content.get("role")))
        if content.get("parts"):
            parts[-1].tokens += FRAME
    model = path.split("models/")[-1].split(":")[0]
    return Prompt(model, parts, tools, "streamGenerateContent" in path)


def _part(part, role):
    if call := part.get("functionCall"):
        return Part("assistant", call["name"] + flat(call.get("args")), call["name"], call.get("id"))
    if result := part.get("functionResponse"):
        return Part("tool", flat(result.get("response")), result["name"], result.get("id"))
    if media := media_of(NAME, part):
        return Part("user", "", media=media)
    return Part("assistant" if role == "model" else "user", part.get("text") or flat(part))


def whole(answer):
    parts = [{"text": answer.text or "ok"}] if answer.text or not answer.calls else []
    parts += [{"functionCall": {"name": call.name, "args": call.arguments}} for call in answer.calls]
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": answer.prompt,
            "cachedContentTokenCount": answer.cached,
            "candidatesTokenCount": answer.output - answer.reasoned,
            "thoughtsTokenCount": answer.reasoned,
            "totalTokenCount": answer.prompt + answer.output,
        },
        "modelVersion": answer.model,
    }


def stream(answer, body):
    yield None, whole(answer)
