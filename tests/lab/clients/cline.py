"""Cline's command line, over Chat Completions."""

import json

from clients.client import Client, base, enter_server, newest_last

API = "openai-compatible"


class Cline(Client):
    name, agent, command = "cline", "cline", "cline"
    package = "cline"
    # It resumes in a terminal alone.
    resumes = False
    plans = ("short", "long", "compact", "errors", "large", "mcp", "project", "resume", "subagent")

    def environment(self, home, url, options):
        quiet = ("CLINE_NO_AUTO_UPDATE", "CLINE_TELEMETRY_DISABLED", "POSTHOG_DISABLED")
        return base(home) | dict.fromkeys(quiet, "1") | options.variables

    def configure(self, home, work, url, options):
        settings = {"provider": API, "apiKey": "lab-key", "model": options.model or self.model, "baseUrl": f"{url}/v1"}
        settings["contextWindow"] = options.window or 200000
        provider = {"settings": settings, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}
        folder = home / ".cline/data/settings"
        folder.mkdir(parents=True, exist_ok=True)
        known = {"version": 1, "lastUsedProvider": API, "modes": {}, "providers": {API: provider}}
        (folder / "providers.json").write_text(json.dumps(known, indent=2))

    def declare_server(self, home, name, command):
        # Without it, a server that takes more than 3 seconds to start is left out.
        enter_server(home / ".cline/data/settings/cline_mcp_settings.json", name, command, timeout=60)

    def headless(self, prompt, options, resume):
        model = ["-P", API, "-m", options.model or self.model]
        return [self.program(), *model, "--auto-approve", "true", *options.more, prompt]

    def logs(self, home):
        return newest_last((home / ".cline/data/sessions").glob("*/*.messages.json"))
