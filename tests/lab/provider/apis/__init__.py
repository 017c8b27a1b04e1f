"""The APIs of models that clients speak: how each one's request is read, and its answer written.

An API is a module with `read(body, path)`, which returns a Prompt; `whole(answer)`, the answer as one object; and
`stream(answer, body)`, the same as events, each a name (or None) and its data. `INHERITS` is true where a sub-agent's
prompt may begin with its parent's.
"""

from provider.apis import anthropic, chat, gemini, responses


def api_of(path):
    """Returns the API that a path belongs to, or None."""
    if path.endswith("/messages"):
        return anthropic
    if path.endswith("/responses") or path.endswith("/responses/compact"):
        return responses
    if path.endswith("/chat/completions"):
        return chat
    if "generatecontent" in path.lower():
        return gemini
    return None
