"""One row for each provider and model, from all sources."""

import re
from dataclasses import dataclass, replace
from datetime import date, timedelta

from catalogues.entry import LIMITS, PRICES, Entry, Prices

# Makers, and how the names of their models begin.
MAKERS = {
    "alibaba": ("qwen", "qwq", "qvq"),
    "anthropic": ("claude",),
    "deepseek": ("deepseek",),
    "google": ("gemini", "gemma"),
    "minimax": ("minimax",),
    "mistral": ("codestral", "devstral", "labs", "magistral", "ministral", "mistral", "open-mi", "pixtral", "voxtral"),
    "moonshotai": ("kimi", "moonshot"),
    "openai": ("chatgpt", "codex", "computer-use", "daybreak", "gpt", "o1", "o3", "o4"),
    "xai": ("grok",),
    "zai": ("glm",),
}
OTHERS = (
    "openai-codex", "azure", "google-vertex", "amazon-bedrock", "openrouter", "github-copilot", "opencode", "opencode-go",
    "groq", "cerebras", "fireworks-ai", "togetherai", "kimi-coding", "moonshotai-cn", "zai-coding-plan", "zhipuai",
    "zhipuai-coding-plan", "alibaba-cn", "alibaba-coding-plan", "minimax-cn", "minimax-coding-plan", "vercel", "kilo",
)  # fmt: skip
KEPT = (*MAKERS, *OTHERS)
# Of limits, what an earlier one says goes before what a later one says. pi and Claude Code have windows of their own choice.
LIMITS_FROM = "cmlpa"
# What Bedrock puts before a name.
BEDROCK = re.compile(
    r"^(?:(?:us|eu|apac|au|jp|global)\.)?"
    r"(?:anthropic|openai|moonshotai|moonshot|qwen|zai|deepseek|minimax|mistral|xai|google)\."
)
AGE = timedelta(days=548)
YEAR = timedelta(days=365)
# A client's list without prices, and the maker whose they are.
PRICED_AS = {"openai-codex": "openai"}


@dataclass(frozen=True)
class Row:
    """A model at a provider: what all sources together say. `clients` has the windows that agents choose themselves."""

    provider: str
    model: str
    entry: Entry
    clients: dict
    marks: str


@dataclass(frozen=True)
class Difference:
    """A number of which sources say different things, each by its mark."""

    row: Row
    what: str
    said: dict

    def __str__(self):
        said = ", ".join(f"{mark} {value}" for mark, value in self.said.items())
        return f"{self.row.provider} {self.row.model}: {self.what}: {said}"


def gathered(catalogues):
    """Returns what each source says, by provider and model. `catalogues` are entries by the marks of sources, in order."""
    found = {}
    for mark, entries in catalogues.items():
        for (provider, model), entry in entries.items():
            if provider in KEPT:
                found.setdefault((provider, model), {})[mark] = entry
    return found


def merged(provider, model, said):
    """Returns the row of a model, from what sources say of it by their marks."""
    order = sorted(said, key=LIMITS_FROM.index)
    limits = {name: _first(getattr(said[mark], name) for mark in order) for name in LIMITS}
    own = {one.client: one.window for one in said.values() if one.client and one.window}
    prices, long = _prices(list(said.values()))
    entry = Entry(
        **limits,
        prices=prices,
        long=long,
        modes={name: by for mark in reversed(order) for name, by in said[mark].modes.items()},
        date=_first(one.date for one in said.values()) or _date_of(model),
        ends=_first(one.ends for one in said.values()) or "",
        why_not="" if any(not one.why_not for one in said.values()) else _first(one.why_not for one in said.values()),
    )
    clients = {client: window for client, window in sorted(own.items()) if window != limits["window"]}
    return Row(provider, model, entry, clients, "".join(said))


def differences(row, said):
    """Returns of which numbers sources say different things."""
    values = {name: {m: getattr(e, name) for m, e in said.items() if name != "window" or not e.client} for name in LIMITS}
    values |= {f"{name} price": {m: getattr(e.prices, name) for m, e in said.items()} for name in PRICES}
    values["dearer above"] = {m: " ".join(map(str, e.long)) or None for m, e in said.items() if e.prices}
    values |= {name: {m: e.modes.get(name) for m, e in said.items()} for name in row.entry.modes}
    # LiteLLM has the largest input as the window of some.
    values["window"] = {m: w for m, w in values["window"].items() if w != row.entry.input}
    for what, by_mark in values.items():
        known = {mark: value for mark, value in by_mark.items() if value is not None}
        if len(set(known.values())) > 1:
            yield Difference(row, what, known)


