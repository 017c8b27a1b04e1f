import base64
import json
import unittest
import urllib.error
import urllib.request

from provider import Provider
from provider.apis import anthropic, api_of, chat, gemini, responses
from provider.faults import without_usage
from provider.kinds import kind_of
from provider.media import media_of, picture
from provider.prompt import Answer, Call
from provider.steps import Steps, arguments, calls_of, tag_of
from provider.tokens import count, reasoning, reasoning_tokens
from rig.project import png

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

    def test_old_results_are_left_out_where_the_client_asks(self):
        calls = [("a", "Bash"), ("b", "Skill"), ("c", "Bash"), ("d", "Bash")]
        uses = [{"type": "tool_use", "id": call, "name": tool, "input": {}} for call, tool in calls]
        results = [{"type": "tool_result", "tool_use_id": call, "content": f"log {call} " * 100} for call, _ in calls]
        messages = [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]
        edit = {"type": "clear_tool_uses_20250919", "keep": {"type": "tool_uses", "value": 1}, "exclude_tools": ["Skill"]}

        def read(trigger):
            edits = [edit | {"trigger": {"type": "tool_uses", "value": trigger}}]
            return anthropic.read({"messages": messages, "context_management": {"edits": edits}}, "/v1/messages")

        whole, cleared = read(3), read(2)
        self.assertEqual(whole.cleared, (0, 0))
        same = [part.call for one, part in zip(whole.parts, cleared.parts) if part.role == "tool" and part == one]
        self.assertEqual(same, ["b", "d"])
        self.assertEqual(cleared.cleared, (2, whole.tokens - cleared.tokens))
        answer = anthropic.whole(Answer("m", "ok", [], cleared.tokens, 0, cleared=cleared.cleared))
        (applied,) = answer["context_management"]["applied_edits"]
        self.assertEqual(applied["cleared_input_tokens"], cleared.cleared[1])

    def test_tools_in_a_namespace_are_called_with_it(self):
        body = {"input": "hi", "tools": [{"type": "namespace", "name": "mcp__a", "tools": [{"name": "look"}]}]}
        tool = responses.read(body, "/v1/responses").tool("look")
        call = responses.whole(Answer("m", "", [Call("look", {}, tool)], 10, 0))["output"][0]
        self.assertEqual((call["name"], call["namespace"]), ("look", "mcp__a"))

    def test_an_item_that_asks_for_a_summary_gets_an_opaque_one(self):
        body = {"input": [{"type": "message", "role": "user", "content": "hi"}], "tools": [{"name": "shell"}]}
        asked = body | {"input": [*body["input"], {"type": "compaction_trigger"}]}
        kinds = [kind_of(responses.read(one, "/v1/responses")) for one in (body, asked)]
        self.assertEqual(kinds, ["main", "compact"])
        events = dict(responses.stream(Answer("m", "A summary.", [], 10, 0), asked))
        (item,) = events["response.completed"]["response"]["output"]
        self.assertEqual(item["type"], "compaction")

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
        noted = body | {"messages": [*body["messages"], {"role": "system", "content": "1000 tokens left"}]}
        self.assertEqual(kind_of(chat.read(noted, "")), "compact")

    def test_a_step_stays_until_its_faults_are_over(self):
        steps, step = Steps(), {"say": "a", "faults": [{"status": 429}, {"cut": True}]}
        steps.expect([step])
        taken = [steps.next("LAB-MAIN").get("fault") for _ in range(4)]
        self.assertEqual(taken, [{"status": 429}, {"cut": True}, None, None])

    def test_a_sub_agent_has_a_tag_of_its_own_and_its_parent_keeps_its_tag(self):
        def tag(*texts, inherits=False):
            messages = [{"role": "user", "content": text} for text in texts]
            return tag_of(chat.read(CHAT | {"messages": messages}, ""), inherits)

        self.assertEqual(tag("LAB-SUB-A read"), "LAB-SUB-A")
        self.assertEqual(tag("LAB-MAIN go", "done: LAB-SUB-A read"), "LAB-MAIN")
        self.assertEqual(tag("LAB-MAIN go", "LAB-SUB-A read", inherits=True), "LAB-SUB-A")

    def test_a_sub_agent_is_started_by_the_tool_that_the_client_has(self):
        schema = {"properties": {"prompt": {}, "subagent_type": {}, "why": {"type": "string"}}, "required": ["why"]}
        tool = {"type": "function", "function": {"name": "task", "parameters": schema}}
        (call,) = calls_of({"agent": "LAB-SUB-B read"}, chat.read(CHAT | {"tools": [tool]}, ""))
        self.assertEqual(call.name, "task")
        self.assertEqual(call.arguments, {"prompt": "LAB-SUB-B read", "subagent_type": "general", "why": "step"})

    def test_a_sub_agent_that_has_a_tool_to_end_with_ends_with_it(self):
        result = {"type": "object", "properties": {"response": {"type": "string"}}}
        tool = {"type": "function", "function": {"name": "complete_task", "parameters": {"properties": {"result": result}}}}
        (call,) = calls_of({"say": "Done."}, chat.read(CHAT | {"tools": [tool]}, ""))
        self.assertEqual(call.arguments, {"result": {"response": "Done."}})

    def test_a_sub_agent_may_be_started_by_a_script(self):
        tool = {"type": "function", "function": {"name": "run_typescript", "parameters": {"properties": {"code": {}}}}}
        (call,) = calls_of({"agent": "LAB-SUB read"}, chat.read(CHAT | {"tools": [tool]}, ""))
        self.assertIn('spawn({"name": "lab_sub", "message": "LAB-SUB read"})', call.arguments["code"])

    def test_a_client_that_ends_by_a_command_ends_with_it(self):
        asked = [{"role": "user", "content": "End with `echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT`."}]
        (call,) = calls_of({"say": "Done."}, chat.read(CHAT | {"messages": asked}, ""))
        self.assertEqual(call.arguments["command"], "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT")


