"""What hooks say and do in a client: `ctxgauge hook`, beside the provider's truth."""

import re
import subprocess
import sys
import time

from claims.claim import Seen, claims_of, settled
from claims.faces import CONFIGURATION, with_faces
from claims.status_line import piece

CLAIMS = []
claim = claims_of("hooks.md", CLAIMS)
ALL = ("claude", "codex", "copilot", "gemini", "qwen")

WARNED = re.compile(r"ctxgauge: context (~?)(\d+)% of ")
BUSY_PROCESSES = 12
CALLS = 60
# The client waits for a hook; more than this would be seen.
DELAY = 1.0


def warnings(run):
    """Returns the percentages that hooks warned of, and whether they are marked as estimates."""
    found = [WARNED.search(call.output) for call in run.calls("hook")]
    return [(int(one.group(2)), bool(one.group(1))) for one in found if one]


def filling(client, binary, more=""):
    """A run whose context passes the thresholds of 30 and 60 % of its trigger after three pieces, and after six."""
    run = with_faces(client, binary, client.small)
    run.configure_ctxgauge(CONFIGURATION + more)
    run.open()
    run.ask("Hello.", [{"say": "Hello."}])
    return run


@claim(*ALL)
def warns_once(client, binary):
    with filling(client, binary) as run:
        limits = run.report()
        trigger = limits["compaction"]["trigger"] or limits["context"]["window"]
        for turn in range(6):
            last = run.ask(f"Read piece {turn}.", [piece(turn), {"say": "Read."}])
            if last.after > 0.75 * trigger:
                break
        run.ask("Go on.", [{"say": "Yes."}])
        shown = settled(lambda: warnings(run), lambda it: len(it) >= 2, 5)
        shares = [100 * request.after / trigger for request in run.provider.of()]
        passed = [share for share in (30, 60) if shares[-1] >= share]
        yield Seen("a warning comes once for each threshold", f"{shown} at {_list(shares)}", len(shown) == len(passed))
        near = all(min(abs(share - one) for share in shares) <= (3 if estimated else 1) for one, estimated in shown)
        yield Seen("its share is the truth, or marked and near it", f"{shown} at {_list(shares)}", bool(shown) and near)
        yield Seen("the user sees it", _row(run), "ctxgauge: context" in _flat(run) or not client.shows_warnings)
        slow = [call.ended - call.began for call in run.calls("hook")]
        yield Seen("hooks do not delay", f"{len(slow)} calls, the longest {max(slow):.2f} s", max(slow) < DELAY)


@claim("claude", "codex", "gemini", "qwen")
def tells_the_model(client, binary):
    with filling(client, binary, "tell_model = true\n") as run:
        for turn in range(3):
            run.ask(f"Read piece {turn}.", [piece(turn), {"say": "Read."}])
        last = run.ask("Go on.", [{"say": "Yes."}])
        told = [part.text for part in last.parts if "ctxgauge: context" in part.text]
        outputs = sum("additionalContext" in call.output for call in run.calls("hook"))
        seen = f"{len(told)} parts, passed on {outputs} times, {len(warnings(run))} warnings"
        yield Seen("with tell_model the model gets it as a part of a prompt", seen, 0 < len(told) == outputs)
        named = any("lines.py" in text.split("ctxgauge: context")[1][:200] for text in told)
        yield Seen("it has no name of a file", "a name" if named else "none", bool(told) and not named)


@claim("claude", "codex", "gemini", "qwen")
def blocks_when_asked(client, binary):
    with filling(client, binary) as run:
        run.ask("Read a piece.", [piece(1), {"say": "Read."}])
        settings = client.hooks_file(run.home)
        text = settings.read_text()
        settings.write_text(text.replace("ctxgauge hook", "ctxgauge hook --block-at 10k"))
        run.leave()
        run.open("two", resume=True)
        before = len(run.provider.of())
        run.enter("LAB-MAIN Is it sent", "two")
        screen = settled(lambda: _flat(run, "two"), lambda it: "prompt was not sent" in it, 10)
        asked = len(run.provider.of()) - before
        yield Seen("with --block-at the prompt is not sent", f"{asked} requests", asked == 0)
        is_shown = "prompt was not sent" in screen
        yield Seen("the client shows why", "shown" if is_shown else "not shown", is_shown)


@claim("claude")
def under_load(client, binary):
    """The same event again and again, beside busy processes."""
    with filling(client, binary) as run:
        run.ask("Read a piece.", [piece(1), {"say": "Read."}])
        event = run.calls("hook")[-1].input
        call = lambda: run.ctxgauge("hook", input=event).stdout
        call()
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(BUSY_PROCESSES)]
        try:
            began = time.monotonic()
            outputs = [call() for _ in range(CALLS)]
            seconds = (time.monotonic() - began) / CALLS
        finally:
            for process in busy:
                process.kill()
                process.wait()
        outputs.append(call())
        missed = sum(int(count) for output in outputs for count in re.findall(r"(\d+) events? missed", output))
        text = f"{missed} of {CALLS} missed and said at the next, {seconds:.2f} s each"
        yield Seen("few events are missed beside twelve busy processes, and that is said", text, missed <= CALLS // 10)


def _list(shares):
    return ", ".join(dict.fromkeys(f"{share:.0f}%" for share in shares))


def _flat(run, name="one"):
    return re.sub(r"\s+", " ", run.screen(name))


def _row(run):
    rows = [row.strip()[:80] for row in run.screen().splitlines() if "ctxgauge: context" in row]
    return rows[0] if rows else "not on the screen"
