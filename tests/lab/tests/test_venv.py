import os
import tempfile
import unittest
from pathlib import Path
from unittest.mock import patch

from rig import venv


class Venv(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = Path(folder.name)

    def program(self, name, code):
        at = self.at / name
        at.parent.mkdir(parents=True, exist_ok=True)
        at.write_text(f"#!/bin/sh\nexit {code}\n")
        at.chmod(0o755)
        return str(at)

    def test_an_interpreter_has_to_run(self):
        self.program("shims/python3.99", 127)
        with patch.dict(os.environ, {"PATH": f"{self.at}/shims", "PYENV_ROOT": str(self.at)}):
            with self.assertRaisesRegex(RuntimeError, "no python3.99"):
                venv.interpreter("python3.99")
            own = self.program("versions/3.99.1/bin/python3.99", 0)
            self.assertEqual(venv.interpreter("python3.99"), own)

    def test_the_version_is_that_of_the_package(self):
        with patch.object(venv, "LAB", self.at):
            about = venv.modules("one", "python3.12") / "some_agent-1.2.3.dist-info/METADATA"
            about.parent.mkdir(parents=True)
            about.write_text("Metadata-Version: 2.1\nName: some-agent\nVersion: 1.2.3\n")
            self.assertEqual(venv.version("one", "some-agent[openai]", "python3.12"), "1.2.3")
            self.assertIsNone(venv.version("one", "other", "python3.12"))

    def test_the_newest_version_is_installed_where_pip_takes_an_older_one(self):
        ran = []

        def run(argv, at=None):
            ran.append([str(one) for one in argv])
            if "gone==1.0" in argv:
                raise RuntimeError("no matching version")
            required = '"requires_dist": ["gone==1.0", "there==2.0"]'
            return f'{{"install": [{{"metadata": {{"version": "3.0.3", {required}}}}}]}}' if "--dry-run" in argv else ""

        with patch.object(venv, "LAB", self.at), patch.object(venv, "run", run), patch.object(venv, "interpreter"):
            about = venv.modules("one", "python3.12") / "agent-3.0.2.dist-info/METADATA"
            about.parent.mkdir(parents=True)
            about.write_text("Metadata-Version: 2.1\nName: agent\nVersion: 3.0.2\n")
            installed = venv.install("one", ["agent"], "python3.12")
        self.assertEqual(installed, "agent==3.0.3, with other versions of gone")
        packages = [argv[argv.index("--no-deps") + 1 :] for argv in ran[-4:]]
        self.assertEqual(packages, [["agent==3.0.3"], ["gone==1.0"], ["--upgrade", "gone"], ["there==2.0"]])
