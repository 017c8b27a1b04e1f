"""The server in clients: whose session an answer is about, and what an answer costs."""

import json
import re
import threading
import time
from dataclasses import dataclass

from claims.claim import Seen, claims_of
from clients.client import Options
from provider.steps import TAG_OF_ONE
from provider.tokens import count
from rig import server
from rig.run import Run
from rig.terminal import wait

CLAIMS = []
claim = claims_of("mcp.md", CLAIMS)

TIMES = 4
ANSWER_TOKENS = range(300, 450)
# What they say of a session whose client does not name it: two calls at once, or in Gemini CLI any, may be either's.
UNSURE = ("gemini", "opencode", "pi")
FRESH = {"claude": "/clear", "codex": "/new", "copilot": "/clear", "gemini": "/clear", "qwen": "/clear", "opencode": "/new", "pi": "/new"}
# How a client goes back to its earlier session: a command, a text of the list that it shows, and the keys that choose in it.
RESUMES = {
    "claude": ("/resume", "LAB-ONE", ["Enter"]),
    "codex": ("/resume", "LAB-ONE", ["Down", "Enter"]),
    "copilot": ("/resume", "LAB-ONE", ["Down", "Enter"]),
    "opencode": ("/sessions", "Today", ["Down", "Enter"]),
    "pi": ("/resume", "LAB-ONE", ["Down", "Enter"]),
    "qwen": ("/resume", "LAB-ONE", ["Down", "Enter"]),
}
# A session that is loaded shows nothing that is the same in all clients.
LOADING = 4
READ = {"run": "python3 lines.py 20000 1"}
SUB_AGENT = "LAB-SUB"
SUB_AGENTS_ON = {"codex": ["-c", "features.multi_agent_v2=true"]}
PROMPT = "Say how full you are."
ORDER = f"{SUB_AGENT} {PROMPT}"
# How a sub-agent is started, where it has the tools of servers.
STARTS = {
    "claude": ("Agent", {"subagent_type": "general-purpose", "description": "ask", "prompt": ORDER}),
    "codex": ("spawn_agent", {"task_name": "reader", "fork_turns": "none", "message": ORDER}),
    "copilot": ("task", {"agent_type": "general-purpose", "name": "reader", "description": "ask", "prompt": ORDER}),
    "opencode": ("task", {"subagent_type": "general", "description": "ask", "prompt": ORDER}),
    "qwen": ("agent", {"subagent_type": "general-purpose", "description": "ask", "prompt": ORDER}),
}


@dataclass
class Answer:
    """What the server said of a session: its known size, how it was found, and what makes that uncertain."""

    known: int
    found_by: str
    note: str
    text: str


def answers_to(run, tag):
    """Returns the answers that a session's prompts contain, in their order."""
    results = {}
    for request in run.provider.of(tag):
        for part in request.parts:
            if part.role == "tool" and part.call and "found_by" in part.text:
                results[part.call] = part.text
    return [answer for text in results.values() if (answer := read_answer(text))]


def read_answer(text):
    """Returns the answer in a result, in which a client may have put it as a string of JSON; None: there is none."""
    for _ in range(4):
        for begin in re.finditer(r'\{"', text):
            try:
                value = json.JSONDecoder().raw_decode(text, begin.start())[0]
            except ValueError:
                continue
            session = value.get("session")
            if isinstance(session, dict) and "found_by" in session and "context" in value:
                return Answer(value["context"]["known"], session["found_by"], session.get("note", ""), json.dumps(value))
        text = text.replace('\\"', '"').replace("\\\\", "\\")
    return None


def is_of(run, answer, tag):
    """Returns whether an answer has a size that the session with this tag has had."""
    return any(answer.known in (request.prompt, request.after) for request in run.provider.of(tag))


def asks(client, times=TIMES, pause=0.5):
    """Returns the steps of a turn that asks several times."""
    rest = {"run": f"sleep {pause}"}
    return [rest, *server.look(client), *[server.ask(client), rest] * times, {"say": "Asked."}]


def judged(run, says, tags, times, may_be_unsure=False):
    """Judges the answers to the sessions with these tags. Their sizes tell them apart; a note may say that it is unsure."""
    right = silent = total = 0
    notes, found_by = 0, set()
    for tag in tags:
        for answer in answers_to(run, tag):
            is_right = is_of(run, answer, tag)
            total += 1
            right += is_right
            notes += bool(answer.note)
            silent += not is_right and not answer.note
            found_by.add(answer.found_by)
    seen = f"{right} of {total} right, {notes} with a note; {', '.join(sorted(found_by))}"
    return Seen(says, seen, total == times and not silent and (right == total or may_be_unsure))


