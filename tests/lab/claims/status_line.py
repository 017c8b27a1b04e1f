"""The status line that a client shows: `ctxgauge statusline`, beside the provider's truth."""

import re

from claims.claim import ROUNDING, Seen, claims_of, same, settled
from rig.run import Run

CLAIMS = []
claim = claims_of("status-lines.md", CLAIMS)

# A format with all numbers that the claims look at; `|` ends each.
FORMAT = '[statusline]\nformat = "GAUGE {used}|{share}|{trigger}|{window}|{model}|"\n'


def piece(seed, characters=24000):
    """A step that reads a piece of a log, about 9,000 tokens."""
    return {"run": f"python3 lines.py {characters} {seed}"}


def line_of(screen):
    """Returns the values of our line on a screen, or None."""
    found = re.findall(r"GAUGE ([^\n]*)", screen)
    return found[-1].split("|") if found else None


def tokens_of(text):
    """Returns the number that a text such as `~82.4k` or `1.2M` stands for, or None."""
    found = re.search(r"(\d+(?:\.\d+)?)(k|M)?", text or "")
    if not found:
        return None
    return round(float(found.group(1)) * {"k": 1000, "M": 1000000}.get(found.group(2), 1))


def used_on(run, name="one"):
    """Returns the size of the context that the client's line shows."""
    line = line_of(run.screen(name))
    return tokens_of(line[0]) if line else None


def shows(run, says, truth, name="one", within=ROUNDING):
    """Waits until the line shows the truth, and returns what it shows."""
    return same(says, settled(lambda: used_on(run, name), lambda it: it is not None and abs(it - truth) <= within), truth, within)


def with_line(client, binary, **options):
    """Returns a run whose client has our line, by `ctxgauge setup`."""
    run = Run(client, binary, **options)
    run.configure_ctxgauge(FORMAT)
    done = run.ctxgauge("setup", client.agent, "--by-name", "--write")
    if done.returncode:
        raise RuntimeError(done.stderr)
    return run


@claim("claude")
def line_each_turn(client, binary):
    with with_line(client, binary) as run:
        run.open()
        for turn in range(3):
            last = run.ask(f"Read piece {turn}.", [piece(turn), {"say": "Read."}])
            yield shows(run, f"the line is the truth after turn {turn + 1}", last.after)
