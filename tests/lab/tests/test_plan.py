import unittest

from clients import CLIENTS
from rig.places import PLANS
from rig.plan import load


class Plans(unittest.TestCase):
    def test_each_turn_ends(self):
        for path in PLANS.glob("*.json"):
            for turn in load(path.stem, CLIENTS["claude"]).turns:
                self.assertIn("say", turn["steps"][-1], f"{path}: {turn['prompt']}")

    def test_a_client_has_its_own_options(self):
        self.assertEqual(load("compact", CLIENTS["claude"]).options.limit, 100000)
        self.assertIsNone(load("compact", CLIENTS["codex"]).options.limit)
