"""OpenCode, over Chat Completions."""

import json

from clients.client import Client, base, change, newest_last


class OpenCode(Client):
    name, agent, command = "opencode", "opencode", "opencode"
    package = "opencode-ai"
    quit = ("C-c",)
    clear = "/new"
    interrupt = ("Escape", "Escape")
    # Where it has its settings and its database, below the home.
    settings_path = ".config/opencode/opencode.json"
    store_path = ".local/share/opencode"
    # What else its settings say.
    own = {"autoupdate": False, "share": "disabled"}
    run = ("run",)
    # The tokens that an answer may have.
    output = 8000

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
            "models": {model: self._model(window) for model, window in windows.items()},
        }
        settings = self.own | {
            "permission": {"*": "allow"},
            "model": f"lab/{name}",
            "small_model": f"lab/{name}",
            "provider": {"lab": provider},
        }
        file = self.settings_file(home)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings | options.settings, indent=2))

    def _model(self, window):
        return {"name": "Lab", "tool_call": True, "limit": {"context": window, "output": self.output}}

    def settings_file(self, home):
        return home / self.settings_path

    def declare_server(self, home, name, command):
        server = {"type": "local", "command": command, "enabled": True}
        change(self.settings_file(home), {"mcp": {name: server}})

    def headless(self, prompt, options, resume):
        return [self.program(), *self.run, *_how(options, resume), prompt]

    def interactive(self, options, resume):
        return [self.program(), *_how(options, resume)]

    def is_ready(self, screen):
        return "Ask anything" in screen

    def logs(self, home):
        return newest_last((home / self.store_path).glob(f"{self.name}*.db"))


def _how(options, resume):
    how = [] if resume is None else ["--continue"]
    how += ["--fork"] if resume and resume.fork else []
    return how + (["-m", f"lab/{options.model}"] if options.model else []) + options.more
