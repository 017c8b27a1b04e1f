"""Servers of tools in a client: how ours is added and taken away, and how a model there calls a tool of any."""

import json
import re
import shlex
import subprocess
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "assets/docs/mcp.md"
# What the page calls clients.
TITLES = {
    "claude": "Claude Code",
    "codex": "Codex",
    "copilot": "Copilot CLI",
    "gemini": "Gemini CLI",
    "opencode": "OpenCode",
    "pi": "pi",
    "qwen": "Qwen Code",
}

OURS = "ctxgauge"
TOOLS = ("context_now", "largest_items", "what_if_without", "compaction_forecast", "why")

# The names that clients give a tool of a server.
NAMES = ("mcp__{server}__{tool}", "mcp_{server}_{tool}", "{server}_{tool}", "{server}-{tool}", "{server}__{tool}", "{tool}")


def add(run):
    """Adds it as `ctxgauge setup` says: by the file that it writes, or by the command that it prints for Claude Code."""
    _setup(run, "--write")


def remove(run):
    _setup(run, "--undo", "--write")


def add_by_page(run):
    """Adds it by the command that the page has for the client."""
    title = re.escape(TITLES[run.client.name])
    command = re.search(rf"^\| {title} \| `([^`]+)`", PAGE.read_text(), re.M).group(1)
    _run(run, command)


def look(client, tools=TOOLS, server=OURS):
    """Returns the steps by which a model looks for tools, in a client that does not declare them at once."""
    names = [NAMES[0].format(server=server, tool=tool) for tool in tools]
    chosen = {"query": "select:" + ",".join(names), "max_results": len(names)}
    script = "".join(f"text(await describeTool('{name}'));" for name in names)
    steps = {
        "claude": {"tool": "ToolSearch", "args": chosen},
        "codex": {"tool": "tool_search", "args": {"query": " ".join((server, *tools))}},
        "qwen": {"tool": "tool_search", "args": chosen},
        "pi": {"tool": "codemode", "args": {"code": script}},
    }
    return [steps[client.name]] if client.name in steps else []


def ask(client, tool="context_now", given=None, server=OURS):
    """Returns the step by which a model calls a tool."""
    names, given = [name.format(server=server, tool=tool) for name in NAMES], given or {}
    bridges = {
        "qwen": {"tool": "tool_call", "args": {"name": names[0], "arguments": given}},
        "pi": {"tool": "codemode", "args": {"code": f"return await tools.{names[0]}({json.dumps(given)})"}},
    }
    return bridges.get(client.name, {"tool": names, "args": given})


def _setup(run, *argv):
    done = run.ctxgauge("setup", run.client.agent, "--mcp", *argv)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[:300])
    for command in re.findall("`(claude mcp [^`]*)`", done.stdout):
        _run(run, command)


def _run(run, command):
    """Runs a command of the client itself."""
    words = [str(run.client.program()), *shlex.split(command)[1:]]
    done = subprocess.run(words, cwd=run.work, env=run.environment(), capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise RuntimeError((done.stdout + done.stderr).strip()[-300:])
