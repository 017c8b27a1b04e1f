"""Kilo's command line, which is made from OpenCode and has its settings and its database elsewhere."""

from clients.client import base
from clients.opencode import OpenCode


class Kilo(OpenCode):
    name, agent, command = "kilo", "kilo", "kilo"
    # Of 7.8.1, the newest, there is no program for Linux in the registry.
    package = "@kilocode/cli@7.7.7"
    settings_path = ".config/kilo/kilo.json"
    store_path = ".local/share/kilo"
    own = {}
    run = ("run", "--auto", "--pure")
    output = 4000

    def environment(self, home, url, options):
        quiet = {"KILO_DISABLE_AUTOUPDATE": "1", "KILO_TELEMETRY_LEVEL": "off", "KILO_DISABLE_MODELS_FETCH": "1"}
        return base(home) | quiet | options.variables
