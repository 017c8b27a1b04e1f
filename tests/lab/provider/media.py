"""What pictures and documents cost, by the providers' published formulas."""

import base64
import re

from provider.prompt import data_of

# A page of a document is sent as a picture and as its text.
PAGE = 2000
UNREADABLE = 1500
# Claude: the longest side and the most tokens of a picture, before and since Opus 4.7.
CLAUDE, CLAUDE_LARGE = (1568, 1568), (2576, 4784)
LARGE_MODELS = re.compile(r"opus-4-[78]|-5")


def media_of(api, content, model=""):
    """Returns the tokens of all pictures and documents in a content."""
    blocks = content if isinstance(content, list) else [content]
    return sum(_tokens(api, block, model) for block in blocks if isinstance(block, dict) and data_of(block))


def _tokens(api, block, model):
    raw = base64.b64decode(data_of(block).split("base64,")[-1])
    if raw.startswith(b"%PDF"):
        return PAGE * max(1, len(re.findall(rb"/Type\s*/Page[^s]", raw)))
    size = size_of(raw)
    if size is None:
        return UNREADABLE
    url = block.get("image_url")
    detail = block.get("detail") or (url.get("detail") if isinstance(url, dict) else None)
    return picture(api, *size, model, detail)


def picture(api, width, height, model="", detail=None):
    """Returns the tokens of a picture of this size."""
    if api == "anthropic":
        side, most = CLAUDE_LARGE if LARGE_MODELS.search(model) else CLAUDE
        scale = min(1, side / max(width, height))
        width, height = max(1, round(width * scale)), max(1, round(height * scale))
        return min(_tiles(width, 28) * _tiles(height, 28), most)
    if api == "gemini":
        return 258 if max(width, height) <= 384 else 258 * _tiles(width, 768) * _tiles(height, 768)
    return min(_tiles(width, 32) * _tiles(height, 32), 10_000 if detail == "original" else 1536)


def size_of(raw):
    """Returns the width and the height of a PNG or a JPEG, or None."""
    if raw.startswith(b"\x89PNG\r\n\x1a\n"):
        return int.from_bytes(raw[16:20]), int.from_bytes(raw[20:24])
    at = 2
    while raw.startswith(b"\xff\xd8") and at + 9 < len(raw) and raw[at] == 0xFF:
        if raw[at + 1] in (0xC0, 0xC1, 0xC2):
            return int.from_bytes(raw[at + 7 : at + 9]), int.from_bytes(raw[at + 5 : at + 7])
        at += 2 + int.from_bytes(raw[at + 2 : at + 4])
    return None


def _tiles(length, side):
    return -(-length // side)
