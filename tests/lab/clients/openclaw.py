"""OpenClaw, its embedded agent without a gateway, over Chat Completions."""

import json

from clients.client import Client, base, newest_last


class OpenClaw(Client):
    name, agent, command = "openclaw", "openclaw", "openclaw"
    package = "openclaw"
    plans = ("short", "long", "compact", "models", "errors", "large", "project")

    def environment(self, home, url, options):
        return base(home) | {"OPENCLAW_SKIP_UPDATE_CHECK": "1"} | options.variables

    def configure(self, home, work, url, options):
        name = options.model or self.model
        windows = {name: options.window or 200000} | options.models
        models = [_model(model, window) for model, window in windows.items()]
        provider = {"baseUrl": f"{url}/v1", "apiKey": "lab-key", "api": "openai-completions", "models": models}
        settings = {
            "models": {"mode": "merge", "providers": {"lab": provider}},
            "agents": {"defaults": {"model": {"primary": f"lab/{name}"}, "workspace": str(work)}},
            "gateway": {"mode": "local"},
        }
        folder = home / ".openclaw"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "openclaw.json").write_text(json.dumps(settings | options.settings, indent=2))

    def settings_file(self, home):
        return home / ".openclaw/openclaw.json"

    def headless(self, prompt, options, resume):
        model = ["--model", f"lab/{options.model}"] if options.model else []
        session = ["--session-id", "lab", "--timeout", "100"]
        return [self.program(), "agent", "--local", *session, *model, *options.more, "-m", prompt]

    def logs(self, home):
        return newest_last((home / ".openclaw/agents").glob("*/agent/openclaw-agent.sqlite"))


def _model(name, window):
    cost = dict.fromkeys(("input", "output", "cacheRead", "cacheWrite"), 0)
    limits = {"contextWindow": window, "maxTokens": 4000}
    return {"id": name, "name": name, "reasoning": False, "input": ["text"], "cost": cost, **limits}
