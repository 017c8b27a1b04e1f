"""Counts of tokens: o200k, with the vocabulary that the crate tiktoken-rs contains, so that nothing is downloaded."""

import base64
import functools
import os
import re
from pathlib import Path

import tiktoken

LETTERS = r"\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}"
SMALL = r"\p{Ll}\p{Lm}\p{Lo}\p{M}"
ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
# How o200k divides a text before it merges: published with the vocabulary.
PIECES = "|".join([
    rf"[^\r\n\p{{L}}\p{{N}}]?[{LETTERS}]*[{SMALL}]+{ENDINGS}",
    rf"[^\r\n\p{{L}}\p{{N}}]?[{LETTERS}]+[{SMALL}]*{ENDINGS}",
    r"\p{N}{1,3}",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"\s*[\r\n]+",
    r"\s+(?!\S)",
    r"\s+",
])

# Reasoning is opaque to clients: 4.95 bytes stand for a token, as real providers send it.
REASONING_BYTES = 4.95
OPAQUE = re.compile(r"R(\d+):")


@functools.cache
def vocabulary():
    """Loads o200k from the registry of cargo. Raises FileNotFoundError where ctxgauge was never built."""
    cargo = Path(os.environ.get("CARGO_HOME") or Path.home() / ".cargo")
    files = sorted(cargo.glob("registry/src/*/tiktoken-rs-*/assets/o200k_base.tiktoken"))
    if not files:
        raise FileNotFoundError(f"no o200k_base.tiktoken below {cargo}: build ctxgauge once, or set CARGO_HOME")
    lines = (line.split() for line in files[-1].read_bytes().splitlines() if line)
    return tiktoken.Encoding(
        "o200k_base",
        pat_str=PIECES,
        mergeable_ranks={base64.b64decode(token): int(rank) for token, rank in lines},
        special_tokens={"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
    )


def count(text):
    """Returns the tokens of a text."""
    return len(vocabulary().encode(text, disallowed_special=())) if text else 0


def reasoning(tokens):
    """Returns an opaque text that stands for this many tokens of reasoning; `reasoning_tokens` reads it."""
    raw = os.urandom(int(tokens * REASONING_BYTES * 3 / 4))
    return f"R{tokens}:" + base64.b64encode(raw).decode()


def is_reasoning(text):
    return bool(OPAQUE.match(text))


def reasoning_tokens(text):
    """Returns the tokens that an opaque text stands for."""
    found = OPAQUE.match(text or "")
    return int(found.group(1)) if found else count(text or "")
