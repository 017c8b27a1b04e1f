"""What each face of ctxgauge shows of a client's session."""

import json
import re
import subprocess
from pathlib import Path

from rig.run import Run

# A format with all numbers that the claims look at; `|` ends each.
FORMAT = "GAUGE {used}|{share}|{trigger}|{window}|{model}|"
CONFIGURATION = f'[statusline]\nformat = "{FORMAT}"\n[hooks]\nshare = [0.3, 0.6]\n'


def with_faces(client, binary, options=None, **more):
    """Returns a run whose client has our line and our hooks, as far as it can have them, by `ctxgauge setup`."""
    run = Run(client, binary, options, **more)
    run.configure_ctxgauge(CONFIGURATION)
    if client.has_line:
        set_up(run)
    if client.has_hooks:
        set_up(run, "--hooks")
    return run


def set_up(run, *more):
    """Runs `ctxgauge setup`; the client calls the recorder, since our name is entered and not our path."""
    done = run.ctxgauge("setup", run.client.agent, *more, "--by-name", "--write")
    if done.returncode:
        raise RuntimeError(done.stderr.strip())


def line_of(screen):
    """Returns the values of our line on a screen, or None."""
    found = re.findall(r"GAUGE ([^\n]*)", screen)
    return found[-1].split("|") if found else None


def tokens_of(text):
    """Returns the number that a text such as `~82.4k` or `1.2M` stands for, or None."""
    found = re.search(r"(\d+(?:\.\d+)?)(k|M)?", text or "")
    if not found:
        return None
    return round(float(found.group(1)) * {"k": 1000, "M": 1000000}.get(found.group(2), 1))


def shown_by_line(run, name="one"):
    """Returns the size of the context that the client's line shows."""
    line = line_of(run.screen(name))
    return tokens_of(line[0]) if line else None


def shown_by_status(run, *more):
    """Returns the size that `ctxgauge status` shows for the project's folder."""
    line = line_of(run.ctxgauge("status", "--color", "never", *(more or ("--cwd", run.work))).stdout)
    return tokens_of(line[0]) if line else None


def processes_of(run, words):
    """Returns the processes of a run whose command line has these words."""
    mark, found = f"HOME={run.home}\0".encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            if words in command and mark in (folder / "environ").read_bytes():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def answer_of_server(run):
    """Returns what `context_now` of the server answers for the newest session of the project's folder."""
    asked = [
        {"method": "initialize", "id": 1, "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "lab", "version": "1"}}},
        {"method": "notifications/initialized"},
        {"method": "tools/call", "id": 2, "params": {"name": "context_now", "arguments": {}}},
    ]  # fmt: skip
    lines = "".join(json.dumps({"jsonrpc": "2.0", **one}) + "\n" for one in asked)
    session = run.report()["session"]["id"]
    done = subprocess.run([run.binary, "mcp", "--session", session], input=lines, env={"HOME": str(run.home)},
                          cwd=run.work, capture_output=True, text=True, timeout=60)  # fmt: skip
    return json.loads(done.stdout.splitlines()[-1])["result"]["structuredContent"]["context"]
