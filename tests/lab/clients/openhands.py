"""OpenHands' agent SDK, which its CLI runs on, over Chat Completions by LiteLLM."""

from clients.client import Options, newest_last
from clients.scripted import Scripted


class OpenHands(Scripted):
    name = agent = "openhands"
    packages = ("openhands-sdk", "openhands-tools")
    small = Options(limit=40000)
    # It is not followed: it writes a request's usage after what the tools returned, so that moments cannot be compared.
    plans = ("short", "long", "compact", "models", "resume")

    def environment(self, home, url, options):
        own = {"LAB_STORE": str(self._store(home)), "LAB_LIMIT": str(options.limit or 0)}
        return super().environment(home, url, options) | own

    def configure(self, home, work, url, options):
        self._store(home).mkdir(parents=True, exist_ok=True)

    def logs(self, home):
        return newest_last(self._store(home).glob("*/events"))

    def _store(self, home):
        return home / ".openhands/conversations"
