"""Strands Agents, and its own spans."""

import json

import spans
import turn
from strands import Agent, tool
from strands.models.openai import OpenAIModel

spans.record()

model = OpenAIModel(client_args={"api_key": turn.KEY, "base_url": turn.URL}, model_id=turn.MODEL)
agent = Agent(
    model=model, tools=[tool(turn.bash)], system_prompt=turn.SYSTEM, agent_id="lab", callback_handler=None,
    messages=json.loads(turn.history() or "[]"),
)  # fmt: skip
done = agent(turn.PROMPT)
turn.keep(json.dumps(agent.messages))
print(done)
