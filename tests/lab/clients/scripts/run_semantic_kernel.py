"""Semantic Kernel: its own spans, and the log records that have the messages."""

import asyncio
import logging

import spans
import turn
from openai import AsyncOpenAI
from opentelemetry.sdk._logs import LoggingHandler
from semantic_kernel.agents import ChatCompletionAgent, ChatHistoryAgentThread
from semantic_kernel.connectors.ai.function_choice_behavior import FunctionChoiceBehavior
from semantic_kernel.connectors.ai.open_ai import OpenAIChatCompletion
from semantic_kernel.contents import ChatHistory
from semantic_kernel.functions import kernel_function


class Shell:
    @kernel_function(name="bash", description="Run a command in the shell.")
    def bash(self, command: str) -> str:
        return turn.bash(command)


async def main():
    spans.record()
    handler = LoggingHandler(logger_provider=spans.record_logs())
    handler.addFilter(logging.Filter("semantic_kernel"))
    logging.getLogger().addHandler(handler)
    logging.getLogger().setLevel(logging.INFO)
    # By default it ends a turn after five calls.
    agent = ChatCompletionAgent(
        name="lab", instructions=turn.SYSTEM, plugins=[Shell()],
        service=OpenAIChatCompletion(ai_model_id=turn.MODEL, async_client=AsyncOpenAI()),
        function_choice_behavior=FunctionChoiceBehavior.Auto(maximum_auto_invoke_attempts=20),
    )  # fmt: skip
    history = turn.history()
    past = ChatHistory.restore_chat_history(history) if history else ChatHistory()
    thread = ChatHistoryAgentThread(past)
    done = await agent.get_response(messages=turn.PROMPT, thread=thread)
    turn.keep(past.serialize())
    print(done.message.content)
    # What is logged at the end of the process has no log any more.
    logging.getLogger().removeHandler(handler)


asyncio.run(main())
