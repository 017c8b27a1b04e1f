import json
import unittest
from pathlib import Path
from types import SimpleNamespace

from claims.server import judged, read_answer
from claims.settings import MARK, with_comments, with_commas, with_mark
from provider.prompt import Part

# The parts of a real answer: the program's own tests compare them with what it says.
PARTS = Path(__file__).with_name("answer.json")
ANSWER = json.dumps(json.loads(PARTS.read_text()) | {
    "context": {"known": 700},
    "session": {"id": "a", "found_by": "a call", "note": "a or b"},
})


def request(tag, prompt, answer=None, call="1"):
    parts = [Part("tool", answer, call=call)] if answer else []
    return SimpleNamespace(tag=tag, prompt=prompt, after=prompt + 20, parts=parts)


class Run:
    def __init__(self, *requests):
        self.provider = SimpleNamespace(of=lambda tag: [one for one in requests if one.tag == tag])


class Answers(unittest.TestCase):
    def test_an_answer_is_found_as_it_is_and_in_strings_in_strings(self):
        for text in (ANSWER, "Output:\n" + ANSWER, json.dumps({"output": ANSWER}), json.dumps(json.dumps({"text": ANSWER}))):
            answer = read_answer(text)
            self.assertEqual((answer.known, answer.found_by, answer.note), (700, "a call", "a or b"))
        self.assertIsNone(read_answer("no log was found"))

    def test_a_wrong_answer_is_wrong_unless_it_may_be_unsure_and_a_note_says_so(self):
        its = Run(request("LAB-ONE", 680), request("LAB-ONE", 900, ANSWER))
        others = Run(request("LAB-ONE", 500), request("LAB-ONE", 900, ANSWER))
        silent = Run(request("LAB-ONE", 900, ANSWER.replace('"note": "a or b"', '"model": "m"')))
        for run, unsure, right in ((its, False, True), (others, False, False), (others, True, True), (silent, True, False)):
            self.assertEqual(judged(run, "", ("LAB-ONE",), 1, unsure).right, right)
        self.assertFalse(judged(its, "", ("LAB-ONE",), 2).right)


class Files(unittest.TestCase):
    def test_each_file_has_what_plain_json_has_not(self):
        text = '{\n  "a": {\n    "b": 1\n  }\n}\n'
        self.assertEqual(with_commas(text), '{\n  "a": {\n    "b": 1\n  ,},\n}')
        self.assertEqual(with_commas('{"a": {}}'), '{"a": {},}')
        self.assertEqual(with_comments("{}"), "// one\n{ /* two */}")
        self.assertEqual(with_mark("{}"), MARK + "{}")
        for changed in (with_commas(text), with_comments(text), with_mark(text)):
            with self.assertRaises(ValueError):
                json.loads(changed)