def priced(rows):
    """Returns the rows, those of a client's list with the prices of the maker."""
    by_name = {(row.provider, row.model): row.entry for row in rows}
    return [_priced(row, by_name.get((PRICED_AS.get(row.provider), row.model))) for row in rows]


def _priced(row, maker):
    if not maker:
        return row
    entry = replace(row.entry, modes=maker.modes | row.entry.modes)
    if not entry.prices:
        entry = replace(entry, prices=maker.prices, long=maker.long)
    return replace(row, entry=entry)


def reduced(rows):
    """Returns the rows that are kept, and the others with the reason of each: as `table.py` writes at the head."""
    dates = release_dates(rows)
    newest = max(dates.values(), default="")
    makers = {key(row.model): row for row in sorted(rows, key=lambda row: row.model, reverse=True) if is_own(row)}
    names = {(row.provider, row.model): row for row in rows}
    kept, left = [], []
    for row in rows:
        why = row.entry.why_not or _why_left(row, dates, newest, names, makers)
        if why:
            left.append((row, why))
        else:
            kept.append(row)
    return kept, left


def release_dates(rows):
    """Returns the first date of each model, by its key."""
    dates = {}
    for row in rows:
        if row.entry.date:
            known = dates.get(key(row.model), row.entry.date)
            dates[key(row.model)] = min(known, row.entry.date)
    return dates


def is_own(row):
    """Returns whether the provider of a row is the maker of the model."""
    return key(row.model).startswith(MAKERS.get(row.provider, "-"))


def is_recent(row, dates):
    """Returns whether a model is from the last year, or has no date."""
    own = dates.get(key(row.model))
    return not own or own > _before(max(dates.values()), YEAR)


def key(model):
    """Returns what is the same in all names of a model: without the maker, a region, a version of Bedrock's and a date."""
    name = model.lower().rsplit("/", 1)[-1].replace("@default", "")
    name = re.sub(BEDROCK, "", name)
    name = re.sub(r"-v\d+(?::\d+)?$", "", name)
    return undated(name).replace(".", "-")


def _date_of(model):
    """Returns the date in a model's name, or nothing."""
    found = re.search(r"[-@](20\d\d)-?(\d\d)-?(\d\d)$", model)
    return "-".join(found.groups()) if found else ""


def undated(name):
    """Returns a model's name without a date at its end."""
    return re.sub(r"[-@](?:20\d{6}|20\d\d-\d\d-\d\d)$", "", name)


def _why_left(row, dates, newest, names, makers):
    own = dates.get(key(row.model))
    if own and own < _before(newest, AGE):
        return "old"
    if not row.entry.window:
        return "without a window"
    if row.marks == "l" and row.entry.ends and row.entry.ends < _before(newest, YEAR):
        return "retired"
    if row.provider not in MAKERS and row.marks == "l":
        return "in LiteLLM's list alone"
    short = names.get((row.provider, undated(row.model)))
    if short and short is not row and is_within(row, short):
        return "as the name without its date"
    maker = makers.get(key(row.model))
    if maker and not is_own(row) and is_within(row, maker):
        return "as its maker's"
    return ""


def is_within(row, other):
    """Returns whether another row has all numbers of a row."""
    mine, its = row.entry, other.entry
    limits = all(getattr(mine, name) in (None, getattr(its, name)) for name in ("input", "output"))
    window = mine.window in (its.window, its.input)
    long = mine.long.keys() == its.long.keys() and all(mine.long[above].within(its.long[above]) for above in mine.long)
    modes = all(its.modes.get(name) == by for name, by in mine.modes.items())
    clients = row.clients.items() <= other.clients.items()
    return limits and window and mine.prices.within(its.prices) and long and modes and clients


def _prices(entries):
    """Returns the prices of the first entry that has some, and those of long prompts. What it does not say is taken from
    others with the same prices of input and output."""
    entries = [one for one in entries if one.prices]
    if not entries:
        return Prices(), {}
    prices, long = entries[0].prices, dict(entries[0].long)
    for other in entries[1:]:
        if (other.prices.input, other.prices.output) == (prices.input, prices.output):
            prices = prices.or_else(other.prices)
            for above, more in (long or other.long).items():
                long[above] = more.or_else(other.long.get(above, more))
    return prices, long


def _first(values):
    return next((value for value in values if value), None)


def _before(day, span):
    return str(date.fromisoformat(f"{day}-01"[:10]) - span)
