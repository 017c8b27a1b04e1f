"""Codex, over the Responses API."""

import re

from clients.client import Client, Options, base, newest_last

# The row below the prompt: it has a model and the folder only after all questions.
FOOT = re.compile(r"^ +\S.* · [/~]", re.M)


class Codex(Client):
    name, agent, command = "codex", "codex", "codex"
    package = "@openai/codex"
    small = Options(window=80000)
    has_hooks = True
    clear = "/new"
    model = "gpt-5.5"
    copies = (".codex/packages",)

    def environment(self, home, url, options):
        return base(home) | {"CODEX_HOME": str(home / ".codex"), "LAB_KEY": "lab-key"} | options.variables

    def configure(self, home, work, url, options):
        top = {"model": options.model or self.model, "model_provider": "lab", "check_for_update_on_startup": False}
        if options.window:
            top["model_context_window"] = options.window
        if options.limit:
            top["model_auto_compact_token_limit"] = options.limit
        tables = {
            "model_providers.lab": {
                "name": "lab",
                "base_url": f"{url}/v1",
                "wire_api": "responses",
                "env_key": "LAB_KEY",
                "request_max_retries": 1,
            },
            "analytics": {"enabled": False},
            f'projects."{work}"': {"trust_level": "trusted"},
            "tui": {"notifications": False},
        }
        for name, value in options.settings.items():
            # An object has keys of a table.
            if isinstance(value, dict):
                tables[name] = tables.get(name, {}) | value
            else:
                top[name] = value
        folder = home / ".codex"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.toml").write_text(_toml(top, tables))

    def hooks_file(self, home):
        return home / ".codex/hooks.json"

    def declare_server(self, home, name, command):
        server = {"command": command[0], "args": command[1:], "default_tools_approval_mode": "approve"}
        with open(home / ".codex/config.toml", "a") as file:
            file.write(_toml({}, {f"mcp_servers.{name}": server}))

    def headless(self, prompt, options, resume):
        how = [*_how(resume), *_model(options)]
        return [self.program(), "exec", "--skip-git-repo-check", *self._shared(options), *how, prompt]

    def interactive(self, options, resume):
        return [self.program(), *_how(resume), *_model(options), *self._shared(options)]

    def _shared(self, options):
        return ["--dangerously-bypass-approvals-and-sandbox", *options.more]

    def questions(self, screen):
        # It offers its newest model to those who have named an older one, and has new hooks reviewed.
        if "Use existing model" in screen or "Trust all and continue" in screen:
            return ("Down", "Enter")
        # A new conversation may have a worktree of its own.
        return ("Enter",) if "should the new conversation run" in screen else ()

    def is_ready(self, screen):
        return bool(FOOT.search(screen))

    def logs(self, home):
        return newest_last((home / ".codex/sessions").rglob("rollout-*.jsonl"))

    def session_of(self, log):
        return log.stem[-36:]


def _how(resume):
    return [] if resume is None else ["fork" if resume.fork else "resume", resume.session or "--last"]


def _model(options):
    return ["-m", options.model] if options.model else []


def _toml(top, tables):
    """Writes settings of one level as TOML, whose values of these kinds are those of Python and JSON."""
    lines = [f"{key} = {_value(value)}" for key, value in top.items()]
    for name, table in tables.items():
        lines += [f"[{name}]", *(f"{key} = {_value(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _value(value):
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)
