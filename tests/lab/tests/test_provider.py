import json
import unittest
import urllib.request

from provider import Provider
from provider.apis import anthropic, api_of, chat, gemini, responses
from provider.kinds import kind_of
from provider.prompt import Answer, Call
from provider.steps import Steps, arguments, tag_of
from provider.tokens import count, reasoning, reasoning_tokens

SHELL = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command", "is_background"]}
CHAT = {
    "model": "m",
    "messages": [{"role": "system", "content": "Help."}, {"role": "user", "content": "LAB-ONE hello"}],
    "tools": [{"type": "function", "function": {"name": "bash", "parameters": SHELL}}],
}


class Tokens(unittest.TestCase):
    def test_counts_are_those_of_o200k(self):
        self.assertEqual(count("hello world"), 2)
        self.assertEqual(count("tiktoken is great!"), 6)

    def test_reasoning_stands_for_its_tokens(self):
        self.assertEqual(reasoning_tokens(reasoning(900)), 900)


class Prompts(unittest.TestCase):
    def test_a_chat_has_its_schemas_roles_and_frames(self):
        prompt = chat.read(CHAT, "/v1/chat/completions")
        self.assertEqual([part.role for part in prompt.parts], ["schema", "system", "user"])
        self.assertEqual(prompt.parts[1].tokens, count("Help.") + 4)

    def test_reminders_in_a_result_are_parts_of_their_own(self):
        result = {"type": "tool_result", "tool_use_id": "a", "content": "out<system-reminder>mind</system-reminder>"}
        body = {"messages": [
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "Bash", "input": {}}]},
            {"role": "user", "content": [result]},
        ]}  # fmt: skip
        parts = anthropic.read(body, "/v1/messages").parts
        self.assertEqual([(part.role, part.text, part.tool) for part in parts[2:]], [
            ("tool", "out", "Bash"), ("reminder", "<system-reminder>mind</system-reminder>", None),
        ])  # fmt: skip

    def test_tools_in_a_namespace_are_called_with_it(self):
        body = {"input": "hi", "tools": [{"type": "namespace", "name": "mcp__a", "tools": [{"name": "look"}]}]}
        tool = responses.read(body, "/v1/responses").tool("look")
        call = responses.whole(Answer("m", "", [Call("look", {}, tool)], 10, 0))["output"][0]
        self.assertEqual((call["name"], call["namespace"]), ("look", "mcp__a"))

    def test_the_api_is_that_of_the_path(self):
        for path, api in {
            "/v1/messages": anthropic,
            "/v1/responses/compact": responses,
            "/v1beta/models/m:streamGenerateContent": gemini,
            "/elsewhere": None,
        }.items():
            self.assertIs(api_of(path), api, path)


class Plans(unittest.TestCase):
    def test_sessions_take_their_own_steps_and_end_after_the_last(self):
        steps = Steps()
        steps.expect([{"say": "a"}], "LAB-A")
        steps.expect([{"say": "b"}], "LAB-B")
        self.assertEqual([steps.next("LAB-B"), steps.next("LAB-A")], [{"say": "b"}, {"say": "a"}])
        self.assertIn("say", steps.next("LAB-A"))

    def test_a_tag_is_the_newest_of_the_user(self):
        self.assertEqual(tag_of(chat.read(CHAT, "")), "LAB-ONE")

    def test_a_shell_gets_all_that_its_schema_requires(self):
        self.assertEqual(arguments(SHELL, "ls"), {"command": "ls", "is_background": "step"})
        of_list = {"properties": {"command": {"type": "array"}}}
        self.assertEqual(arguments(of_list, "ls"), {"command": ["bash", "-lc", "ls"]})

    def test_a_request_without_tools_is_beside_the_session(self):
        self.assertEqual(kind_of(chat.read(CHAT, "")), "main")
        self.assertEqual(kind_of(chat.read(CHAT | {"tools": []}, "")), "side")

    def test_a_request_for_a_summary_is_known_by_its_last_text(self):
        asked = "Please create a detailed summary of the conversation so far. " * 8
        body = CHAT | {"messages": [{"role": "user", "content": asked}]}
        self.assertEqual(kind_of(chat.read(body, "")), "compact")


class Server(unittest.TestCase):
    def setUp(self):
        self.provider = Provider()
        self.addCleanup(self.provider.close)

    def post(self, body):
        data = json.dumps(body).encode()
        with urllib.request.urlopen(self.provider.url + "/v1/chat/completions", data) as answer:
            return answer.read().decode()

    def test_what_is_reported_is_what_was_counted(self):
        self.provider.expect([{"run": "ls"}, {"say": "done"}], "LAB-ONE")
        first, second = json.loads(self.post(CHAT)), json.loads(self.post(CHAT))
        self.assertEqual(first["choices"][0]["finish_reason"], "tool_calls")
        self.assertEqual(second["choices"][0]["message"]["content"], "done")
        one, two = self.provider.of("LAB-ONE")
        self.assertEqual(first["usage"]["prompt_tokens"], one.prompt)
        self.assertEqual((one.ends_turn, two.ends_turn), (False, True))
        self.assertEqual(two.cached, two.prompt // 64 * 64)

    def test_a_stream_ends_with_its_usage(self):
        events = self.post(CHAT | {"stream": True, "stream_options": {"include_usage": True}}).strip().split("\n\n")
        self.assertEqual(events[-1], "data: [DONE]")
        usage = json.loads(events[-2].removeprefix("data: "))["usage"]
        self.assertEqual(usage["prompt_tokens"], self.provider.requests[0].prompt)
