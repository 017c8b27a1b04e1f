"""What the scripts share. Each runs one turn of a framework's agent, which has a tool for shell commands:

    run_NAME.py PROMPT [--continue]

With `--continue` the turn goes on with the history that the one before has kept. The variables of the environment are those
that `clients/scripted.py` and `clients/frameworks.py` set.
"""

import os
import subprocess
import sys
import time
from pathlib import Path

PROMPT = sys.argv[1]
CONTINUES = "--continue" in sys.argv[2:]
MODEL, URL, KEY = os.environ["LAB_MODEL"], os.environ["LAB_URL"], os.environ["OPENAI_API_KEY"]
SYSTEM = "You are a careful helper that runs shell commands. " * 20

_HISTORY = Path(os.environ["LAB_HISTORY"])


def history():
    """Returns what the turn before has kept, or None."""
    return _HISTORY.read_text() if CONTINUES else None


def keep(text):
    """Keeps the history for the turn that follows."""
    _HISTORY.write_text(text)


def log():
    """Opens the log, whose lines are written at once."""
    return open(os.environ["LAB_LOG"], "a", buffering=1)


def bash(command: str) -> str:
    """Run a command in the shell.

    Args:
        command: The command to run.
    """
    done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout


def wait(holds, seconds=10):
    """Waits until something holds, for so long at most."""
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.1)
