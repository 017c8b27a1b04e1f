"""OpenHands' agent SDK, with its own store of conversations."""

import os
import uuid
from pathlib import Path

import turn
from openhands.sdk import LLM, Agent, Conversation, LLMSummarizingCondenser, Tool
from openhands.tools.terminal import TerminalTool
from pydantic import SecretStr

STORE = Path(os.environ["LAB_STORE"])
LIMIT = int(os.environ["LAB_LIMIT"])


def main():
    agent = Agent(llm=_model("agent"), tools=[Tool(name=TerminalTool.name)], condenser=_condenser())
    conversation = Conversation(
        agent=agent, workspace=os.getcwd(), persistence_dir=STORE, conversation_id=_id(), visualizer=None
    )
    conversation.send_message(turn.PROMPT)
    conversation.run()


def _model(usage):
    return LLM(model=f"openai/{turn.MODEL}", base_url=turn.URL, api_key=SecretStr(turn.KEY), usage_id=usage,
               num_retries=0)  # fmt: skip


def _condenser():
    if not LIMIT:
        return None
    return LLMSummarizingCondenser(llm=_model("condenser"), max_tokens=LIMIT, keep_first=2)


def _id():
    """Returns the id of the newest conversation where it goes on, else one that no other has."""
    if not turn.CONTINUES:
        return uuid.uuid4()
    newest = max(STORE.iterdir(), key=lambda folder: folder.stat().st_mtime)
    return uuid.UUID(newest.name)


main()
