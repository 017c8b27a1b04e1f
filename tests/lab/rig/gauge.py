"""ctxgauge itself, as it sees a run: with the run's home and settings, and none of this machine."""

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

LIMIT_SECONDS = 300


@dataclass
class Gauge:
    """A binary, and the home and the folder that it runs in. `variables` are further ones of its environment."""

    binary: Path
    home: Path
    work: Path
    variables: dict = field(default_factory=dict)

    def run(self, *argv, input=""):
        """Runs a command. Returns the finished process."""
        return subprocess.run(self._argv(argv), cwd=self.work, env=self._environment(), input=input, capture_output=True,
                              text=True, timeout=LIMIT_SECONDS)  # fmt: skip

    def start(self, *argv, to):
        """Starts a command that does not end by itself, with its output into a file. Returns the process."""
        with open(to, "w") as file:
            return subprocess.Popen(self._argv(argv), cwd=self.work, env=self._environment(), stdin=subprocess.DEVNULL,
                                    stdout=file, stderr=subprocess.DEVNULL)  # fmt: skip

    def _argv(self, argv):
        return [str(self.binary), *map(str, argv)]

    def _environment(self):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "dumb"}
        return environment | self.variables

    def json(self, *argv):
        """Returns what a command prints as JSON. Raises RuntimeError with its error where it fails."""
        done = self.run(*argv, "--json")
        if done.returncode:
            raise RuntimeError((done.stderr or done.stdout).strip()[:300])
        return json.loads(done.stdout)

    def report(self, log, session=None):
        """Returns the report of a log, or of one session in it."""
        return self.json("report", log, "--fresh", *(["--session", session] if session else []))

    def sessions(self):
        """Returns all sessions of this home, as `ls` lists them."""
        return self.json("ls", "--fresh")["sessions"]
