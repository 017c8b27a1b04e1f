import unittest

import catalogue
from catalogues import literal, table
from catalogues.entry import Entry, factor, prices
from catalogues.merge import differences, gathered, is_within, key, merged, priced, reduced
from catalogues.sources import ClaudeList, LiteLLM, ModelsDev, PiAi


class Source:
    def __init__(self, mark, title, version):
        self.mark, self.title = mark, title
        self.version = lambda: version


def rows_of(catalogues):
    said = gathered(catalogues)
    return priced([merged(*name, by_mark) for name, by_mark in said.items()])


def lines_of(catalogues):
    return [table.line(row) for row in reduced(rows_of(catalogues))[0]]


class Literals(unittest.TestCase):
    def test_objects_lists_texts_and_numbers_are_read(self):
        text = """x={a:1e6,"b-c":[!0,!1,null,void 0],d:{'e':.5,f:"say \\"\\u00e9\\"\\x41"},g:`h`,i:-2,}more"""
        read = literal.read(text, 2)
        self.assertEqual(read["a"], 1_000_000)
        self.assertEqual(read["b-c"], [True, False, None, None])
        self.assertEqual(read["d"], {"e": 0.5, "f": 'say "é"A'})
        self.assertEqual((read["g"], read["i"]), ("h", -2))

    def test_what_is_no_literal_is_an_error(self):
        for text in ("{a:f(1)}", "{a:1", "{...b}", "[1,(2)]"):
            with self.assertRaises(ValueError, msg=text):
                literal.read(text, 0)


class Sources(unittest.TestCase):
    def test_a_model_of_pi_has_its_own_window_and_no_price_of_zero(self):
        tier = {"inputTokensAbove": 9, "input": 10, "output": 45}
        cost = {"input": 5, "output": 30, "cacheRead": 0.5, "cacheWrite": 0, "tiers": [tier]}
        entry = PiAi()._entry({"id": "gpt-5.5", "contextWindow": 272_000, "maxTokens": 128_000, "cost": cost})
        self.assertEqual((entry.window, entry.client, entry.prices), (272_000, "pi", prices(5, 30, 0.5)))
        self.assertEqual(entry.long, {9: prices(10, 45)})
        unknown = {"contextWindow": 1, "maxTokens": 1, "cost": {"input": 0, "output": 0, "cacheRead": 0}}
        self.assertFalse(PiAi()._entry(unknown | {"id": "glm-5.3"}).prices)
        self.assertTrue(PiAi()._entry(unknown | {"id": "glm-5.3-free"}).prices)

    def test_a_mode_of_models_dev_multiplies_prices(self):
        fast = {"cost": {"input": 12.5, "output": 75}, "provider": {"body": {"service_tier": "priority"}}}
        model = {
            "limit": {"context": 1_050_000, "input": 922_000, "output": 0},
            "cost": {"input": 5, "output": 30},
            "experimental": {"modes": {"fast": fast}},
            "modalities": {"output": ["text"]},
            "tool_call": True,
        }
        entry = ModelsDev()._entry(model)
        self.assertEqual((entry.window, entry.input, entry.output, entry.modes), (1_050_000, 922_000, None, {"priority": 2.5}))
        self.assertEqual(ModelsDev()._entry(model | {"tool_call": False}).why_not, "calls no tools")
        self.assertEqual(ModelsDev()._entry(model | {"modalities": {"output": ["image"]}}).why_not, "writes no text")

    def test_a_factor_is_known_where_input_and_output_have_the_same(self):
        self.assertEqual(factor(prices(2, 10), prices(4, 20)), 2)
        self.assertIsNone(factor(prices(2, 10), prices(4, 15)))
        self.assertIsNone(factor(prices(2, 10), prices()))

    def test_prices_of_litellm_are_for_a_million_tokens(self):
        model = {
            "input_cost_per_token": 1e-07,
            "output_cost_per_token": 5e-07,
            "cache_creation_input_token_cost_above_1hr": 2e-07,
            "input_cost_per_token_above_100k_tokens": 5e-07,
            "output_cost_per_token_above_100k_tokens": 2.5e-06,
            "input_cost_per_token_batches": 5e-08,
            "output_cost_per_token_batches": 2.5e-07,
            "provider_specific_entry": {"fast": 2.0},
            "max_input_tokens": "as many as there are",
            "mode": "chat",
            "supports_function_calling": True,
        }
        entry = LiteLLM()._entry(model)
        self.assertEqual((entry.prices, entry.long), (prices(0.1, 0.5, hour=0.2), {100_000: prices(0.5, 2.5)}))
        self.assertEqual((entry.window, entry.modes), (None, {"batch": 0.5, "fast": 2.0}))

    def test_claude_codes_prices_are_those_of_the_models_tier(self):
        tier = {"input": 1, "output": 5, "cache_read": 0.1, "cache_write_5m": 1.25, "cache_write_1h": 2}
        model = {"max_output_tokens": {"default": 32_000, "upper": 64_000}, "context": {"window": 200_000.0}}
        entry = ClaudeList()._entry(model, tier | {"long_prompt": tier | {"above_prompt_tokens": 1e5, "input": 3}})
        self.assertEqual((entry.window, entry.output, entry.prices), (200_000, 64_000, prices(1, 5, 0.1, 1.25, 2)))
        self.assertEqual(entry.long, {100_000: prices(3, 5, 0.1, 1.25, 2)})


