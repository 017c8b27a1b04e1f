import json
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

from proof import moments, rebuild, score
from proof.record import load
from proof.results import results_of
from proof.shown import Shown, match
from proof.table import HEAD_OF_FILE, Proof, as_text, with_proofs
from provider.prompt import Part
from rig import follow
from tests.runs import call, item, part, report, request


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = Path(folder.name)

    def log(self, *lines):
        at = self.at / "log.jsonl"
        at.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return at


class Records(Folder):
    def test_a_run_is_read_as_it_was_written(self):
        line = vars(request(1, 12)) | {"parts": [{"role": "tool", "tool": "sh", "call": "a", "tokens": 9, "media": 2, "head": "x"}]}
        (self.at / "truth.jsonl").write_text(json.dumps(line) + "\n")
        (self.at / "meta.json").write_text(json.dumps({"turns": [{"prompt": "Go.", "failed": None}]}))
        record = load(self.at)
        self.assertEqual(record.requests[0].parts, [Part("tool", "x", "sh", "a", 9, 2)])
        self.assertEqual((record.typed, record.failed), (["Go."], []))


class Sessions(unittest.TestCase):
    def shown(self, *calls, requests, taken=None):
        session = Shown({"id": "a", "parent": None}, report(calls))
        match(session, requests, set() if taken is None else taken)
        return session

    def test_a_call_is_the_request_that_was_answered_and_not_the_one_that_failed(self):
        failed, answered = request(1, 50, fault={"status": 429}), request(2, 50, output=9)
        session = self.shown(call(50, 9), requests=[failed, answered])
        self.assertEqual([one.number for one in session.requests], [2])
        self.assertEqual(session.inexact, 0)

    def test_another_output_is_inexact_and_an_unknown_prompt_is_foreign(self):
        session = self.shown(call(50, 8), call(70), requests=[request(1, 50, output=9)])
        self.assertEqual((session.inexact, session.foreign), (1, [(70, 10)]))

    def test_two_sessions_with_equal_prompts_take_one_each(self):
        requests, taken = [request(1, 50), request(2, 50)], set()
        numbers = [self.shown(call(50), requests=requests, taken=taken).requests[0].number for _ in range(2)]
        self.assertEqual(numbers, [1, 2])


class Results(Folder):
    def test_results_belong_together_by_the_ids_on_their_lines(self):
        log = self.log({"tool_use_id": "b"}, {"functionResponse": {"id": "a"}})
        last = request(1, 0, parts=[part("tool", 100, "a"), part("tool", 500, "b")])
        found = results_of(report(messages=[item(1, 510), item(2, 300)]), last, log)
        self.assertEqual([(one.call, one.truth, one.shown) for one in found], [("a", 100, 300), ("b", 500, 510)])
        self.assertEqual([one.error for one in found], [2.0, 0.0])

    def test_a_line_that_is_a_whole_request_has_earlier_results_too(self):
        first, second = {"tool_call_id": "a"}, {"tool_call_id": "b"}
        log = self.log({"messages": [first]}, {"messages": [first, second]})
        last = request(1, 0, parts=[part("tool", 100, "a"), part("tool", 500, "b")])
        found = results_of(report(messages=[item(1, 110), item(2, 490)]), last, log)
        self.assertEqual([(one.truth, one.shown) for one in found], [(100, 110), (500, 490)])

    def test_a_picture_beside_a_result_belongs_to_it(self):
        picture = Part("user", "", tokens=520, media=516)
        note, prompt = part("user", 10, text="Attached media:"), part("user", 9, text="LAB-MAIN Go.")
        last = request(1, 0, parts=[part("tool", 20, "a"), note, picture, prompt, part("tool", 40, "b")])
        found = results_of(report(messages=[item(1, 550), item(2, 40)]), last, self.at / "sessions.db")
        self.assertEqual([(one.truth, one.shown) for one in found], [(550, 550), (40, 40)])

    def test_without_lines_they_belong_together_by_size_and_one_may_be_missing(self):
        last = request(1, 0, parts=[part("tool", 100, "a"), part("tool", 500, "b")])
        messages = [item(1, 480), item(2, 20)]
        found = results_of(report(messages=messages), last, self.at / "sessions.db")
        self.assertEqual([(one.truth, one.shown, one.source) for one in found], [(500, 480, "derived"), (100, 0, "missing")])


