"""Hermes Agent, over Chat Completions."""

from clients.client import Options, base, newest_last
from clients.pypi import PyPI

# It refuses a model with a smaller window.
LEAST_WINDOW = 64000


class Hermes(PyPI):
    name = agent = command = "hermes"
    packages = ("hermes-agent",)
    small = Options(window=LEAST_WINDOW)
    is_followed = True
    plans = ("short", "long", "compact", "models", "subagent", "resume")

    def environment(self, home, url, options):
        own = {"OPENAI_API_KEY": "lab-key", "OPENAI_BASE_URL": f"{url}/v1", "HERMES_YOLO_MODE": "1"}
        return base(home) | own | options.variables

    def configure(self, home, work, url, options):
        window = max(options.window or 200000, LEAST_WINDOW)
        settings = _SETTINGS.format(name=options.model or self.model, url=url, window=window)
        folder = home / ".hermes"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.yaml").write_text(settings)

    def headless(self, prompt, options, resume):
        model = ["--model", options.model] if options.model else []
        return [self.program(), "chat", "-Q", "--yolo", *model, *_how(resume), *options.more, "-q", prompt]

    def logs(self, home):
        return newest_last((home / ".hermes").glob("state.db"))


_SETTINGS = """\
model:
  default: {name}
  provider: custom
  base_url: {url}/v1
  api_key: lab-key
  context_length: {window}
terminal:
  backend: local
"""


def _how(resume):
    if resume is None:
        return []
    return ["--resume", resume.session] if resume.session else ["--continue"]