class Merge(unittest.TestCase):
    def test_each_number_is_of_the_first_source_that_has_it(self):
        name = ("openai", "gpt-5.5")
        row = rows_of(
            {
                "p": {name: Entry(272_000, None, 128_000, prices(5, 30, 0.5), client="pi")},
                "a": {name: Entry(1_050_000, client="claude-code")},
                "l": {name: Entry(922_000, prices=prices(5, 30, write=6), long={9: prices(10, 45)}, modes={"flex": 0.5})},
                "m": {name: Entry(1_050_000, 922_000, 64_000, prices(4, 20, hour=8), {7: prices(1, 1)}, {"flex": 0.4})},
            }
        )[0]
        line = "openai gpt-5.5 1050000 922000 64000 5/30/0.5/6 9:10/45 flex=0.4 pi=272000 palm"
        self.assertEqual(table.line(row).split("\t"), line.split())

    def test_where_sources_differ_is_printed(self):
        name = ("xai", "grok-4.6")
        said = {
            "p": Entry(300_000, None, 1_000, prices(2, 6), client="pi"),
            "l": Entry(400_000, None, 1_000, prices(2, 7), {9: prices(4, 12)}),
            "m": Entry(500_000, 400_000, 2_000, prices(2, 7)),
        }
        row = merged(*name, said)
        found = [str(one) for one in differences(row, said)]
        outputs = ["output: p 1000, l 1000, m 2000", "output price: p 6.0, l 7.0, m 7.0"]
        self.assertEqual(found, [f"xai grok-4.6: {one}" for one in outputs])

    def test_codexs_models_have_the_prices_of_their_maker(self):
        codex, openai = ("openai-codex", "gpt-5.5"), ("openai", "gpt-5.5")
        lines = lines_of(
            {
                "c": {codex: Entry(272_000)},
                "m": {openai: Entry(1_050_000, prices=prices(5, 30), long={9: prices(10, 45)}, modes={"priority": 2.5})},
            }
        )
        self.assertEqual(lines[0], "openai-codex\tgpt-5.5\t272000\t\t\t5/30\t9:10/45\tpriority=2.5\t\tc")

    def test_rows_that_say_nothing_new_are_left_out(self):
        own = Entry(200_000, None, 64_000, prices(1, 5, 0.1), date="2026-01-01")
        dearer = Entry(200_000, None, 64_000, prices(1.1, 5.5, 0.11))
        kept, left = reduced(
            rows_of(
                {
                    "m": {
                        ("anthropic", "claude-haiku-4-5"): own,
                        ("anthropic", "claude-haiku-4-5-20251001"): own,
                        ("openrouter", "anthropic/claude-haiku-4.5"): own,
                        ("amazon-bedrock", "us.anthropic.claude-haiku-4-5-20251001-v1:0"): dearer,
                        ("mistral", "claude-haiku-4-5"): own,
                        ("mistral", "mistral-old"): Entry(1, date="2024-01-01"),
                        ("mistral", "mistral-image"): Entry(1, why_not="writes no text"),
                        ("unheard-of", "claude-haiku-4-5"): dearer,
                    },
                    "l": {
                        ("groq", "of-litellm"): own,
                        ("mistral", "mistral-gone"): Entry(1, ends="2024-06-01"),
                    },
                }
            )
        )
        self.assertEqual([row.provider for row in kept], ["anthropic", "amazon-bedrock"])
        why = {row.model: why for row, why in left}
        self.assertEqual(why["claude-haiku-4-5-20251001"], "as the name without its date")
        self.assertEqual(why["anthropic/claude-haiku-4.5"], "as its maker's")
        self.assertEqual((why["mistral-old"], why["mistral-image"]), ("old", "writes no text"))
        self.assertEqual((why["of-litellm"], why["mistral-gone"]), ("in LiteLLM's list alone", "retired"))

    def test_a_row_that_pays_more_for_long_prompts_is_not_as_the_makers(self):
        long = {200_000: prices(6, 22.5)}
        rows = rows_of(
            {
                "m": {
                    ("anthropic", "claude-sonnet-4-5"): Entry(1_000_000, prices=prices(3, 15)),
                    ("opencode", "claude-sonnet-4-5"): Entry(1_000_000, prices=prices(3, 15), long=long),
                }
            }
        )
        self.assertFalse(is_within(rows[1], rows[0]))
        self.assertTrue(is_within(rows[0], rows[0]))

    def test_names_of_one_model_have_one_key(self):
        bedrock = "us.anthropic.claude-opus-4-8-20260501-v1:0"
        names = ("claude-opus-4.8", "anthropic/Claude-opus-4-8", bedrock, "claude-opus-4-8@default")
        self.assertEqual({key(name) for name in names}, {"claude-opus-4-8"})


