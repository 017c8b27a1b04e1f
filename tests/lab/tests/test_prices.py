import unittest
from types import SimpleNamespace as Request

from prices import BEGIN, END, Price, looked_up, own_tools, page_block, with_block
from provider.prompt import Part


def schema(name, tokens, text=""):
    return Part("schema", text or name, tool=name, tokens=tokens)


class Prices(unittest.TestCase):
    def test_tools_of_the_client_itself_are_those_that_came_with_the_server_and_are_not_ours(self):
        without = Request(parts=[schema("shell", 50)])
        having = Request(parts=[schema("shell", 50), schema("tool_search", 30), schema("ctxgauge_context_now", 60)])
        self.assertEqual(own_tools(without, having), 30)

    def test_definitions_that_were_looked_for_are_tools_or_in_the_result(self):
        before = Request(parts=[schema("shell", 50), Part("tool", "", tokens=9)])
        as_tools = Request(parts=[schema("shell", 50), schema("context_now", 60), Part("tool", "", tokens=20)])
        in_result = Request(parts=[schema("shell", 50), Part("tool", "", tokens=9), Part("tool", "", tokens=70)])
        self.assertEqual([looked_up(before, after) for after in (as_tools, in_result)], [60, 70])

    def test_the_page_gets_a_row_for_each_client(self):
        prices = [Price("codex", "1.2", 440, 300, 388), Price("gemini", "3.4", 538, 0, None)]
        block = page_block(650, prices)
        self.assertIn("have 650 tokens", block)
        self.assertIn("| Codex 1.2 | 440 | 300 | 388 |\n| Gemini CLI 3.4 | 538 |  |  |\n", block)
        page = f"a\n{BEGIN}old\n{END}b\n"
        self.assertEqual(with_block(page, block), f"a\n{BEGIN}{block}{END}b\n")
