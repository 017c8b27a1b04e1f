"""mini-SWE-agent, over Chat Completions by LiteLLM. Each run is a trajectory of its own."""

from clients.client import base, newest_last
from clients.pypi import PyPI

# Its own file has the last run alone, so that each run is given one: `$$` is a number that no other has.
SCRIPT = 'exec "$0" "$@" -o "$HOME/.config/mini-swe-agent/$$.traj.json"'


class MiniSweAgent(PyPI):
    name, agent, command = "mini-swe-agent", "mini-swe-agent", "mini"
    packages = ("mini-swe-agent",)
    resumes = False
    is_followed = True
    plans = ("short", "long")

    def environment(self, home, url, options):
        own = {
            "MSWEA_CONFIGURED": "true",
            "MSWEA_COST_TRACKING": "ignore_errors",
            "MSWEA_SILENT_STARTUP": "1",
            "OPENAI_API_KEY": "lab-key",
            "OPENAI_API_BASE": f"{url}/v1",
            "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        }
        return base(home) | own | options.variables

    def configure(self, home, work, url, options):
        (home / ".config/mini-swe-agent").mkdir(parents=True, exist_ok=True)

    def headless(self, prompt, options, resume):
        model = f"openai/{options.model or self.model}"
        own = ["-y", "--exit-immediately", "-l", "0", "-m", model, *options.more, "-t", prompt]
        return ["sh", "-c", SCRIPT, self.program(), *own]

    def logs(self, home):
        return newest_last((home / ".config/mini-swe-agent").glob("*.traj.json"))