class Scores(unittest.TestCase):
    def test_of_the_users_texts_only_what_was_typed_is_the_users(self):
        parts = [part("system", 7), part("user", 5, text="LAB-MAIN Go."), part("user", 3, text="<reminder>"), part("schema", 2)]
        self.assertEqual(score.roles_of(request(1, 17, output=4, parts=parts), []), {"container": 12, "user": 5, "assistant": 4})
        wrapped = [part("user", 9, text="<query>LAB-MAIN Go.</query>")]
        self.assertEqual(score.roles_of(request(1, 9, output=4, parts=wrapped), []), {"user": 9, "assistant": 4})

    def test_a_summary_that_changed_nothing_is_no_compaction(self):
        kept, ask = [part("tool", 9, "a")], request(2, 60, kind="compact")
        before, larger, smaller = request(1, 50, parts=kept), request(3, 70, parts=kept), request(3, 20)
        of = lambda then: score.compactions([before, ask, then], [before, then])
        self.assertEqual((of(larger), of(smaller)), ([], [smaller]))

    def test_a_summary_that_takes_the_place_of_an_earlier_one_is_a_compaction(self):
        before = request(1, 50, parts=[part("assistant", 9, text="The earlier summary."), part("assistant", 9, text="R9:x")])
        then, ask = request(3, 70, parts=[part("assistant", 9, text="The summary.")]), request(2, 60, kind="compact")
        self.assertEqual(score.compactions([before, ask, then], [before, then]), [then])

    def test_a_prompt_of_another_model_may_be_larger_after_a_compaction(self):
        before, then = request(1, 50, parts=[part("tool", 9, "a")]), request(3, 70)
        self.assertEqual(score.compactions([before, request(2, 60, kind="compact"), then], [before, then]), [then])

    def test_a_session_may_end_with_a_compaction(self):
        last = request(1, 50, parts=[part("tool", 9, "a")])
        asked = request(2, 60, kind="compact", parts=[*last.parts, part("assistant", 9, text="Seen.")])
        longer = request(2, 60, kind="compact", parts=[*asked.parts, part("tool", 9, "b")])
        of = lambda one: score.is_compacted_since([last, one], last)
        self.assertEqual((of(asked), of(longer), of(request(2, 60, kind="compact"))), (True, False, False))

    def test_a_fork_may_begin_with_a_compaction(self):
        answer = part("assistant", 9, text="Seen.")
        asked = request(2, 60, kind="compact", parts=[part("tool", 9, "a"), answer])
        fork, new = request(3, 20, parts=[answer]), request(3, 20)
        of = lambda first: score.begins_compacted([asked, first], first)
        self.assertEqual((of(fork), of(new)), (True, False))


class Followed(Folder):
    def test_a_call_that_the_log_has_lost_was_shown_before(self):
        first, second = call(1000) | {"at": "1"}, call(2000) | {"at": "2"}
        reports = [report([first]), report([first, second]), report([second])]
        lines = [{"type": "start"}, {"id": "b", "report": report([])}, *({"id": "a", "report": one} for one in reports)]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        follow.file_of(self.at, "a").write_text(text + '{"id": "a", "report": {"calls": [')
        found = follow.reports(self.at, "a")
        self.assertEqual([len(one["calls"]) for one in found], [1, 2, 2])
        self.assertEqual(follow.reports(self.at, "b"), [])


class Moments(unittest.TestCase):
    requests = [request(1, 1000, output=100), request(2, 2000, output=100), request(3, 500)]

    def test_a_moment_lies_between_the_last_answer_and_the_next_prompt(self):
        moment = moments.moment_of(4, report([call(1000)], used=1500), self.requests)
        self.assertEqual((moment.phase, moment.least, moment.most), ("then", 1000, 2000))
        self.assertEqual((moment.error, moment.is_wrong, moment.holds), (0.0, False, True))
        moment = moments.moment_of(4, report([call(1000)], used=2500), self.requests)
        self.assertAlmostEqual(moment.error, 0.25)
        self.assertTrue(moment.is_wrong and moment.is_falsely_known and not moment.holds)

    def test_before_the_first_answer_anything_up_to_the_prompt_is_right(self):
        moment = moments.moment_of(1, report(used=400, known=0), self.requests)
        self.assertEqual((moment.phase, moment.least, moment.error), ("first", 0, 0.0))

    def test_between_a_request_for_a_summary_and_the_compaction_there_is_no_moment(self):
        calls = [call(1000), call(2000)]
        self.assertIsNone(moments.moment_of(7, report(calls, used=2100), self.requests))
        larger = [request(1, 1000), request(3, 1010)]
        self.assertEqual(moments.moment_of(2, report([call(1000)], used=1500), larger).phase, "then")
        self.assertIsNone(moments.moment_of(2, report([call(1000)], used=1500), larger, {1}))
        after = moments.moment_of(8, report(calls, used=450, past=[{}]), self.requests)
        self.assertEqual((after.phase, after.error), ("after", 0.0))

    def test_the_first_answer_of_another_model_is_a_phase_of_its_own(self):
        requests = [request(1, 1000), request(2, 1200, model="n")]
        self.assertEqual(moments.moment_of(2, report([call(1000)], used=1010), requests).phase, "switch")

    def test_what_is_shown_after_the_user_went_back_counts_once_a_record_shows_it(self):
        ask = part("user", 9, text="LAB-MAIN Go.")
        first = request(1, 1000, output=100, parts=[ask], turn=0)
        second = request(2, 2000, parts=[ask, part("tool", 9, "a")], turn=1)
        then = request(3, 1100, parts=[ask, part("user", 9, text="LAB-MAIN On.")], turn=3)
        requests = [first, second, then]
        turns = [{}, {}, {"keys": True}, {"keys": False, "at": 1000.0}]
        back = moments.rewinds(SimpleNamespace(meta={"turns": turns}), requests, [])
        self.assertEqual(back, {2: 1000.0})
        calls = [call(1000), call(2000)]
        at = lambda second: report(calls, used=1050) | {"session": {"updated_at": f"1970-01-01T00:16:{second}Z"}}
        self.assertIsNone(moments.moment_of(4, at(39), requests, (), back))
        moment = moments.moment_of(5, at(41), requests, (), back)
        self.assertEqual((moment.phase, moment.least, moment.most), ("rewound", 1000, 1100))


