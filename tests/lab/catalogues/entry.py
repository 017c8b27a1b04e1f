"""What is known of a model at a provider."""

from dataclasses import dataclass, field, replace

PRICES = ("input", "output", "read", "write", "hour")
LIMITS = ("window", "input", "output")


@dataclass(frozen=True)
class Prices:
    """US dollars for a million tokens: of input, of output, and of input that is read from a cache, written to it, or written
    to it for an hour. None: not known."""

    input: float | None = None
    output: float | None = None
    read: float | None = None
    write: float | None = None
    hour: float | None = None

    def __bool__(self):
        return self.input is not None and self.output is not None

    def within(self, other):
        """Returns whether another has all prices that this one has."""
        return all(getattr(self, name) in (None, getattr(other, name)) for name in PRICES)

    def or_else(self, other):
        """Returns these prices, with those of another where there are none."""
        own = {name: getattr(self, name) for name in PRICES}
        return replace(other, **{name: price for name, price in own.items() if price is not None})


@dataclass(frozen=True)
class Entry:
    """A model at a provider. `long` has the prices of prompts of more tokens than its keys, `modes` by what a tier or a speed
    multiplies prices. `client` is the agent whose own choice the window is. `date` is the day of its release, `ends` that
    of its retirement. `why_not` says why it is not for agents."""

    window: int | None = None
    input: int | None = None
    output: int | None = None
    prices: Prices = Prices()
    long: dict = field(default_factory=dict)
    modes: dict = field(default_factory=dict)
    client: str = ""
    date: str = ""
    ends: str = ""
    why_not: str = ""


def prices(input=None, output=None, read=None, write=None, hour=None, per=1):
    """Returns prices. Lists have 0 for a cache price that they do not know; where all is free it is a price."""
    known = {"input": input, "output": output, "read": read, "write": write, "hour": hour}
    for name in ("read", "write", "hour"):
        if input and not known[name]:
            known[name] = None
    return Prices(**{name: None if price is None else rounded(price * per) for name, price in known.items()})


def rounded(number):
    """Returns a number without the errors of a float's last digits."""
    return float(f"{number:.6g}")


def factor(usual, other):
    """Returns by what other prices are higher, where that is the same for input and output, else None."""
    if not (usual and other and usual.input and usual.output):
        return None
    ratios = {round(getattr(other, name) / getattr(usual, name), 4) for name in ("input", "output")}
    return ratios.pop() if len(ratios) == 1 else None
