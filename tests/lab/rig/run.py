"""A run: a home and a project of its own, the provider, and a client that is typed at or called for one turn."""

import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

from clients.client import LAST, Options
from provider import Provider
from provider.steps import TAG_OF_ONE
from rig import places, project, recorder
from rig.gauge import Gauge
from rig.plan import STORE
from rig.terminal import Terminal, wait

TURN_SECONDS = 300
START_SECONDS = 60
KEY_SECONDS = 20
STEADY_LOOKS = 5
# The size of the picture that the lab's own server has.
STORE_PICTURE = (800, 600)


class Run:
    """One client with one home. The end of its `with` ends the processes, and leaves the folder to be looked at."""

    def __init__(self, client, binary, options=None, thinking=0, pace=0.0, width=160, name=None, bodies=False, clock=1.0, times=1):
        self.client, self.binary, self.options = client, Path(binary).resolve(), options or Options()
        self.at = places.new_run(name or client.name)
        self.home, self.work = self.at / "home", self.at / "work/project"
        self.home.mkdir()
        _project(self.work)
        bodies = self.at / "bodies" if bodies else None
        self.provider = Provider(self.at / "truth.jsonl", thinking, pace, clock, bodies, times)
        recorder.write(self.at / "bin", self.at / "calls", self.binary)
        client.configure(self.home, self.work, self.provider.url, self.options)
        self.terminal, self._open, self._width = None, [], width

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.terminal:
            for name in self._open:
                (self.at / f"screen-{name}.txt").write_text(self.terminal.screen(name))
            self.terminal.close()
        self.provider.close()
        _end_all(self.home)
        for below in self.client.copies:
            shutil.rmtree(self.home / below, ignore_errors=True)

    def environment(self, options=None):
        """Returns the client's environment; the recorder is its `ctxgauge`."""
        variables = self.client.environment(self.home, self.provider.url, options or self.options)
        return variables | {"PATH": f"{self.at / 'bin'}:{variables['PATH']}"}

    # Turns without a terminal.

    def headless(self, prompt, steps=(), resume=False, tag=TAG_OF_ONE, work=None):
        """Runs one turn. Returns the finished process."""
        self.provider.expect(steps, tag)
        process = self.start(f"{tag} {prompt}", LAST if resume else None, self.options, work)
        try:
            output, errors = process.communicate(timeout=TURN_SECONDS)
        finally:
            process.kill()
        return subprocess.CompletedProcess(process.args, process.returncode, output, errors)

    def start(self, prompt, resume, options, work=None):
        """Starts one turn, in a process group of its own. Returns the process."""
        argv = [str(one) for one in self.client.headless(prompt, options, resume)]
        return subprocess.Popen(
            argv, cwd=work or self.work, env=self.environment(options), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip

    # Turns in a terminal.

    def open(self, name="one", resume=False, work=None, options=None):
        """Opens the client in a terminal, answers what it asks at its start, and waits until a prompt can be typed."""
        if self.terminal is None:
            self.terminal = Terminal(self.at, self._width)
        argv = self.client.interactive(options or self.options, LAST if resume else None)
        self.terminal.open(name, argv, self.environment(), work or self.work)
        self._open.append(name)
        self.ready(name)

    def ready(self, name="one"):
        """Answers what the client asks, and waits until a prompt can be typed."""
        looks = []
        wait(lambda: self._is_ready(name, looks), START_SECONDS, f"{self.client.name} takes a prompt")

    def _is_ready(self, name, looks):
        screen = self.terminal.screen(name)
        if keys := self.client.questions(screen):
            self.terminal.keys(name, *keys)
        looks.append(self.client.is_ready(screen) and not keys)
        # Some show where to type and ask a question a moment later.
        return all(looks[-STEADY_LOOKS:]) and len(looks) >= STEADY_LOOKS

    def enter(self, text, name="one"):
        """Types a text and submits it. Clients take keys that follow too fast for pasted text."""
        self.terminal.type(name, text)
        wait(lambda: text[-20:] in self.terminal.screen(name), 20, f"the text on the screen: {text}")
        time.sleep(self.client.typing_pause)
        self.terminal.keys(name, self.client.submit)

    def press(self, keys, name="one"):
        """Presses keys one after another. `{"see": TEXT}` among them waits for a text on the screen, `gone` for its end."""
        for key in keys:
            if isinstance(key, dict):
                (what, text), = key.items()
                wait(lambda: (text in self.screen(name)) == (what == "see"), KEY_SECONDS, f"{what} on the screen: {text}")
            else:
                self.terminal.keys(name, key)
                time.sleep(self.client.typing_pause)

    def ask(self, prompt, steps=(), name="one", tag=TAG_OF_ONE):
        """Types a prompt and waits for the end of the turn. Returns the last request of the session."""
        before = len(self.provider.of(tag))
        self.provider.expect(steps, tag)
        self.enter(f"{tag} {prompt}", name)
        return wait(lambda: self.ended(tag, before), TURN_SECONDS, f"the end of the turn: {prompt}")

    def ended(self, tag, before):
        """Returns the last request of a session, if that ends its turn and is not one of the first `before`."""
        new = self.provider.of(tag)[before:]
        return new[-1] if new and new[-1].ends_turn else None

    def leave(self, name="one"):
        """Ends the client in a terminal by its own keys."""
        pid = self.terminal.pid(name)
        for key in self.client.quit:
            self.terminal.keys(name, key)
            time.sleep(0.5)  # Two keys at once are one to some clients.
        wait(lambda: not _runs(pid), 20, f"{self.client.name} ends")

    def screen(self, name="one"):
        return self.terminal.screen(name)

    def add_store(self):
        """Declares the lab's own server to the client."""
        picture = self.at / "picture.png"
        picture.write_bytes(project.png(*STORE_PICTURE))
        script = Path(__file__).with_name("store_server.py")
        self.client.declare_server(self.home, STORE, ["python3", str(script), str(picture)])

    # ctxgauge.

    def add_server(self):
        """Adds the server by the client's own command."""
        argv = [str(one) for one in self.client.add_server(self.binary)]
        subprocess.run(argv, cwd=self.work, env=self.environment(), check=True, capture_output=True, timeout=60)

    def ctxgauge(self, *argv, work=None, variables=None, input=""):
        """Runs ctxgauge with the settings of this run, and none of this machine."""
        return Gauge(self.binary, self.home, work or self.work, variables or {}).run(*argv, input=input)

    def report(self, *argv):
        """Returns the report of the newest log, or of the log that is named."""
        argv = argv or (wait(lambda: self.client.logs(self.home), 20, "a log")[-1],)
        return Gauge(self.binary, self.home, self.work).json("report", *argv)

    def calls(self, command):
        """Returns the client's calls of a command of ctxgauge."""
        return recorder.read(self.at / "calls", command)

    def configure_ctxgauge(self, text):
        """Writes ctxgauge's own configuration."""
        at = self.home / ".config/ctxgauge"
        at.mkdir(parents=True, exist_ok=True)
        (at / "config.toml").write_text(text)


def _project(work):
    """Makes a project: a script that prints lines of a known size, and some notes."""
    work.mkdir(parents=True)
    shutil.copy(Path(__file__).with_name("lines.py"), work)
    draw = random.Random(7)
    notes = [f"- item {number}: shelf {draw.randrange(1000)}, box {draw.randrange(100)}\n" for number in range(300)]
    (work / "notes.md").write_text("# Notes\n\n" + "".join(notes))
    identity = ["-c", "user.name=lab", "-c", "user.email=lab@localhost"]
    for argv in (["init", "-q"], ["add", "-A"], [*identity, "commit", "-qm", "notes"]):
        subprocess.run(["git", *argv], cwd=work, check=True, capture_output=True)


def _runs(pid):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def _end_all(home):
    """Ends what has the run's home in its environment: some clients leave a daemon behind."""
    mark = f"HOME={home}\0".encode()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes() + b"\0":
                os.kill(int(folder.name), signal.SIGTERM)
        except OSError:
            continue