class Rebuilding(Folder):
    def test_a_request_is_put_together_from_lines_and_blobs(self):
        user, reply = {"role": "user", "content": "Go."}, {"role": "assistant", "content": [{"type": "text", "text": "Yes."}]}
        more = {"role": "user", "content": [{"type": "text", "text": "On."}]}
        of = lambda message: rebuild.hashed(rebuild.whole(message))
        shape = {"system": [], "tools": []}
        body = {"model": "m", **shape, "messages": [rebuild.whole(one) for one in (user, reply, more)]}
        controlled = json.loads(json.dumps(body))
        controlled["messages"][2]["content"][0]["cache_control"] = {"type": "ephemeral"}
        second = {
            "type": "api-request", "id": "2", "base": "1", "keep": 1, "tail": [of(reply), of(more)], "shapeHash": "s",
            "params": {"model": "m"}, "requestDigest": rebuild.hashed(controlled), "querySource": "sdk",
            "cacheControl": [{"path": ["messages", 2, "content", 0], "value": {"type": "ephemeral"}}],
        }  # fmt: skip
        first = second | {"id": "1", "base": None, "keep": 0, "tail": [of(user)], "cacheControl": []}
        lines = [
            {"type": "api-request-shape", "shapeHash": "s", "shape": shape},
            {"type": "user", "message": user},
            first,
            {"type": "assistant", "message": reply | {"id": "msg"}},
            {"type": "api-request-blob", "hash": of(more), "message": {"role": "user", "content": "On."}},
            second,
        ]
        found = rebuild.requests_of(lines)
        self.assertEqual(found[1][1], body["messages"])
        self.assertEqual(rebuild.digest(*found[1]), second["requestDigest"])
        lost = rebuild.requests_of(lines[:4] + lines[5:])
        self.assertEqual(lost[1][1][2], None)


class Tables(unittest.TestCase):
    def proof(self, **more):
        return Proof("codex", "1.2.3", (4, 4), (1, 1), (1, 1), (2, 3), (0, 0), (9, 9), **more)

    def test_a_version_is_right_if_all_that_is_logged_is_shown_as_it_is(self):
        self.assertTrue(self.proof().is_right)
        self.assertFalse(self.proof(notes=["long: exit 1"]).is_right)
        self.assertFalse(Proof("codex", "1.2.3").is_right)
        self.assertIn("codex  1.2.3    4 of 4", as_text([self.proof()]))

    def test_a_life_is_added_up(self):
        shown = SimpleNamespace(known=(50, 50), worst_role=0.02, results=[], compactions=(1, 2))
        record = SimpleNamespace(meta={"plan": "long"}, failed=["exit 1"])
        proof = Proof("codex", "1.2.3")
        proof.add_life(SimpleNamespace(record=record, exact=3, logged=4, foreign=[], scores=[shown]))
        self.assertEqual((proof.requests, proof.sizes, proof.roles, proof.compactions), ((3, 4), (1, 1), (0, 1), (1, 2)))
        self.assertEqual(proof.notes, ["long: exit 1"])

    def test_what_nobody_can_know_does_not_count(self):
        shown = SimpleNamespace(known=(50, 50), worst_role=0.9, results=[SimpleNamespace(error=8.0)], compactions=(0, 0))
        record = SimpleNamespace(meta={"plan": "million"}, failed=[])
        proof = Proof("codex", "1.2.3")
        proof.add_life(SimpleNamespace(record=record, exact=4, logged=4, foreign=[], scores=[shown]))
        proof.add_moments(record, [SimpleNamespace(name="then", moments=[1], wrong=1)])
        self.assertEqual((proof.requests, proof.sizes), ((4, 4), (1, 1)))
        self.assertEqual((proof.roles, proof.results, proof.moments), ((0, 0), (0, 0), (0, 0)))
        self.assertTrue(proof.is_right)

    def test_the_file_keeps_other_agents(self):
        before = HEAD_OF_FILE + '\n[proven.aider]\nversion = "9"\n\n[proven.codex]\nversion = "1.0.0"\nsizes = "1 of 1"\n'
        after = with_proofs(before, [self.proof()])
        self.assertIn('[proven.aider]\nversion = "9"\n', after)
        self.assertIn('version = "1.2.3"\n', after)
        self.assertNotIn("1.0.0", after)
        self.assertEqual(with_proofs(after, []), after)
