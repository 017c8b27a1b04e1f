"""What a request contains and what is answered, in the same words for each API."""

import json
import uuid
from dataclasses import dataclass, field, replace

from provider.tokens import count

# What a provider adds to each message beside its text.
FRAME = 4


@dataclass
class Part:
    """A piece of a prompt: its role is system, schema, user, assistant, tool, reminder or summary.

    `media` are the tokens of pictures and documents in it; `tokens` has them too.
    """

    role: str
    text: str
    tool: str | None = None
    call: str | None = None
    tokens: int = -1
    media: int = 0

    def __post_init__(self):
        if self.tokens < 0:
            self.tokens = count(self.text) + self.media


@dataclass
class Tool:
    """A tool that the client has declared. `kind` and `space` are of the Responses API."""

    name: str
    schema: dict
    kind: str = "function"
    space: str | None = None


@dataclass
class Prompt:
    """A request to the model."""

    model: str
    parts: list[Part]
    tools: list[Tool]
    stream: bool
    # Whether the client forbids calls of tools, as some do in a request for a summary.
    no_calls: bool = False
    # The seconds for which the client has its prompt cached; None: the provider decides, and here it is for good.
    cache_life: int | None = None
    # The results that the client has the provider leave out, and their tokens. They are in none of the parts.
    cleared: tuple = (0, 0)

    @property
    def tokens(self):
        return sum(part.tokens for part in self.parts)

    def counted(self, times):
        """Returns the same prompt, in which so many tokens are counted for each."""
        parts = [replace(part, tokens=part.tokens * times, media=part.media * times) for part in self.parts]
        results, tokens = self.cleared
        return replace(self, parts=parts, cleared=(results, tokens * times))

    def tool(self, name):
        return next((tool for tool in self.tools if tool.name == name), None)


@dataclass
class Call:
    """A call of a tool in an answer."""

    name: str
    arguments: dict
    tool: Tool | None = None
    id: str = field(default_factory=lambda: "call_" + uuid.uuid4().hex[:20])


@dataclass
class Answer:
    """An answer, and the usage that it reports."""

    model: str
    text: str
    calls: list[Call]
    prompt: int
    cached: int
    thinking: int = 0
    cache_life: int | None = None
    cleared: tuple = (0, 0)
    # How many tokens are counted for each; `thinking` is without it.
    times: int = 1

    @property
    def output(self):
        calls = sum(count(call.name + flat(call.arguments)) + 8 for call in self.calls)
        return (calls + count(self.text) + self.thinking + 3) * self.times

    @property
    def reasoned(self):
        """Returns the tokens of reasoning that are reported."""
        return self.thinking * self.times


def flat(value):
    """Returns a text as it is, and anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def text_of(content):
    """Returns the text of any content: a text, a block, or a list of them. Pictures and documents have none."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return "" if data_of(content) else content.get("text") or content.get("output") or flat(content)
    return "\n".join(text_of(block) for block in content)


def data_of(block):
    """Returns the base64 of a picture or a document, in a block of any API, or None."""
    kind, source, inline = block.get("type"), block.get("source"), block.get("inlineData")
    if kind in ("image", "document") and isinstance(source, dict):
        return source.get("data")
    if kind in ("image_url", "input_image"):
        url = block.get("image_url")
        return url.get("url") if isinstance(url, dict) else url
    if kind in ("file", "input_file"):
        return (block.get("file") or block).get("file_data")
    return inline.get("data") if isinstance(inline, dict) else None


def blocks_of(content):
    """Returns the blocks of a message, of which there is always one."""
    return content if isinstance(content, list) and content else [content]


def fresh(prefix):
    """Returns an id that no other object has."""
    return prefix + uuid.uuid4().hex[:20]
