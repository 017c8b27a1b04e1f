"""Qwen Code, over Chat Completions."""

import json

from clients.client import Client, Options, base, change, enter_server, newest_last


class Qwen(Client):
    name, agent, command = "qwen", "qwen-code", "qwen"
    package = "@qwen-code/qwen-code"
    small = Options(window=100000, limit=70000)
    has_line = has_hooks = True
    compact = "/compress"
    model = "qwen3-coder-plus"
    quit = ("C-c", "C-c")

    def environment(self, home, url, options):
        own = {
            "OPENAI_API_KEY": "lab-key",
            "OPENAI_BASE_URL": f"{url}/v1",
            "OPENAI_MODEL": options.model or self.model,
        }
        return base(home) | own | options.variables

    def configure(self, home, work, url, options):
        settings = {
            "security": {"auth": {"selectedType": "openai"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
        }
        if options.window:
            settings["model"] = {"generationConfig": {"contextWindowSize": options.window}}
        if options.window and options.limit:
            settings["context"] = {"autoCompactThreshold": round(options.limit / options.window, 3)}
        folder = home / ".qwen"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(settings | options.settings, indent=2))

    def settings_file(self, home):
        return home / ".qwen/settings.json"

    def set_line(self, home, command):
        line = {"type": "command", "command": command, "refreshInterval": 2}
        change(self.settings_file(home), {"ui": {"statusLine": line}})

    def declare_server(self, home, name, command):
        enter_server(self.settings_file(home), name, command, trust=True)

    def headless(self, prompt, options, resume):
        return [*self.interactive(options, resume), "-p", prompt]

    def interactive(self, options, resume):
        model = ["-m", options.model] if options.model else []
        return [self.program(), "--yolo", "--auth-type", "openai", *model, *_how(resume), *options.more]

    def is_ready(self, screen):
        return "Type your message" in screen

    def logs(self, home):
        return newest_last((home / ".qwen").glob("projects/*/chats/*.jsonl"))


def _how(resume):
    if resume is None:
        return []
    how = ["--resume", resume.session] if resume.session else ["--continue"]
    return [*how, *(["--fork-session"] if resume.fork else [])]
