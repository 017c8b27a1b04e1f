"""The OpenAI Agents SDK over the Responses API, and spans of OpenLLMetry, which have the usage of this API only."""

import json

import agents
import spans
import turn
from opentelemetry.instrumentation.openai_agents import OpenAIAgentsInstrumentor

# Its own recorder sends what it records away.
agents.set_trace_processors([])
OpenAIAgentsInstrumentor().instrument(tracer_provider=spans.record())

agent = agents.Agent(name="lab", instructions=turn.SYSTEM, tools=[agents.function_tool(turn.bash)], model=turn.MODEL)
history = json.loads(turn.history() or "[]")
done = agents.Runner.run_sync(agent, [*history, {"role": "user", "content": turn.PROMPT}], max_turns=20)
turn.keep(json.dumps(done.to_input_list()))
print(done.final_output)
