"""The clients that the lab can run: a file each."""

from clients.claude import Claude
from clients.codex import Codex

CLIENTS = {client.name: client for client in (Claude(), Codex())}
