"""LiteLLM: a loop of our own, and its standard logging payload, a line for each request."""

import json

import litellm
import turn
from litellm.integrations.custom_logger import CustomLogger

TOOL = {
    "type": "function",
    "function": {
        "name": "bash",
        "description": "Run a command in the shell.",
        "parameters": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
    },
}
SENT = ("role", "content", "tool_calls")


class Logger(CustomLogger):
    def __init__(self):
        super().__init__()
        self.lines, self._log = 0, turn.log()

    def log_success_event(self, kwargs, response_obj, start_time, end_time):
        self._log.write(json.dumps(kwargs["standard_logging_object"], default=str) + "\n")
        self.lines += 1


def main():
    logger = Logger()
    litellm.callbacks = [logger]
    history = turn.history()
    messages = json.loads(history) if history else [{"role": "system", "content": turn.SYSTEM}]
    messages.append({"role": "user", "content": turn.PROMPT})
    requests, answer = 0, None
    while answer is None or answer.tool_calls:
        answer = _answer(messages)
        requests += 1
        messages.append({key: value for key, value in answer.model_dump().items() if key in SENT and value})
        for call in answer.tool_calls or []:
            result = turn.bash(**json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
    turn.keep(json.dumps(messages))
    # It logs in a thread of its own, which does not outlive the process.
    turn.wait(lambda: logger.lines == requests)
    print(answer.content)


def _answer(messages):
    model = f"openai/{turn.MODEL}"
    done = litellm.completion(model=model, api_base=turn.URL, api_key=turn.KEY, messages=messages, tools=[TOOL])
    return done.choices[0].message


main()
