"""Grok Build with a model of the user's own, over Chat Completions."""

from clients.client import Client, Options, base, newest_last


class Grok(Client):
    name = agent = command = "grok"
    package = "@xai-official/grok"
    small = Options(window=60000)
    is_followed = True
    plans = ("short", "long", "compact", "models", "subagent", "resume")

    def environment(self, home, url, options):
        quiet = ("GROK_TELEMETRY_ENABLED", "GROK_TELEMETRY_TRACE_UPLOAD", "GROK_FEEDBACK_ENABLED")
        own = {"LAB_KEY": "lab-key", "GROK_DISABLE_AUTOUPDATER": "1"}
        return base(home) | own | dict.fromkeys(quiet, "false") | options.variables

    def configure(self, home, work, url, options):
        name = options.model or self.model
        windows = {name: options.window or 200000} | options.models
        models = [_MODEL.format(name=model, url=url, window=window) for model, window in windows.items()]
        folder = home / ".grok"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(f'[models]\ndefault = "{name}"\n' + "".join(models))

    def headless(self, prompt, options, resume):
        own = ["-m", options.model or self.model, "--always-approve", "--disable-web-search"]
        return [self.program(), *own, *_how(resume), *options.more, "-p", prompt]

    def logs(self, home):
        return newest_last((home / ".grok/sessions").glob("*/*/updates.jsonl"))

    def session_of(self, log):
        return log.parent.name


_MODEL = """
[model."{name}"]
model = "{name}"
name = "{name}"
base_url = "{url}/v1"
env_key = "LAB_KEY"
api_backend = "chat_completions"
context_window = {window}
max_completion_tokens = 4000
"""


def _how(resume):
    if resume is None:
        return []
    return ["--resume", resume.session] if resume.session else ["--continue"]
