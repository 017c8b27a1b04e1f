"""Gemini CLI, over generateContent, with an API key."""

import json

from clients.client import Client, Options, base, enter_server, newest_last

# The model's window, which has no setting: the client's limit is a share of it.
WINDOW = 1048576


class Gemini(Client):
    name, agent, command = "gemini", "gemini-cli", "gemini"
    package = "@google/gemini-cli"
    small = Options(limit=60000)
    has_hooks = True
    compact = "/compress"
    model = "gemini-2.5-pro"
    quit = ("C-c", "C-c")

    def environment(self, home, url, options):
        own = {
            "GEMINI_API_KEY": "lab-key",
            "GOOGLE_GEMINI_BASE_URL": url,
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
        }
        return base(home) | own | options.variables

    def configure(self, home, work, url, options):
        settings = {
            "security": {"auth": {"selectedType": "gemini-api-key"}},
            "privacy": {"usageStatisticsEnabled": False},
            "general": {"disableAutoUpdate": True, "enableAutoUpdate": False},
            "ui": {"hideTips": True},
        }
        if options.limit:
            settings["model"] = {"compressionThreshold": options.limit / WINDOW}
        folder = home / ".gemini"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(settings | options.settings, indent=2))

    def settings_file(self, home):
        return home / ".gemini/settings.json"

    def declare_server(self, home, name, command):
        enter_server(self.settings_file(home), name, command, trust=True)

    def headless(self, prompt, options, resume):
        return [*self.interactive(options, resume), "-p", prompt]

    def interactive(self, options, resume):
        how = ["--resume", "latest"] if resume else []
        return [self.program(), "-m", options.model or self.model, "--yolo", *how, *options.more]

    def is_ready(self, screen):
        return "Type your message" in screen

    def logs(self, home):
        return newest_last((home / ".gemini/tmp").glob("*/chats/session-*.json*"))
