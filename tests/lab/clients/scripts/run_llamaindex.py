"""LlamaIndex, and spans of OpenInference."""

import asyncio
import json

import spans
import turn
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.workflow import Context
from llama_index.llms.openai_like import OpenAILike
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

LlamaIndexInstrumentor().instrument(tracer_provider=spans.record())


async def main():
    model = OpenAILike(
        model=turn.MODEL, api_base=turn.URL, api_key=turn.KEY, context_window=200000,
        is_chat_model=True, is_function_calling_model=True,
    )  # fmt: skip
    agent = FunctionAgent(tools=[turn.bash], llm=model, system_prompt=turn.SYSTEM)
    history = turn.history()
    context = Context.from_dict(agent, json.loads(history)) if history else Context(agent)
    done = await agent.run(turn.PROMPT, ctx=context)
    turn.keep(json.dumps(context.to_dict()))
    print(done)


asyncio.run(main())
