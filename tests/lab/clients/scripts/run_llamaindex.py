"""LlamaIndex, and spans of OpenInference."""

import asyncio
import json

import spans
import turn
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.llms import ChatMessage
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.llms.openai_like import OpenAILike
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

LlamaIndexInstrumentor().instrument(tracer_provider=spans.record())


async def main():
    model = OpenAILike(
        model=turn.MODEL, api_base=turn.URL, api_key=turn.KEY, context_window=200000,
        is_chat_model=True, is_function_calling_model=True,
    )  # fmt: skip
    # While it streams it does not ask for the usage.
    agent = FunctionAgent(tools=[turn.bash], llm=model, system_prompt=turn.SYSTEM, streaming=False)
    # Without a limit it leaves out what is beyond a few thousand tokens.
    memory = ChatMemoryBuffer(token_limit=200000)
    memory.set([ChatMessage.model_validate(one) for one in json.loads(turn.history() or "[]")])
    done = await agent.run(turn.PROMPT, memory=memory)
    turn.keep(json.dumps([json.loads(message.model_dump_json()) for message in memory.get_all()]))
    print(done)


asyncio.run(main())
