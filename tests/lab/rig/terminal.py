"""A terminal that a client runs in, by tmux: what is typed, and what is on its screen."""

import subprocess
import tempfile
import time
from pathlib import Path

LOOK_EVERY = 0.2


class Terminal:
    """A server of tmux of our own, with a window for each client. Its socket is a file of the run."""

    def __init__(self, at, width=160, height=45):
        # The path of a socket is short by the system's rules, so it is not in the run's folder.
        self._folder = tempfile.mkdtemp(prefix="lab-")
        self._socket = Path(self._folder) / "tmux"
        self._settings = at / "tmux.conf"
        self._settings.write_text("set -g status off\nset -g default-terminal screen-256color\n")
        self._size = ["-x", str(width), "-y", str(height)]

    def open(self, name, argv, environment, work):
        """Opens a client in a session of tmux. It gets these variables alone."""
        shell = ["env", "-i", *(f"{key}={value}" for key, value in environment.items() if key != "TERM")]
        self._tmux("new-session", "-d", "-s", name, *self._size, "-c", work, *shell, "TERM=screen-256color", *argv)
        self._tmux("set-option", "-t", f"={name}:", "remain-on-exit", "on")

    def screen(self, name):
        """Returns the rows of the screen, without blanks at their ends."""
        text = self._tmux("capture-pane", "-p", "-t", f"={name}:")
        return "\n".join(line.rstrip() for line in text.splitlines())

    def pid(self, name):
        """Returns the process of the pane."""
        return int(self._tmux("display-message", "-p", "-t", f"={name}:", "#{pane_pid}"))

    def type(self, name, text):
        self._tmux("send-keys", "-t", f"={name}:", "-l", text)

    def keys(self, name, *keys):
        for key in keys:
            self._tmux("send-keys", "-t", f"={name}:", key)

    def close(self):
        self._tmux("kill-server")

    def _tmux(self, *argv):
        argv = ["tmux", "-f", self._settings, "-S", self._socket, *argv]
        done = subprocess.run([str(one) for one in argv], capture_output=True, text=True, timeout=30)
        return done.stdout


def wait(condition, seconds, what):
    """Waits until a condition holds, and returns its value. Raises TimeoutError with `what` where it does not."""
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds} s: {what}")
        time.sleep(LOOK_EVERY)
    return value
