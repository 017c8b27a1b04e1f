import unittest
from types import SimpleNamespace

from clients import CLIENTS
from rig import plan
from rig.play import _Processes
from rig.run import Run


class Resuming(unittest.TestCase):
    def resumes(self, name):
        """Returns how each turn of the plan `resume` goes on."""
        run = SimpleNamespace(client=CLIENTS[name])
        processes, found = _Processes(run), []
        for turn in plan.load("resume", CLIENTS[name]).turns:
            found.append(processes._resume(turn))
            processes._began = True
            processes._logs.append(SimpleNamespace(stem=f"log-{len(found)}"))
        return found

    def test_a_client_that_does_not_resume_goes_on_in_forks_alone(self):
        claude, droid = self.resumes("claude"), self.resumes("droid")
        self.assertEqual([bool(one) for one in claude], [False, True, True, True, False])
        self.assertEqual([one and one.fork for one in droid], [None, None, True, None])


class Keys(unittest.TestCase):
    def test_keys_are_pressed_one_after_another_when_what_they_wait_for_is_seen(self):
        pressed = []
        screen = lambda name: "a menu" if "Escape" in pressed else ""
        keys = lambda name, key: pressed.append(key)
        run = SimpleNamespace(client=SimpleNamespace(typing_pause=0), terminal=SimpleNamespace(keys=keys), screen=screen)
        Run.press(run, ["Escape", {"see": "menu"}, "Up", {"gone": "list"}])
        self.assertEqual(pressed, ["Escape", "Up"])
