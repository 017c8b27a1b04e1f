"""What the lab has to be able to do with a client."""

import json
import re
import subprocess
from dataclasses import dataclass, field

from rig.places import install, program, search_path


@dataclass
class Options:
    """How a session is set up: a client uses what it has a setting for.

    `window` is the context window and `limit` the size at which the client compacts, both in tokens. `models` are other
    models that the session may change to, with their windows. `more` are arguments for the command line, `settings` keys
    for the client's settings file, `variables` those of its environment, `flags` what its makers' servers switch on.
    """

    model: str | None = None
    window: int | None = None
    limit: int | None = None
    models: dict = field(default_factory=dict)
    more: list = field(default_factory=list)
    settings: dict = field(default_factory=dict)
    variables: dict = field(default_factory=dict)
    flags: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Resume:
    """How a session goes on: the last one, or the one with this id; a fork of it is a session of its own."""

    session: str | None = None
    fork: bool = False


LAST = Resume()


class Client:
    """A client of today. `name` is what the lab calls it, `agent` what ctxgauge does."""

    name = agent = package = command = ""
    # The model that is used where the options name none.
    model = "lab-model"
    # The keys that end it in a terminal.
    quit = ("C-c", "C-c")
    # The command that asks for a compaction.
    compact = "/compact"
    # The command that begins a new session in the same terminal.
    clear = "/clear"
    # The command that goes on in a fork of the session.
    branch = "/branch"
    # The keys that interrupt a turn.
    interrupt = ("Escape",)
    # Whether it can run a status line and hooks of ours.
    has_line = has_hooks = False
    # Folders of its home into which it copies itself: they are removed at the end of a run.
    copies = ()
    # Whether servers are added by a command of its own.
    adds_servers = False
    # Whether it shows the user what a hook says at a prompt or at the end of a turn.
    shows_warnings = True
    # Whether a turn without a terminal can go on with a session; else each has a session of its own.
    resumes = True
    # Options with which a few pieces of a log fill the context.
    small = Options()
    # Whether it registers its running sessions, so that a pane's own is known.
    registers = False
    # The seconds after which it takes what was typed for a whole prompt.
    typing_pause = 0.3
    # What submits a prompt that was typed.
    submit = "Enter"
    # Whether ctxgauge follows it while a plan is played, because the moments of its log cannot be made again afterwards: it
    # keeps numbers for a while only, has them in another file, or is not of lines.
    is_followed = False
    # The plans that are for it; None: all.
    plans = None

    def install(self):
        """Installs its newest version. Returns the name and the version of its package."""
        return install(self.agent, self.package)

    def program(self):
        """Returns the path of its program."""
        return program(self.agent, self.command)

    def environment(self, home, url, options):
        """Returns all variables of its environment; `base` has those that every client gets."""
        raise NotImplementedError

    def configure(self, home, work, url, options):
        """Writes the settings for a provider at this URL into the run's home, and answers to its first questions."""
        raise NotImplementedError

    def settings_file(self, home):
        """Returns the file that has its status line."""
        raise NotImplementedError

    def hooks_file(self, home):
        """Returns the file that has its hooks."""
        return self.settings_file(home)

    def set_line(self, home, command):
        """Enters a status line of another tool."""
        raise NotImplementedError

    def add_server(self, program):
        """Returns the command that adds this program's server."""
        raise NotImplementedError

    def declare_server(self, home, name, command):
        """Enters a server into its settings, for its next process: its name, and the command that runs it."""
        raise NotImplementedError

    def headless(self, prompt, options, resume):
        """Returns the command that runs one turn, of a new session or of the one that a `Resume` describes."""
        raise NotImplementedError

    def interactive(self, options, resume):
        """Returns the command that opens it in a terminal, with a new session or the one that a `Resume` describes."""
        raise NotImplementedError

    def is_ready(self, screen):
        """Returns whether a prompt can be typed, by what is on its screen."""
        raise NotImplementedError

    def questions(self, screen):
        """Returns the keys that answer what it asks at its start, or none."""
        return ()

    def logs(self, home):
        """Returns its logs, the newest last."""
        raise NotImplementedError

    def session_of(self, log):
        """Returns the id by which the session of a log is resumed."""
        return log.stem

    def version(self):
        """Returns the version that is installed, or None."""
        if not self.program().exists():
            return None
        argv = [str(self.program()), "--version"]
        done = subprocess.run(argv, env=base("/nonexistent"), capture_output=True, text=True, timeout=60)
        found = re.search(r"\d+\.\d+\.\d+", done.stdout)
        return found.group() if found else "?"


def base(home):
    """Returns the variables that every client gets."""
    return {"PATH": search_path(), "HOME": str(home), "TERM": "dumb", "LANG": "C.UTF-8"}


def change(path, keys):
    """Changes keys of a settings file in JSON."""
    path.write_text(json.dumps(json.loads(path.read_text()) | keys, indent=2))


def enter_server(path, name, command, **more):
    """Enters a server into a file of JSON, in the form that most clients have."""
    settings = json.loads(path.read_text()) if path.exists() else {}
    server = {"command": command[0], "args": command[1:], **more}
    settings["mcpServers"] = settings.get("mcpServers", {}) | {name: server}
    path.write_text(json.dumps(settings, indent=2))


def newest_last(paths):
    return sorted(paths, key=lambda path: path.stat().st_mtime)
