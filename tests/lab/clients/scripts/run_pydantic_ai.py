"""Pydantic AI, and its own spans."""

import spans
import turn
from pydantic_ai import Agent, ModelMessagesTypeAdapter
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.openai import OpenAIChatModel

Agent.instrument_all(InstrumentationSettings(tracer_provider=spans.record(), include_content=True))

agent = Agent(OpenAIChatModel(turn.MODEL), system_prompt=turn.SYSTEM, name="lab", tools=[turn.bash])
history = turn.history()
past = ModelMessagesTypeAdapter.validate_json(history) if history else None
done = agent.run_sync(turn.PROMPT, message_history=past)
turn.keep(done.all_messages_json().decode())
print(done.output)
