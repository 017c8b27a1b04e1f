import unittest

from claims.claim import Claim, Row, Seen, same, settled
from claims.faces import line_of, tokens_of
from claims.table import as_markdown, as_text


class Client:
    name = "a"

    def version(self):
        return "1.0"


class Claims(unittest.TestCase):
    def test_what_fails_is_a_wrong_row_after_those_that_were_seen(self):
        def look(client, binary):
            yield Seen("the first", "seen", True)
            raise TimeoutError("no prompt")

        rows = Claim("both", "hooks.md", ("a",), look).rows(Client(), "ctxgauge")
        self.assertEqual([row.right for row in rows], [True, False])
        self.assertIn("no prompt", rows[1].seen)

    def test_numbers_are_the_same_within_their_rounding(self):
        self.assertTrue(same("it is", 20050, 20000, within=50).right)
        self.assertFalse(same("it is", 20051, 20000, within=50).right)
        self.assertFalse(same("it is", None, 20000).right)

    def test_a_value_is_waited_for_until_it_holds(self):
        values = iter([1, 2, 3])
        self.assertEqual(settled(lambda: next(values), lambda it: it == 2), 2)

    def test_a_line_is_read_from_the_rows_of_a_screen(self):
        self.assertEqual(line_of("above\n  GAUGE ~82.4k|30%|\nbelow"), ["~82.4k", "30%", ""])
        self.assertIsNone(line_of("nothing"))

    def test_tokens_are_read_as_they_are_printed(self):
        read = {"~82.4k": 82400, "1.2M": 1200000, "912": 912, "?": None, None: None}
        self.assertEqual({text: tokens_of(text) for text in read}, read)


class Tables(unittest.TestCase):
    def test_a_wrong_row_is_marked(self):
        row = Row("hooks.md", "it warns once", "a", "1.0", "twice | thrice", False)
        self.assertTrue(as_text([row]).startswith("WRONG"))
        self.assertIn("twice \\| thrice | WRONG |", as_markdown([row]))
