"""Claude Code, over the Messages API."""

import json

from clients.client import Client, Options, base, change, enter_server, newest_last

KEY = "lab-key"


class Claude(Client):
    name, agent, command = "claude", "claude-code", "claude"
    package = "@anthropic-ai/claude-code"
    small = Options(limit=100000)
    has_line = has_hooks = registers = adds_servers = True
    model = "claude-opus-4-6"
    # A model that has a window of 1,000,000 tokens, by the client's own name for it.
    long_model = "sonnet[1m]"

    def environment(self, home, url, options):
        quiet = ["DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER", "IS_SANDBOX"]
        # With these its flags are not used.
        quiet += [] if options.flags else ["DISABLE_TELEMETRY", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"]
        own = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}
        return base(home) | own | dict.fromkeys(quiet, "1") | options.variables

    def configure(self, home, work, url, options):
        folder = home / ".claude"
        folder.mkdir(parents=True, exist_ok=True)
        settings = {"autoCompactWindow": options.limit} if options.limit else {}
        (folder / "settings.json").write_text(json.dumps(settings | options.settings, indent=2))
        answers = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "bypassPermissionsModeAccepted": True,
            "customApiKeyResponses": {"approved": [KEY], "rejected": []},
            "cachedGrowthBookFeatures": options.flags,
            "projects": {str(work): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}},
        }
        (home / ".claude.json").write_text(json.dumps(answers))

    def settings_file(self, home):
        return home / ".claude/settings.json"

    def set_line(self, home, command):
        change(self.settings_file(home), {"statusLine": {"type": "command", "command": command}})

    def add_server(self, program):
        return [self.program(), "mcp", "add", "ctxgauge", "--", program, "mcp"]

    def declare_server(self, home, name, command):
        enter_server(home / ".claude.json", name, command, type="stdio")

    def headless(self, prompt, options, resume):
        return [self.program(), "-p", prompt, *self._shared(options), *_how(resume)]

    def interactive(self, options, resume):
        return [self.program(), *self._shared(options), *_how(resume)]

    def _shared(self, options):
        return ["--dangerously-skip-permissions", "--model", options.model or self.model, *options.more]

    def is_ready(self, screen):
        return any(line.lstrip().startswith("❯") for line in screen.splitlines()) and "bypass permissions" in screen

    def logs(self, home):
        return newest_last((home / ".claude/projects").glob("*/*.jsonl"))


def _how(resume):
    if resume is None:
        return []
    how = ["--resume", resume.session] if resume.session else ["--continue"]
    return [*how, *(["--fork-session"] if resume.fork else [])]
