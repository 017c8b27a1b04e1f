"""Factory's droid without an account: air-gapped, with a model of the user's own, over Chat Completions."""

import json

from clients.client import Client, base, newest_last


class Droid(Client):
    name, agent, command = "droid", "droid", "droid"
    package = "@factory/cli"
    # With `-s` it ends at once, and says nothing. It can go on in a fork.
    resumes = False
    # The file beside its log has the numbers of the newest response alone.
    is_followed = True
    plans = ("short", "long", "compact", "errors", "large", "project", "resume", "subagent")

    def environment(self, home, url, options):
        own = {"FACTORY_AIRGAP_ENABLED": "true", "FACTORY_DISABLE_KEYRING": "1", "DROID_DISABLE_AUTO_UPDATE": "1"}
        return base(home) | own | options.variables

    def configure(self, home, work, url, options):
        windows = {options.model or self.model: options.window or 200000} | options.models
        models = [_model(name, window, url) for name, window in windows.items()]
        settings = {"customModels": models}
        if options.limit:
            settings["compactionTokenLimit"] = options.limit
        folder = home / ".factory"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "settings.json").write_text(json.dumps(settings | options.settings, indent=2))

    def settings_file(self, home):
        return home / ".factory/settings.json"

    def headless(self, prompt, options, resume):
        model = ["-m", f"custom:{options.model or self.model}-0"]
        return [self.program(), "exec", "--skip-permissions-unsafe", *model, *_how(resume), *options.more, prompt]

    def logs(self, home):
        return newest_last((home / ".factory/sessions").rglob("*.jsonl"))


def _how(resume):
    if resume is None:
        return []
    return ["--fork", resume.session]


def _model(name, window, url):
    return {
        "model": name,
        "displayName": name,
        "baseUrl": f"{url}/v1",
        "apiKey": "lab-key",
        "provider": "generic-chat-completion-api",
        "maxOutputTokens": 4000,
        "maxContextLimit": window,
    }
