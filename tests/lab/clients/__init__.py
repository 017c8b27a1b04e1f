"""The clients that the lab can run: a file each."""

from clients.claude import Claude
from clients.codex import Codex
from clients.copilot import Copilot
from clients.gemini import Gemini
from clients.opencode import OpenCode
from clients.pi import Pi
from clients.qwen import Qwen

CLIENTS = {client.name: client for client in (Claude(), Codex(), Copilot(), Gemini(), Qwen(), OpenCode(), Pi())}
