import tempfile
import unittest
from pathlib import Path

from proof.cases import Check, place


class Cases(unittest.TestCase):
    def test_a_number_may_have_a_least_and_a_most(self):
        values = [(5, 5), (5, [4, 6]), (5, [6, 7]), ([1, 2], [1, 2]), (True, True), ("a", "b")]
        right = [Check("case", "d", value, wanted).is_right for value, wanted in values]
        self.assertEqual(right, [True, True, False, True, True, False])

    def test_a_case_gets_the_path_of_its_home(self):
        with tempfile.TemporaryDirectory() as folder:
            case, home = Path(folder) / "case", Path(folder) / "a home"
            (case / "work/_git").mkdir(parents=True)
            (case / "work/_git/HEAD").write_text("@HOME@/work")
            (case / "@SLUG@.jsonl").write_bytes(b"\xff")
            place(case, home)
            self.assertEqual((home / "work/.git/HEAD").read_text(), f"{home}/work")
            slug = "".join(one if one.isascii() and one.isalnum() else "-" for one in str(home))
            self.assertEqual((home / f"{slug}.jsonl").read_bytes(), b"\xff")
