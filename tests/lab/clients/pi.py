"""pi, over Chat Completions."""

import json

from clients.client import Client, base, enter_server, newest_last


class Pi(Client):
    name, agent, command = "pi", "pi", "pi"
    package = "@earendil-works/pi-coding-agent"
    quit = ("C-d",)
    clear = "/new"
    # All but those of sub-agents.
    plans = (
        "short", "long", "compact", "models", "errors", "project", "resume", "commands", "large", "mcp", "million",
    )  # fmt: skip

    def environment(self, home, url, options):
        quiet = {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1", "PI_TELEMETRY": "0"}
        return base(home) | quiet | options.variables

    def configure(self, home, work, url, options):
        name = options.model or self.model
        windows = {name: options.window or 200000} | options.models
        models = [_model(model, window) for model, window in windows.items()]
        provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "lab-key", "models": models}
        # It compacts at its window less this reserve.
        compaction = {"enabled": True, "reserveTokens": 16384, "keepRecentTokens": 8000}
        settings = {"defaultProvider": "lab", "defaultModel": name, "compaction": compaction}
        folder = home / ".pi/agent"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "models.json").write_text(json.dumps({"providers": {"lab": provider}}, indent=2))
        (folder / "settings.json").write_text(json.dumps(settings | options.settings, indent=2))

    def settings_file(self, home):
        return home / ".pi/agent/mcp.json"

    def declare_server(self, home, name, command):
        enter_server(home / ".pi/agent/mcp.json", name, command)

    def headless(self, prompt, options, resume):
        return [*self.interactive(options, resume), "-p", prompt]

    def interactive(self, options, resume):
        model = ["--provider", "lab", "--model", options.model or self.model]
        return [self.program(), *model, *_how(resume), *options.more]

    def is_ready(self, screen):
        return "lab-model" in screen

    def logs(self, home):
        return newest_last((home / ".pi/agent/sessions").glob("*/*.jsonl"))

    def session_of(self, log):
        return str(log)


def _how(resume):
    if resume is None:
        return []
    if resume.session:
        return ["--fork" if resume.fork else "--session", resume.session]
    return ["--continue"]


def _model(name, window):
    return {"id": name, "reasoning": False, "contextWindow": window, "maxTokens": 8000}
