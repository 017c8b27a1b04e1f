"""What a request is for: the session itself, a summary of it, or something beside it."""

import random
import re

# droid refuses a summary that says the same again and again.
_draw = random.Random(3)
SUMMARY = "Earlier the user asked for shell commands, and they were run one by one. " + " ".join(
    f"Worker {number} {_draw.choice(('opened', 'closed', 'retried', 'refused'))} shelf {_draw.randrange(400)}."
    for number in range(1, 46)
)

# A helper without tools that summarises, by its system prompt.
HELPER = re.compile(
    r"context summarization (assistant|agent)|summarizes internal chat history|<state_snapshot>"
    r"|summari[sz]ing conversations|maintaining a context-aware state summary|summarize the provided coding session",
    re.I,
)
# Work beside the session that has tools all the same, by its system prompt or its last text.
BESIDE = re.compile(
    r"acting as the managed memory|^\[SUGGESTION MODE|^<system-reminder>Write an ultra-short dashboard line", re.I
)
# A request for a summary, by its last text.
ASKED = re.compile(
    r"CONTEXT CHECKPOINT COMPACTION|create a detailed summary of|<state_snapshot>|summarize the following conversation"
    r"|^Previous summary:"
    r"|\b(create|provide|write|produce|generate)\b[^.]{0,120}\b(summary|handoff)\b"
    r"[^.]{0,160}\b(conversation|session|agent|LLM|history)\b",
    re.I,
)

SHELLS = [
    "Bash", "bash", "exec_command", "shell", "shell_command", "local_shell", "run_shell_command", "run_command",
    "execute_command", "exec", "terminal", "execute", "Execute", "Shell", "run_terminal_command", "Shell-bash",
    "run_commands",
]  # fmt: skip


def shell_of(prompt):
    """Returns the name of the client's tool for shell commands, or None."""
    return next((name for name in SHELLS if prompt.tool(name)), None)


def kind_of(prompt, planned=()):
    """Returns main, compact or side. `planned` are the tools that the plan calls by name."""
    last = next((part for part in reversed(prompt.parts) if not _is_passed_over(part)), None)
    asked = last.text if last and last.role in ("user", "system") else ""
    if len(asked) > 300 and ASKED.search(asked[:600] + asked[-6000:]):
        return "compact"
    system = "\n".join(part.text for part in prompt.parts if part.role == "system")
    if not prompt.tools and HELPER.search(system[:6000]):
        return "compact"
    if prompt.no_calls:
        return "compact"
    if BESIDE.search(system[:6000]) or BESIDE.search(asked):
        return "side"
    if not shell_of(prompt) and not any(prompt.tool(name) for name in planned):
        return "side"
    return "main"


def _is_passed_over(part):
    """Returns whether a part at the end says nothing of the kind. Claude Code may end with a short note of the system."""
    return part.role in ("assistant", "schema") or part.role == "system" and len(part.text) < 100


def summary_for(api, prompt):
    """Returns a summary in the form that a client of this API asks for."""
    if api == "anthropic":
        return f"<analysis>All was read.</analysis>\n<summary>\n{SUMMARY}</summary>"
    wants_snapshot = any("<state_snapshot>" in part.text for part in prompt.parts)
    return f"<state_snapshot>{SUMMARY}</state_snapshot>" if wants_snapshot else SUMMARY
