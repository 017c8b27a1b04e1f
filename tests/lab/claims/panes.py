"""Which session `ctxgauge status` shows in a pane of tmux, and how it says that it found it."""

from claims.claim import ROUNDING, Seen, claims_of, same, settled
from claims.faces import FORMAT, line_of, tokens_of
from claims.status_line import piece
from rig.run import Run

CLAIMS = []
claim = claims_of("status-lines.md", CLAIMS)
ALL = ("claude", "codex", "copilot", "gemini", "qwen", "opencode", "pi")


def pane(run, name="one"):
    """Returns what `status` shows for a pane, and what `-v` says: a size or None, and a sentence."""
    pid = run.terminal.pid(name)
    return _status(run, "--pid", pid)


def _status(run, *argv, work=None):
    done = run.ctxgauge("status", "-v", "--color", "never", "--format", FORMAT, *argv, work=work)
    line = line_of(done.stdout)
    return (tokens_of(line[0]) if line else None), done.stderr.strip().removeprefix("ctxgauge: ")


def is_size(says, shown, truth):
    """Compares the size that is shown with the truth, and has the sentence of `-v` in the row."""
    seen = same(says, shown[0], truth, ROUNDING)
    return Seen(says, f"{seen.seen}; -v: {shown[1]}", seen.right)


@claim(*ALL)
def one_pane(client, binary):
    with Run(client, binary) as run:
        run.open()
        last = run.ask("Read a piece.", [piece(1), {"say": "Read."}])
        yield is_size("a pane shows its session", _settled(run, last.after), last.after)
        below = run.work / "src/deep"
        below.mkdir(parents=True)
        yield is_size("so it does in a subfolder", _status(run, "--cwd", below, work=below), last.after)


@claim("claude", "codex")
def fresh_pane(client, binary):
    """A pane whose client has just begun, in a folder with an older session."""
    with Run(client, binary) as run:
        run.open("old")
        run.ask("Read a piece.", [piece(1), {"say": "Read."}], "old")
        run.leave("old")
        run.open("one")
        size, how = pane(run)
        if client.registers:
            yield Seen("a pane without a request has an empty line", f"{size}; -v: {how}", size is None)
        else:
            yield Seen("that it may be another session is said", f"{size}; -v: {how}", "newest" in how)
        last = run.ask("Hello.", [{"say": "Hello."}])
        yield is_size("after its first request it has its own", _settled(run, last.after), last.after)


@claim("claude", "codex")
def two_panes(client, binary):
    """Two panes in one folder, each asked in turn."""
    with Run(client, binary) as run:
        run.open("one")
        run.open("two")
        one = run.ask("Read a piece.", [piece(1), {"say": "Read."}], "one", "LAB-ONE")
        two = run.ask("Read two.", [piece(2), piece(3), {"say": "Read."}], "two", "LAB-TWO")
        shown = {"one": _settled(run, one.after, "one"), "two": _settled(run, two.after, "two")}
        for name, truth in (("one", one.after), ("two", two.after)):
            size, how = shown[name]
            if client.registers:
                yield is_size(f"pane {name} of two shows its own session", shown[name], truth)
            else:
                is_own = size is not None and abs(size - truth) <= ROUNDING
                says = f"pane {name} of two shows its own session, or says that it may be another"
                yield Seen(says, f"{size} for {truth}; -v: {how}", is_own or "newest" in how)


def _settled(run, truth, name="one"):
    is_true = lambda shown: shown[0] is not None and abs(shown[0] - truth) <= ROUNDING
    return settled(lambda: pane(run, name), is_true, 15)
