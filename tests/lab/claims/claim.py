"""A claim of a page, and what was seen of it in a client."""

import time
from dataclasses import dataclass
from typing import Callable

# How far a number that is printed in thousands, such as 82.4k, may be from the one that it stands for.
ROUNDING = 50


@dataclass
class Seen:
    """One row of the table: what the page says, what was seen, and whether they agree."""

    says: str
    seen: str
    right: bool


@dataclass
class Row:
    """What was seen, of which page, in which version of which client."""

    page: str
    says: str
    client: str
    version: str
    seen: str
    right: bool


@dataclass
class Claim:
    """A group of claims that one session can show. `look(client, binary)` yields what was seen."""

    name: str
    page: str
    clients: tuple
    look: Callable

    def rows(self, client, binary):
        """Looks, and returns the rows. What could not be looked at is wrong."""
        version, rows = client.version() or "-", []
        try:
            for seen in self.look(client, binary):
                rows.append(Row(self.page, seen.says, client.name, version, seen.seen, seen.right))
        except Exception as error:  # A client of tomorrow may fail in any way: that is a row too.
            text = f"could not be looked at: {type(error).__name__}: {error}".replace("\n", " ")[:300]
            rows.append(Row(self.page, self.name, client.name, version, text, False))
        return rows


def claims_of(page, claims):
    """Returns a decorator that enters a function into a list, as a claim of a page about these clients."""

    def about(*clients):
        def enter(look):
            claims.append(Claim(look.__name__, page, clients, look))
            return look

        return enter

    return about


def same(says, ours, truth, within=0):
    """Compares a number of ours with the truth, both in tokens."""
    right = ours is not None and abs(ours - truth) <= within
    return Seen(says, f"{ours} for {truth}", right)


def settled(value, holds, seconds=20):
    """Returns a value as soon as it holds, or its last state after so many seconds."""
    end = time.monotonic() + seconds
    while not holds(now := value()) and time.monotonic() < end:
        time.sleep(0.3)
    return now
