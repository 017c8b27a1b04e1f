"""The clients that the lab can run: a file each, and one for all frameworks."""

from clients.claude import Claude
from clients.cline import Cline
from clients.codex import Codex
from clients.copilot import Copilot
from clients.droid import Droid
from clients.frameworks import FRAMEWORKS
from clients.gemini import Gemini
from clients.grok import Grok
from clients.hermes import Hermes
from clients.kilo import Kilo
from clients.kimi import Kimi
from clients.mini_swe_agent import MiniSweAgent
from clients.mistral_vibe import MistralVibe
from clients.openclaw import OpenClaw
from clients.opencode import OpenCode
from clients.openhands import OpenHands
from clients.pi import Pi
from clients.qwen import Qwen

NPM = (
    Claude(), Codex(), Copilot(), Gemini(), Qwen(), OpenCode(), Pi(), Droid(), Kimi(), Cline(), Kilo(), OpenClaw(),
    Grok(),
)  # fmt: skip
PYPI = (Hermes(), MiniSweAgent(), MistralVibe(), OpenHands())
CLIENTS = {client.name: client for client in (*NPM, *PYPI, *FRAMEWORKS)}

# The agents that have a format of their own in ctxgauge, and so a version that is proven.
WITH_FORMAT = {client.agent for client in (*NPM, *PYPI)}
