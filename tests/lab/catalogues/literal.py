"""Reads the literals of a program in JavaScript: objects, lists, texts, numbers."""

import json
import re

TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)
    |(?P<number>-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)
    |(?P<word>![01]|void\ 0|[\w$]+)
    |(?P<sign>[][{}:,])
    )""",
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)
WORDS = {"!0": True, "!1": False, "true": True, "false": False, "null": None, "void 0": None, "undefined": None}


def read(text, at):
    """Returns the literal at a place of a text. Raises ValueError where there is none."""
    return _value(text, *_token(text, at))[0]


def _value(text, kind, token, at):
    if kind == "text":
        return _unquoted(token), at
    if kind == "number":
        return json.loads(_number(token)), at
    if kind == "word" and token in WORDS:
        return WORDS[token], at
    if token == "[":
        return _list(text, at)
    if token == "{":
        return _object(text, at)
    raise ValueError(f"no literal: {text[at - len(token) : at + 40]!r}")


def _list(text, at):
    values = []
    while True:
        kind, token, at = _token(text, at)
        if token == "]" and kind == "sign":
            return values, at
        if token == "," and kind == "sign":
            continue
        value, at = _value(text, kind, token, at)
        values.append(value)


def _object(text, at):
    values = {}
    while True:
        kind, token, at = _token(text, at)
        if token == "}" and kind == "sign":
            return values, at
        if token == "," and kind == "sign":
            continue
        key = _unquoted(token) if kind == "text" else token
        _, colon, at = _token(text, at)
        if colon != ":":
            raise ValueError(f"no literal: {text[at - 40 : at]!r}")
        values[key], at = _value(text, *_token(text, at))


def _token(text, at):
    found = TOKEN.match(text, at)
    if not found:
        raise ValueError(f"no literal: {text[at : at + 40]!r}")
    return found.lastgroup, found.group(found.lastgroup), found.end()


def _number(token):
    """Returns a number as JSON has it: 0.5 for .5, 1.0 for 1."""
    whole = re.sub(r"^(-?)\.", r"\g<1>0.", token)
    return re.sub(r"\.(?=e|$)", "", whole)


def _unquoted(token):
    plain = {"n": "\n", "t": "\t", "r": "\r"}
    code = r"\\(?:u\{([0-9a-fA-F]+)\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))"

    def one(found):
        digits = found[1] or found[2] or found[3]
        return chr(int(digits, 16)) if digits else plain.get(found[4], found[4])

    return re.sub(code, one, token[1:-1], flags=re.DOTALL)
