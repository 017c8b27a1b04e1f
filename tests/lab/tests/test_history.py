import json
import unittest

from catalogues.entry import Entry
from history import between, changes, usage, windows


class History(unittest.TestCase):
    def found(self, answers):
        asked = []

        def ask(version):
            asked.append(version)
            return {"model": answers[int(version)]}

        found = [str(change) for change in changes([str(n) for n in range(len(answers))], ask)]
        return found, asked

    def test_a_change_is_found_by_halves(self):
        found, asked = self.found([200_000] * 700 + [1_000_000] * 324)
        self.assertEqual(found, ["699 -> 700: model: 200000 -> 1000000"])
        self.assertLessEqual(len(asked), 12)
        self.assertEqual(len(asked), len(set(asked)))

    def test_each_of_several_changes_is_found(self):
        found, _ = self.found([1, 1, 2, 2, 2, 3, 3, 3])
        self.assertEqual(found, ["1 -> 2: model: 1 -> 2", "4 -> 5: model: 2 -> 3"])

    def test_where_both_ends_agree_nothing_else_is_asked(self):
        self.assertEqual(self.found([1] * 9), ([], ["0", "8"]))

    def test_only_models_with_another_answer_are_in_a_change(self):
        ask = {"1": {"a": 1, "b": 1}, "2": {"a": 1, "b": 2}}.get
        self.assertEqual(str(next(changes(["1", "2"], ask))), "1 -> 2: b: 1 -> 2")

    def test_versions_are_in_the_order_of_their_numbers(self):
        listed = ["2.1.10", "2.1.9", "2.0.99", "2.1.11"]
        self.assertEqual(between(listed, "2.1.0", "2.1.10"), ["2.1.9", "2.1.10"])
        self.assertEqual(between(listed, None, None), ["2.0.99", "2.1.9", "2.1.10", "2.1.11"])
        with self.assertRaises(SystemExit):
            between(listed, "2.1.11", None)

    def test_the_answer_of_claude_code_is_in_a_line_of_its_output(self):
        answer = {"rawMaxTokens": 200_000, "autoCompactThreshold": 167_000, "autocompactSource": "model-default"}
        line = json.dumps({"type": "control_response", "response": {"response": answer}})
        lines = ["a warning", json.dumps({"type": "system"}), line]
        self.assertEqual(usage(lines), "200000, compacts at 167000 (model-default)")
        line = json.dumps({"type": "control_response", "response": {"response": {"rawMaxTokens": 200_000}}})
        self.assertEqual(usage([line]), "200000, no size (no source)")
        self.assertEqual(usage(lines[:2]), "no answer")
        refused = json.dumps({"type": "control_response", "response": {"error": "Unsupported"}})
        self.assertEqual(usage([refused]), "Unsupported")

    def test_a_window_in_a_list_is_found_with_and_without_the_provider(self):
        entries = {("openai", "gpt-5.5"): Entry(272_000)}
        self.assertEqual(windows(entries, ["gpt-5.5", "openai/gpt-5.5"]), {"gpt-5.5": 272_000, "openai/gpt-5.5": 272_000})
        self.assertEqual(windows(entries, ["gpt-9"]), {"gpt-9": "not in the list"})
