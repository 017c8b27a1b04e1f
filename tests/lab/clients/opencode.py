"""OpenCode, over Chat Completions."""

import json

from clients.client import Client, base, change, newest_last


class OpenCode(Client):
    name, agent, command = "opencode", "opencode", "opencode"
    package = "opencode-ai"
    quit = ("C-c",)
    clear = "/new"
    interrupt = ("Escape", "Escape")

    def environment(self, home, url, options):
        quiet = ("OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD")
        return base(home) | dict.fromkeys(quiet, "1") | options.variables

    def configure(self, home, work, url, options):
        name = options.model or self.model
        windows = {name: options.window or 200000} | options.models
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "name": "Lab",
            "options": {"baseURL": f"{url}/v1", "apiKey": "lab-key"},
            "models": {model: _model(window) for model, window in windows.items()},
        }
        settings = {
            "autoupdate": False,
            "share": "disabled",
            "permission": {"*": "allow"},
            "model": f"lab/{name}",
            "small_model": f"lab/{name}",
            "provider": {"lab": provider},
        }
        folder = home / ".config/opencode"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "opencode.json").write_text(json.dumps(settings | options.settings, indent=2))

    def settings_file(self, home):
        return home / ".config/opencode/opencode.json"

    def declare_server(self, home, name, command):
        server = {"type": "local", "command": command, "enabled": True}
        change(self.settings_file(home), {"mcp": {name: server}})

    def headless(self, prompt, options, resume):
        return [self.program(), "run", *_how(options, resume), prompt]

    def interactive(self, options, resume):
        return [self.program(), *_how(options, resume)]

    def is_ready(self, screen):
        return "Ask anything" in screen

    def logs(self, home):
        return newest_last((home / ".local/share/opencode").glob("opencode*.db"))


def _model(window):
    return {"name": "Lab", "tool_call": True, "limit": {"context": window, "output": 8000}}


def _how(options, resume):
    how = [] if resume is None else ["--continue"]
    how += ["--fork"] if resume and resume.fork else []
    return how + (["-m", f"lab/{options.model}"] if options.model else []) + options.more