class Catalogue(unittest.TestCase):
    def test_a_makers_model_without_a_price_is_printed_with_the_reason(self):
        rows = rows_of(
            {
                "m": {
                    ("xai", "grok-5"): Entry(1, prices=prices(1, 2), date="2026-05-01"),
                    ("xai", "grok-6"): Entry(1, date="2026-05-01"),
                    ("xai", "grok-imagine"): Entry(1, date="2026-05-01", why_not="writes no text"),
                    ("xai", "grok-2"): Entry(1, date="2025-03-01"),
                    ("groq", "grok-6-fast"): Entry(1, date="2026-05-01"),
                }
            }
        )
        lines = catalogue.without_price(*reduced(rows), {"grok-2": "2025-03-01", "grok-5": "2026-05-01"})
        self.assertEqual(
            lines,
            [
                "xai grok-6: no price: no source has a price",
                "xai grok-imagine: no price: writes no text",
                "2 models of makers without a price",
            ],
        )

    def test_the_table_is_sorted_and_names_its_sources(self):
        rows = rows_of(
            {
                "m": {
                    ("xai", "grok-5"): Entry(1, prices=prices(0.00003625, 2)),
                    ("openai", "gpt-6"): Entry(2),
                }
            }
        )
        text = table.text(rows, [Source("m", "models.dev", "1.2")])
        self.assertEqual(text, table.text(rows[::-1], [Source("m", "models.dev", "1.2")]))
        self.assertIn("@source\tm\tmodels.dev\t1.2\n", text)
        self.assertIn("@provider\tgoogle\tgemini\n", text)
        self.assertTrue(text.endswith("openai\tgpt-6\t2\t\t\t\t\t\t\tm\nxai\tgrok-5\t1\t\t\t0.00003625/2\t\t\t\tm\n"))

    def test_the_table_of_the_repository_is_as_it_is_described(self):
        text = catalogue.FILE.read_text()
        self.assertLessEqual(len(text.encode()), catalogue.LARGEST)
        rows = [line.split("\t") for line in text.splitlines() if not line.startswith(("#", "@"))]
        self.assertEqual({len(row) for row in rows}, {10})
        names = [tuple(row[:2]) for row in rows]
        self.assertEqual(names, sorted(set(names)))
