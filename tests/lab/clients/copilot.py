"""GitHub's Copilot CLI without a login: offline, with a provider of the user's own, over Chat Completions."""

import json

from clients.client import Client, Options, base, enter_server, newest_last


class Copilot(Client):
    name, agent, command = "copilot", "copilot-cli", "copilot"
    package = "@github/copilot"
    small = Options(window=60000)
    has_line = has_hooks = True
    copies = (".cache/copilot",)
    # It lists commands while one is typed.
    typing_pause = 2.0
    quit = ("C-c", "C-c")

    def environment(self, home, url, options):
        own = {
            "COPILOT_OFFLINE": "true",
            "COPILOT_AUTO_UPDATE": "false",
            "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
            "COPILOT_PROVIDER_TYPE": "openai",
            "COPILOT_PROVIDER_API_KEY": "lab-key",
            "COPILOT_PROVIDER_WIRE_API": "completions",
            "COPILOT_MODEL": options.model or self.model,
            "COPILOT_PROVIDER_MAX_PROMPT_TOKENS": str(options.window or 60000),
            "COPILOT_PROVIDER_MAX_OUTPUT_TOKENS": "4000",
        }
        return base(home) | own | options.variables

    def configure(self, home, work, url, options):
        folder = home / ".copilot"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(json.dumps({"banner": "never"} | options.settings, indent=2))

    def settings_file(self, home):
        return home / ".copilot/settings.json"

    def declare_server(self, home, name, command):
        enter_server(home / ".copilot/mcp-config.json", name, command, type="local", tools=["*"])

    def headless(self, prompt, options, resume):
        return [*self.interactive(options, resume), "-p", prompt]

    def interactive(self, options, resume):
        free = ["--allow-all-tools", "--allow-all-paths", "--no-auto-update"]
        return [self.program(), *free, *_how(resume), *options.more]

    def questions(self, screen):
        return ("Enter",) if "1. Yes" in screen else ()

    def is_ready(self, screen):
        return any(line.startswith("❯") for line in screen.splitlines())

    def logs(self, home):
        return newest_last((home / ".copilot/session-state").rglob("events.jsonl"))

    def session_of(self, log):
        return log.parent.name


def _how(resume):
    if resume is None:
        return []
    return [f"--resume={resume.session}"] if resume.session else ["--continue"]
