"""Mistral Vibe, over Chat Completions."""

from clients.client import Options, base, newest_last
from clients.pypi import PyPI

# It compacts at a threshold, and has no setting for the window.
THRESHOLD = 200000


class MistralVibe(PyPI):
    name, agent, command = "mistral-vibe", "mistral-vibe", "vibe"
    packages = ("mistral-vibe",)
    # The least is 50,000.
    small = Options(limit=52000)
    is_followed = True
    plans = ("short", "long", "compact", "models", "subagent", "resume")

    def environment(self, home, url, options):
        own = {"LAB_KEY": "lab-key", "VIBE_ACTIVE_MODEL": options.model or self.model}
        return base(home) | own | options.variables

    def configure(self, home, work, url, options):
        name = options.model or self.model
        models = [_MODEL.format(name=model, limit=options.limit or THRESHOLD) for model in (name, *options.models)]
        settings = _SETTINGS.format(name=name, url=url) + "".join(models)
        folder = home / ".vibe"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(settings)

    def headless(self, prompt, options, resume):
        free = ["--trust", "--auto-approve", "--output", "text"]
        return [self.program(), *free, *_how(resume), *options.more, "-p", prompt]

    def logs(self, home):
        return newest_last((home / ".vibe/logs/session/unified").glob("*/journal"))

    def session_of(self, log):
        return log.parent.name


_SETTINGS = """\
active_model = "{name}"
enable_telemetry = false
enable_update_checks = false

[[providers]]
name = "lab"
api_base = "{url}/v1"
api_key_env_var = "LAB_KEY"
api_style = "openai"
backend = "generic"
"""

_MODEL = """
[[models]]
name = "{name}"
provider = "lab"
alias = "{name}"
input_price = 0.0
output_price = 0.0
auto_compact_threshold = {limit}
"""


def _how(resume):
    if resume is None:
        return []
    return ["--resume", resume.session] if resume.session else ["--continue"]