@claim("claude", "codex", "copilot", "gemini", "qwen", "opencode", "pi")
def two_at_once(client, binary):
    """Two sessions in one folder, which ask in turn and at once."""
    with Run(client, binary) as run:
        server.add(run)
        # The second one is larger than the first ever gets.
        turns = {"LAB-ONE": asks(client, pause=1.1), "LAB-TWO": [READ, *asks(client, pause=0.7)]}
        threads = [
            threading.Thread(target=run.headless, args=(PROMPT, steps), kwargs={"tag": tag})
            for tag, steps in turns.items()
        ]
        for thread in threads:
            thread.start()
            time.sleep(2)  # OpenCode makes its database at its first start.
        for thread in threads:
            thread.join()
        says = "of two sessions each gets its own numbers"
        says += " or a note with both" if client.name in UNSURE else ""
        yield judged(run, says, ("LAB-ONE", "LAB-TWO"), 2 * TIMES, client.name in UNSURE)
        costs = [count(answer.text) for tag in turns for answer in answers_to(run, tag) if not answer.note]
        if costs:
            yield Seen("an answer is about 350 tokens", f"{min(costs)} to {max(costs)}", all(cost in ANSWER_TOKENS for cost in costs))


@claim(*STARTS)
def a_sub_agent_asks(client, binary):
    """A session starts a sub-agent, which asks, and asks itself afterwards."""
    with Run(client, binary, Options(more=SUB_AGENTS_ON.get(client.name, []))) as run:
        server.add(run)
        tool, arguments = STARTS[client.name]
        start = {"tool": tool, "args": arguments}
        run.provider.expect(asks(client, 2), SUB_AGENT)
        run.headless("Let a sub-agent ask.", [READ, start, {"run": "sleep 6"}, *asks(client, 2)])
        says = "a sub-agent gets its own numbers, and so does its parent"
        yield judged(run, says, (SUB_AGENT, TAG_OF_ONE), 4)


@claim("claude", "codex", "copilot", "gemini", "qwen", "opencode", "pi")
def a_new_session_in_the_same_process(client, binary):
    """The client begins a new session by its own command, and goes on with the server that it has."""
    with Run(client, binary) as run:
        server.add(run)
        run.open()
        run.ask("Read.", [READ, *asks(client, 1)], tag="LAB-ONE")
        run.enter(FRESH[client.name])
        run.ready()
        run.ask(PROMPT, asks(client, 2), tag="LAB-TWO")
        says = f"after {FRESH[client.name]} the numbers are those of the new session, or a note says what else may be"
        yield judged(run, says, ("LAB-ONE", "LAB-TWO"), 3, may_be_unsure=True)


@claim("claude", "codex", "copilot", "gemini", "qwen", "opencode", "pi")
def a_session_goes_on_in_another_process(client, binary):
    with Run(client, binary) as run:
        server.add(run)
        run.headless(PROMPT, [READ, *asks(client, 1)])
        run.headless(PROMPT, asks(client, 1), resume=True)
        yield judged(run, "a session that goes on gets its own numbers", (TAG_OF_ONE,), 2)


@claim(*RESUMES)
def an_earlier_session_in_the_same_process(client, binary):
    """The client goes back to the session that it had before, by its own command."""
    with Run(client, binary) as run:
        server.add(run)
        run.open()
        run.ask("Read.", [READ, {"say": "Read."}], tag="LAB-ONE")
        run.enter(FRESH[client.name])
        run.ready()
        run.ask(PROMPT, asks(client, 1), tag="LAB-TWO")
        command, listed, keys = RESUMES[client.name]
        run.enter(command)
        wait(lambda: listed in run.screen(), 30, "a list of sessions")
        for key in keys:
            time.sleep(1)  # Two keys at once are one to some clients.
            run.terminal.keys("one", key)
        time.sleep(LOADING)
        run.ask(PROMPT, asks(client, 2), tag="LAB-ONE")
        says = "back in an earlier session the numbers are its own, or a note says what else may be"
        yield judged(run, says, ("LAB-ONE", "LAB-TWO"), 3, may_be_unsure=True)
