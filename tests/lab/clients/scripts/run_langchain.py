"""LangChain, and spans of OpenLLMetry."""

import json

import spans
import turn
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, messages_from_dict, messages_to_dict
from langchain_openai import ChatOpenAI
from opentelemetry.instrumentation.langchain import LangchainInstrumentor

spans.record_logs()
LangchainInstrumentor().instrument(tracer_provider=spans.record())

agent = create_agent(ChatOpenAI(model=turn.MODEL), tools=[turn.bash], system_prompt=turn.SYSTEM)
past = messages_from_dict(json.loads(turn.history() or "[]"))
done = agent.invoke({"messages": [*past, HumanMessage(turn.PROMPT)]}, {"recursion_limit": 60})
turn.keep(json.dumps(messages_to_dict(done["messages"])))
print(done["messages"][-1].content)