class Media(unittest.TestCase):
    def test_a_picture_costs_what_its_provider_says(self):
        self.assertEqual(picture("anthropic", 200, 100), 8 * 4)
        self.assertEqual(picture("anthropic", 1920, 1080, "claude-opus-4-6"), 1568)
        self.assertEqual(picture("anthropic", 1920, 1080, "claude-opus-4-8"), 69 * 39)
        self.assertEqual([picture("gemini", *size) for size in ((300, 300), (1000, 700))], [258, 516])
        self.assertEqual(picture("chat", 3000, 2000), 1536)

    def test_its_base64_is_no_text(self):
        data = base64.b64encode(png(200, 100)).decode()
        image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": data}}
        result = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "A picture."}, image]}
        body = {"messages": [{"role": "user", "content": [result]}]}
        tool = anthropic.read(body, "/v1/messages").parts[1]
        self.assertEqual((tool.tokens, tool.media), (count("A picture.\n") + 32 + 4, 32))

    def test_a_paper_costs_its_pages(self):
        paper = base64.b64encode(b"%PDF-1.4 /Type /Pages /Type /Page /Type/Page ").decode()
        block = {"type": "input_file", "file_data": "data:application/pdf;base64," + paper}
        self.assertEqual(media_of("responses", block), 4000)


class Server(unittest.TestCase):
    def setUp(self):
        self.provider = Provider()
        self.addCleanup(self.provider.close)

    def post(self, body, provider=None):
        data = json.dumps(body).encode()
        url = (provider or self.provider).url
        with urllib.request.urlopen(url + "/v1/chat/completions", data) as answer:
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

    def test_all_counts_may_be_so_many_times_as_large(self):
        larger = Provider(thinking=50, times=9)
        self.addCleanup(larger.close)
        for provider in (self.provider, larger):
            provider.expect([{"run": "ls", "think": 50}, {"say": "done"}], "LAB-ONE")
        usages = [json.loads(self.post(CHAT, provider))["usage"] for provider in (self.provider, larger)]
        keys = ("prompt_tokens", "completion_tokens")
        self.assertEqual([usages[1][key] for key in keys], [usages[0][key] * 9 for key in keys])
        self.assertEqual(usages[1]["completion_tokens_details"]["reasoning_tokens"], 450)
        one, nine = self.provider.requests[0], larger.requests[0]
        self.assertEqual([part.tokens for part in nine.parts], [part.tokens * 9 for part in one.parts])

    def test_a_stream_ends_with_its_usage(self):
        events = self.post(CHAT | {"stream": True, "stream_options": {"include_usage": True}}).strip().split("\n\n")
        self.assertEqual(events[-1], "data: [DONE]")
        usage = json.loads(events[-2].removeprefix("data: "))["usage"]
        self.assertEqual(usage["prompt_tokens"], self.provider.requests[0].prompt)

    def test_an_error_comes_before_the_answer(self):
        self.provider.expect([{"say": "done", "faults": [{"status": 429}]}], "LAB-ONE")
        with self.assertRaises(urllib.error.HTTPError) as failed:
            self.post(CHAT)
        failed.exception.close()
        self.assertEqual(failed.exception.code, 429)
        self.assertIn("done", self.post(CHAT))
        self.assertEqual([one.is_reported for one in self.provider.of("LAB-ONE")], [False, True])

    def test_a_stream_is_cut_in_the_middle(self):
        self.provider.expect([{"say": "a long answer", "faults": [{"cut": True}]}], "LAB-ONE")
        self.assertEqual(self.post(CHAT | {"stream": True}).count("data: "), 1)

    def test_an_answer_may_be_without_its_usage(self):
        self.provider.expect([{"say": "a", "usage": "none"}, {"say": "b", "usage": "zero"}], "LAB-ONE")
        self.assertNotIn("usage", json.loads(self.post(CHAT)))
        self.assertEqual(json.loads(self.post(CHAT))["usage"]["prompt_tokens"], 0)

    def test_usage_is_left_out_wherever_it_is(self):
        event = {"message": {"usage": {"input_tokens": 5, "cache": {"read": 3}}, "id": "a"}}
        self.assertEqual(without_usage(event, "none"), {"message": {"id": "a"}})
        zeros = {"input_tokens": 0, "cache": {"read": 0}}
        self.assertEqual(without_usage(event, "zero"), {"message": {"usage": zeros, "id": "a"}})


class Cache(unittest.TestCase):
    def cached(self, clock, ttl):
        provider = Provider(clock=clock)
        self.addCleanup(provider.close)
        control = {"cache_control": {"type": "ephemeral"} | ({"ttl": ttl} if ttl else {})}
        system = [{"type": "text", "text": "Help with the store. " * 40} | control]
        body = {"system": system, "messages": [{"role": "user", "content": "LAB-MAIN go"}]}
        prompt = anthropic.read(body, "/v1/messages")
        provider.answer(anthropic, prompt)
        answer, _ = provider.answer(anthropic, prompt)
        return answer.cached, anthropic.whole(answer)["usage"]["cache_creation"]

    def test_a_prompt_is_cached_for_as_long_as_the_client_asks(self):
        self.assertGreater(self.cached(1, None)[0], 0)
        self.assertEqual(self.cached(1e12, None)[0], 0)
        self.assertEqual(self.cached(1e12, None)[1]["ephemeral_1h_input_tokens"], 0)
        self.assertGreater(self.cached(1e12, "1h")[1]["ephemeral_1h_input_tokens"], 0)
