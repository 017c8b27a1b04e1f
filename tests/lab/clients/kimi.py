"""Kimi Code, the one of npm, over Chat Completions."""

from clients.client import Client, base, enter_server, newest_last

SETTINGS = """\
default_model = "{model}"
telemetry = false

[providers.lab]
type = "openai"
base_url = "{url}/v1"
api_key = "lab-key"
"""
MODEL = """
[models."{model}"]
provider = "lab"
model = "{model}"
max_context_size = {window}
max_output_size = 4000
capabilities = ["tool_use"]
"""


class Kimi(Client):
    name, agent, command = "kimi", "kimi", "kimi"
    package = "@moonshot-ai/kimi-code"

    def environment(self, home, url, options):
        return base(home) | {"KIMI_CODE_NO_AUTO_UPDATE": "1", "KIMI_DISABLE_TELEMETRY": "1"} | options.variables

    def configure(self, home, work, url, options):
        model = options.model or self.model
        windows = {model: options.window or 200000} | options.models
        models = [MODEL.format(model=name, window=window) for name, window in windows.items()]
        folder = home / ".kimi-code"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(SETTINGS.format(model=model, url=url) + "".join(models))

    def declare_server(self, home, name, command):
        enter_server(home / ".kimi-code/mcp.json", name, command)

    def headless(self, prompt, options, resume):
        return [self.program(), "-m", options.model or self.model, *_how(resume), *options.more, "-p", prompt]

    def logs(self, home):
        return newest_last((home / ".kimi-code/sessions").rglob("wire.jsonl"))


def _how(resume):
    if resume is None:
        return []
    return ["--session", resume.session] if resume.session else ["--continue"]
