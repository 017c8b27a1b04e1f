"""AutoGen: an assistant, and the events of its logger, a line for each request."""

import asyncio
import json
import logging

import turn
from autogen_agentchat.agents import AssistantAgent
from autogen_core import EVENT_LOGGER_NAME
from autogen_ext.models.openai import OpenAIChatCompletionClient

# What it has to be told of a model that it does not know.
ABILITIES = {
    "vision": False,
    "function_calling": True,
    "json_output": False,
    "structured_output": False,
    "family": "unknown",
}


async def main():
    events = logging.getLogger(EVENT_LOGGER_NAME)
    events.setLevel(logging.INFO)
    events.addHandler(logging.StreamHandler(turn.log()))
    client = OpenAIChatCompletionClient(model=turn.MODEL, model_info=ABILITIES)
    agent = AssistantAgent("lab", client, tools=[bash], system_message=turn.SYSTEM, max_tool_iterations=20)
    if history := turn.history():
        await agent.load_state(json.loads(history))
    done = await agent.run(task=turn.PROMPT)
    turn.keep(json.dumps(await agent.save_state()))
    print(done.messages[-1].to_text())


async def bash(command: str) -> str:
    """Run a command in the shell."""
    return turn.bash(command)


asyncio.run(main())
