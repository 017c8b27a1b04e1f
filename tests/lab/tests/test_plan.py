import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

from clients import CLIENTS
from rig import plan


class Plans(unittest.TestCase):
    def test_each_turn_ends(self):
        for name in plan.names():
            for client in CLIENTS.values():
                loaded = plan.load(name, client)
                for turn in loaded.turns if loaded else []:
                    self.assertTrue(turn.command or turn.keys or "say" in turn.steps[-1], f"{name}: {turn.prompt}")

    def test_a_client_has_its_own_options(self):
        self.assertEqual(plan.load("compact", CLIENTS["claude"]).options.limit, 100000)
        self.assertIsNone(plan.load("compact", CLIENTS["codex"]).options.limit)

    def test_a_plan_and_a_turn_may_leave_a_client_out(self):
        self.assertIsNone(plan.load("upgrade", CLIENTS["codex"]))
        self.assertIsNone(plan.load("subagent", CLIENTS["pi"]))
        forks = {name: [turn.begins for turn in plan.load("resume", CLIENTS[name]).turns] for name in ("claude", "gemini")}
        self.assertEqual(forks["claude"].count("fork"), 1)
        self.assertEqual(forks["gemini"].count("fork"), 0)

    def test_a_client_may_have_few_plans(self):
        self.assertIsNotNone(plan.load("short", CLIENTS["litellm"]))
        self.assertIsNone(plan.load("commands", CLIENTS["litellm"]))
        known = set(plan.names())
        self.assertEqual([client.name for client in CLIENTS.values() if not known.issuperset(client.plans or ())], [])

    def test_a_client_has_its_own_ways_to_look_for_tools_of_a_server_and_to_call_them(self):
        steps = {name: plan.load("mcp", CLIENTS[name]).turns[1].steps for name in ("claude", "gemini", "qwen")}
        self.assertEqual(steps["claude"][0]["args"]["query"], "select:mcp__store__lookup,mcp__store__records,mcp__store__picture")
        self.assertIn("mcp_store_lookup", steps["gemini"][0]["tool"])
        self.assertEqual(steps["qwen"][1]["args"], {"name": "mcp__store__lookup", "arguments": {"size": 6000}})

    def test_a_turn_changes_what_it_names(self):
        models = [turn.options.model for turn in plan.load("models", CLIENTS["opencode"]).turns]
        self.assertEqual(models, [None, "lab-small", None, None])
        windows = [turn.options.models for turn in plan.load("models", CLIENTS["opencode"]).turns]
        self.assertEqual(windows, [{"lab-small": 64000}] * 4)

    def test_a_plan_may_be_a_file_anywhere(self):
        with tempfile.TemporaryDirectory() as folder:
            at = Path(folder) / "own.json"
            at.write_text('{"turns": [{"keys": ["Escape"]}], "terminal": true, "only_sizes": true}')
            loaded = plan.load(str(at), CLIENTS["claude"])
        self.assertEqual((loaded.name, loaded.turns[0].keys), ("own", ["Escape"]))
        self.assertFalse(plan.has_only_sizes("own"))
