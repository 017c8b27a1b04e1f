"""What a smaller window promised, against the truth."""

import unittest
from dataclasses import dataclass

import promise
from clients import CLIENTS
from rig import plan


@dataclass
class Request:
    kind: str
    prompt: int


class Promise(unittest.TestCase):
    def test_compactions_and_other_calls_are_no_prompts_of_the_work(self):
        requests = [Request("main", 10), Request("compact", 90), Request("side", 5), Request("main", 20)]
        self.assertEqual(promise.counted(requests), {"prompts": 30, "requests": 2, "compactions": 1})

    def test_the_client_compacts_by_the_smaller_window_in_each_turn(self):
        chosen = plan.load("windows", CLIENTS["claude"])
        small = promise.within(chosen, 200_000)
        limits = {turn.options.limit for turn in small.turns} | {small.options.limit}
        self.assertEqual(limits, {200_000})
        self.assertNotIn(200_000, {turn.options.limit for turn in chosen.turns})
        self.assertEqual(small.options.model, chosen.options.model)

    def test_a_row_has_its_error(self):
        row = promise.Row("requests", 100, 95, 100)
        self.assertEqual(row.error, 0.05)
        self.assertIn("| requests | 100 | 95 | 100 | 5.0% |", promise.as_text([row]))
