"""Kilo's command line, which is made from OpenCode, over Chat Completions."""

import json

from clients.client import Client, base, change, newest_last


class Kilo(Client):
    name, agent, command = "kilo", "kilo", "kilo"
    # Of 7.8.1, the newest, there is no program for Linux in the registry.
    package = "@kilocode/cli@7.7.7"

    def environment(self, home, url, options):
        quiet = {"KILO_DISABLE_AUTOUPDATE": "1", "KILO_TELEMETRY_LEVEL": "off", "KILO_DISABLE_MODELS_FETCH": "1"}
        return base(home) | quiet | options.variables

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
            "permission": {"*": "allow"},
            "model": f"lab/{name}",
            "small_model": f"lab/{name}",
            "provider": {"lab": provider},
        }
        folder = home / ".config/kilo"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "kilo.json").write_text(json.dumps(settings | options.settings, indent=2))

    def settings_file(self, home):
        return home / ".config/kilo/kilo.json"

    def declare_server(self, home, name, command):
        server = {"type": "local", "command": command, "enabled": True}
        change(self.settings_file(home), {"mcp": {name: server}})

    def headless(self, prompt, options, resume):
        return [self.program(), "run", "--auto", "--pure", *_how(options, resume), prompt]

    def logs(self, home):
        return newest_last((home / ".local/share/kilo").glob("kilo*.db"))


def _model(window):
    return {"name": "Lab", "tool_call": True, "limit": {"context": window, "output": 4000}}


def _how(options, resume):
    how = [] if resume is None else ["--continue"]
    how += ["--fork"] if resume and resume.fork else []
    return how + (["-m", f"lab/{options.model}"] if options.model else []) + options.more
