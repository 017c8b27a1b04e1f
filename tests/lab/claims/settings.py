"""Settings files as clients read them: a file that `setup` changes is read, and one that the client skips is refused."""

from claims.claim import Seen, claims_of
from claims.server import answers_to, asks
from provider.steps import TAG_OF_ONE
from rig import server
from rig.run import Run

CLAIMS = []
claim = claims_of("mcp.md", CLAIMS)

# The files that have servers, in a home.
FILES = {
    "codex": ".codex/config.toml",
    "copilot": ".copilot/mcp-config.json",
    "gemini": ".gemini/settings.json",
    "opencode": ".config/opencode/opencode.json",
    "pi": ".pi/agent/mcp.json",
    "qwen": ".qwen/settings.json",
}
MARK = "\ufeff"


def with_comments(text):
    return "// one\n" + text.replace("{", "{ /* two */", 1)


def with_commas(text):
    """Puts commas after the last values of two objects."""
    head, tail = text.rstrip().rsplit("}", 1)
    inner, rest = head.rsplit("}", 1)
    return f"{inner}{',' if not inner.rstrip().endswith('{') else ''}}},{rest}}}{tail}"


def with_mark(text):
    return MARK + text


JSON = {"comments": with_comments, "commas after a last value": with_commas, "a byte order mark": with_mark}
TOML = {"comments": lambda text: "# one\n" + text, "a byte order mark": with_mark}


@claim(*FILES)
def what_setup_writes_is_read(client, binary):
    with Run(client, binary) as run:
        file = run.home / FILES[client.name]
        before = file.read_text() if file.exists() else '{\n  "mcpServers": {}\n}\n'
        server.add(run)
        after = file.read_text()
        is_read = _answers(run)
        yield Seen("the client reads what `setup --mcp --write` has written", "an answer" if is_read else "no answer", is_read)
        for kind, put in (TOML if file.suffix == ".toml" else JSON).items():
            file.write_text(put(before))
            done = run.ctxgauge("setup", client.agent, "--mcp", "--write")
            is_written = not done.returncode and file.read_text() != put(before)
            file.write_text(put(after))
            is_read = _answers(run)
            seen = f"{'written' if is_written else 'refused'}, {'read' if is_read else 'not read'}"
            yield Seen(f"a file with {kind} is changed if the client reads it", seen, is_written == is_read)


@claim("claude", "codex", "copilot", "gemini", "pi", "qwen")
def the_command_of_the_page(client, binary):
    with Run(client, binary) as run:
        server.add_by_page(run)
        is_read = _answers(run)
        yield Seen("the client's own command adds the server", "an answer" if is_read else "no answer", is_read)


def _answers(run):
    """Returns whether a new session gets an answer of the server."""
    before = len(answers_to(run, TAG_OF_ONE))
    run.headless("Ask.", asks(run.client, 1))
    return len(answers_to(run, TAG_OF_ONE)) > before
