"""The status line that a client shows: `ctxgauge statusline`, beside the provider's truth."""

from claims.claim import ROUNDING, Seen, claims_of, same, settled
from claims.faces import CONFIGURATION, line_of, processes_of, set_up, shown_by_line, tokens_of, with_faces
from rig.run import Run

CLAIMS = []
claim = claims_of("status-lines.md", CLAIMS)

# A chained command may take 4 s, and the client asks for its line again at its own pace.
CHAINED_SECONDS = 12
HANGS = "sleep 97"


def piece(seed, characters=24000):
    """A step that reads a piece of a log, about 9,000 tokens."""
    return {"run": f"python3 lines.py {characters} {seed}"}


def shows(run, says, truth, name="one", within=ROUNDING):
    """Waits until the line shows the truth, and returns what it shows."""
    is_true = lambda used: used is not None and abs(used - truth) <= within
    return same(says, settled(lambda: shown_by_line(run, name), is_true), truth, within)


@claim("claude", "qwen", "copilot")
def each_turn(client, binary):
    with with_faces(client, binary) as run:
        run.open()
        for turn in range(3):
            last = run.ask(f"Read piece {turn}.", [piece(turn), {"say": "Read."}])
            yield shows(run, f"the line is the truth after turn {turn + 1}", last.after)
        errors = {call.errors.strip() for call in run.calls("statusline")} - {""}
        yield Seen("nothing is wrong, so nothing is on standard error", str(errors or "nothing"), not errors)


@claim("claude", "qwen", "copilot")
def cleared(client, binary):
    with with_faces(client, binary) as run:
        run.open()
        before = run.ask("Read a piece.", [piece(1), {"say": "Read."}])
        yield shows(run, "the line is the truth before /clear", before.after)
        run.enter("/clear")
        is_new = lambda line: line and (tokens_of(line[0]) or 0) < before.after - 1000
        line = settled(lambda: line_of(run.screen()), is_new, 40)
        yield Seen("after /clear the old size is gone", str(line), bool(is_new(line)))
        after = run.ask("Hello.", [{"say": "Hello."}])
        yield shows(run, "the line is the truth after /clear", after.after)


@claim("claude", "qwen", "copilot")
def resumed(client, binary):
    with with_faces(client, binary) as run:
        run.open()
        last = run.ask("Read a piece.", [piece(1), {"say": "Read."}])
        yield shows(run, "the line is the truth before the client ends", last.after)
        run.leave()
        run.open("two", resume=True)
        yield shows(run, "the line is the same after the session is resumed", last.after, "two")
        last = run.ask("Hello.", [{"say": "Hello."}], "two")
        yield shows(run, "the line is the truth in the resumed session", last.after, "two")


@claim("claude")
def rewound(client, binary):
    with with_faces(client, binary) as run:
        run.open()
        first = run.ask("Read a piece.", [piece(1), {"say": "Read."}])
        last = run.ask("Read another.", [piece(2), {"say": "Read."}])
        yield shows(run, "the line is the truth before a rewind", last.after)
        menu = ["Escape", "Escape", {"see": "Restore the code"}, "Up", "Enter", {"see": "Restore conversation"}, "Enter"]
        run.press(menu)
        yield shows(run, "the line is the size of the first turn, before any record", first.after)
        run.press(["C-u"])
        last = run.ask("Read something else.", [piece(3, 3000), {"say": "Read."}])
        yield shows(run, "the line is the truth after the next turn", last.after)


@claim("claude")
def switched_model(client, binary):
    with with_faces(client, binary) as run:
        run.open()
        last = run.ask("Read a piece.", [piece(1), {"say": "Read."}])
        yield shows(run, "the line is the truth before the switch", last.after)
        yield from _switched(run, last, client.long_model, 1_000_000)
        yield from _switched(run, last, client.model, 200_000)
        last = run.ask("Hello.", [{"say": "Hello."}])
        yield shows(run, "the line is the truth after the switch", last.after)


def _switched(run, last, model, window):
    run.enter(f"/model {model}")
    confirm = settled(lambda: run.screen(), lambda it: "Yes, switch" in it, 4)
    if "Yes, switch" in confirm:
        run.terminal.keys("one", "Enter")
    is_new = lambda line: line and tokens_of(line[3].removeprefix("window ")) == window
    line = settled(lambda: line_of(run.screen()), is_new)
    yield Seen(f"the window of {model} holds at once", str(line), bool(is_new(line)))
    share = last.after / tokens_of(line[2])
    shown = int(line[1].strip("~%"))
    yield Seen("its share is one of its own trigger", f"{shown}% for {share:.1%}", abs(shown - 100 * share) <= 1)


@claim("claude", "qwen")
def chained(client, binary):
    with _chaining(client, binary, "printf 'THEIRS\\n'") as run:
        run.open()
        run.ask("Hello.", [{"say": "Hello."}])
        screen = settled(run.screen, lambda it: "THEIRS" in it and line_of(it))
        yield Seen("with --chain both lines are shown", _present(screen), "THEIRS" in screen and bool(line_of(screen)))


@claim("claude", "qwen")
def chained_and_hangs(client, binary):
    with _chaining(client, binary, HANGS) as run:
        run.open()
        last = run.ask("Hello.", [{"say": "Hello."}])
        yield Seen("a chained command that hangs does not hold the client up", f"a turn ended at {last.prompt}", True)
        line = settled(lambda: line_of(run.screen()), bool, CHAINED_SECONDS)
        yield Seen("our line is shown without it", str(line), bool(line))
        run.leave()
        left = settled(lambda: processes_of(run, HANGS), lambda it: not it, CHAINED_SECONDS)
        yield Seen("nothing of it is left running", f"{len(left)} processes", not left)


def _chaining(client, binary, command):
    """A run whose client had another line, and then ours that runs it too."""
    run = Run(client, binary)
    run.configure_ctxgauge(CONFIGURATION)
    client.set_line(run.home, command)
    set_up(run, "--chain")
    return run


def _present(screen):
    return ", ".join(word for word in ("THEIRS", "GAUGE") if word in screen) or "neither"
