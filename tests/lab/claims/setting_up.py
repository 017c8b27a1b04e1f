"""What `ctxgauge setup` writes, and whether the client reads it."""

from claims.claim import Seen, claims_of, settled
from claims.faces import CONFIGURATION, line_of, processes_of
from rig.run import Run

CLAIMS = []
claim = claims_of("status-lines.md", CLAIMS)
ALL = ("claude", "codex", "copilot", "gemini", "qwen", "opencode", "pi")
BYTE_ORDER_MARK = "\ufeff"

# Ways in which a user may have written JSON.
SYNTAXES = {
    "a comment": lambda text: text.replace("{", "{\n  // Mine.\n", 1),
    "a trailing comma": lambda text: text.rstrip().removesuffix("}").rstrip() + ",\n}\n",
    "a byte order mark": lambda text: BYTE_ORDER_MARK + text,
}


@claim(*ALL)
def reads_what_is_written(client, binary):
    with Run(client, binary) as run:
        run.configure_ctxgauge(CONFIGURATION)
        faces = _set_up(run)
        if client.adds_servers:
            run.add_server()
            faces.append("--mcp")
        run.open()
        if client.has_line:
            line = settled(lambda: line_of(run.screen()), bool, 15)
            yield Seen("the client shows the line that setup has entered by its path", str(line), bool(line))
        if "--mcp" in faces:
            servers = settled(lambda: processes_of(run, f"{run.binary} mcp"), bool, 15)
            seen = f"{len(servers)} processes"
            yield Seen("the client starts the server that setup has entered", seen, bool(servers))
        if client.has_hooks:
            # Some write their log only after the first prompt.
            for prompt in ("Hello.", "Hello again."):
                run.ask(prompt, [{"say": "Hello."}])
            noted = settled(lambda: _noted(run), bool, 10)
            yield Seen("the client runs the hooks that setup has entered", f"{len(noted)} sessions noted", bool(noted))


@claim(*ALL)
def undone(client, binary):
    with Run(client, binary) as run:
        before = _files(run)
        _set_up(run)
        written = _files(run)
        done = run.ctxgauge("setup", client.agent, "--undo", "--write")
        left = [path for path in sorted(written | before) if before.get(path) != _files(run).get(path)]
        seen = f"{len(written)} files, different: {left or 'none'} {done.stderr.strip()}"
        yield Seen("--undo leaves every file as it was", seen.strip(), written != before and not left)


@claim(*ALL)
def writes_what_is_read(client, binary):
    """Into a file that the client would not read, setup writes nothing."""
    for syntax, written in SYNTAXES.items():
        with Run(client, binary) as run:
            run.configure_ctxgauge(CONFIGURATION)
            path = _settings(client, run.home)
            if not path.name.endswith(".json"):
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            text = path.read_text() if path.exists() else '{"hooks": {}}'
            path.write_text(written(text))
            done = run.ctxgauge("setup", client.agent, *_face(client), "--by-name", "--write")
            accepts = "Written" in done.stdout
        with Run(client, binary) as run:
            run.configure_ctxgauge(CONFIGURATION)
            run.ctxgauge("setup", client.agent, *_face(client), "--by-name", "--write")
            path = _settings(client, run.home)
            path.write_text(written(path.read_text()))
            reads = _is_called(run)
        text = f"the client {'reads' if reads else 'does not read'} it, "
        text += f"setup {'writes' if accepts else 'does not write'}"
        yield Seen(f"settings with {syntax}: setup writes if the client reads them", text, accepts == reads)


def _face(client):
    """Returns the option of a face that the client's JSON settings can have."""
    return () if client.has_line else ("--hooks",) if client.has_hooks else ("--mcp",)


def _settings(client, home):
    return client.settings_file(home) if client.has_line or not client.has_hooks else client.hooks_file(home)


def _is_called(run):
    """Returns whether the client calls us."""
    try:
        run.open()
        if run.client.has_line:
            return bool(settled(lambda: run.calls("statusline"), bool, 15))
        if run.client.has_hooks:
            run.ask("Hello.", [{"say": "Hello."}])
            return bool(settled(lambda: run.calls("hook"), bool, 15))
        return bool(settled(lambda: processes_of(run, f"{run.binary} mcp"), bool, 15))
    except TimeoutError:
        return False


def _set_up(run):
    """Sets up all that the client can have, by our path. Returns the options that wrote something."""
    wanted = [()] * run.client.has_line + [("--hooks",)] * run.client.has_hooks + [("--mcp",)]
    written = []
    for options in wanted:
        done = run.ctxgauge("setup", run.client.agent, *options, "--write")
        if "Written" in done.stdout:
            written += options
    return written


def _noted(run):
    return list((run.home / ".local/state/ctxgauge/hooks").glob("*"))


def _files(run):
    """Returns the files of the client's settings, with their contents."""
    files = [path for path in run.home.rglob("*") if path.is_file() and ".local" not in path.parts]
    return {str(path.relative_to(run.home)): path.read_bytes() for path in files}
