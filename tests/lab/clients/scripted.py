"""What is different in a framework, which has no program: a script of ours in `scripts/` runs one turn with it."""

from pathlib import Path

from clients.client import base
from clients.pypi import PyPI

SCRIPTS = Path(__file__).with_name("scripts")


class Scripted(PyPI):
    """A framework from PyPI that is run by `scripts/run_NAME.py`, which `scripts/turn.py` describes."""

    command = "python"

    def environment(self, home, url, options):
        own = {
            "LAB_MODEL": options.model or self.model,
            "LAB_URL": f"{url}/v1",
            "LAB_HISTORY": str(home / "history.json"),
            "OPENAI_API_KEY": "lab-key",
            "OPENAI_BASE_URL": f"{url}/v1",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        }
        return base(home) | own | options.variables

    def headless(self, prompt, options, resume):
        script = SCRIPTS / f"run_{self.name.replace('-', '_')}.py"
        return [self.program(), "-B", script, prompt, *(["--continue"] if resume else [])]
