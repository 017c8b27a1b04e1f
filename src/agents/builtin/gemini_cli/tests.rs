//! What the fixtures' reports do not show.

use super::*;
use crate::testing::{self, fixture, previews};
use model::Source;
use model::event::{ByLength, Entry};
use model::session::Session;
use std::sync::Arc;

fn fold(entries: Vec<Entry>) -> Session {
    let rules = toml::from_str(assets::MODELS).unwrap();
    let mut session = Session::new("gemini-cli", Arc::new(rules));
    entries.into_iter().for_each(|entry| session.apply(entry));
    session
}

fn session(log: &str) -> Session {
    fold(testing::read(&GEMINI_CLI, log.lines()))
}

fn document(log: &str) -> Session {
    let mut out = EventSink::new(&ByLength);
    GeminiCliDecoder::default().read_document(log, &mut out);
    fold(out.entries)
}

fn prompts(session: &Session) -> Vec<u64> {
    session.requests().iter().map(|r| r.prompt).collect()
}

#[test]
fn the_same_id_again_is_the_same_message() {
    let session = session(fixture!("gemini-cli/same-id/log.jsonl"));
    assert_eq!(
        previews(&session),
        ["Which files?", "Let me see.", "ls .", "a.rs b.rs", "Two."]
    );
    assert_eq!(
        prompts(&session),
        [12_000, 12_060],
        "tokens that are repeated count once"
    );
    assert_eq!(session.requests()[0].output, Some(30));
    assert_eq!(session.turns, 1);
}

#[test]
fn thoughts_leave() {
    let session = session(fixture!("gemini-cli/thoughts/log.jsonl"));
    assert_eq!(prompts(&session), [12_207, 12_350]);
    let result = &session.items()[session.alive()[2]];
    assert_eq!(result.attributed, Some((38, Source::Derived)));
    let billed = session.requests()[0].billed;
    assert_eq!((billed.output, billed.reasoning), (105, 153));
    let known = session.context().known;
    assert_eq!(
        known,
        12_350 + 51 + 51,
        "in the context until the next message"
    );
}

#[test]
fn what_built_in_tools_gave_is_known_and_in_one_prompt() {
    let session = session(fixture!(
        "gemini-cli/built_in_tools_are_known_and_leave/log.jsonl"
    ));
    assert_eq!(prompts(&session), [14_500, 12_050]);
    let given = session.items().iter().find(|item| item.role == Role::Tool);
    let given = given.unwrap();
    assert_eq!(given.attributed, Some((2_500, Source::Reported)));
    let carried: Vec<_> = given.spans_held(session.requests().len()).collect();
    assert!(matches!(&carried[..], [only] if *only == (0..1)));
    assert_eq!(session.context().known, 12_060);
}

#[test]
fn no_tokens_or_zeros_are_no_report() {
    let session = session(fixture!("gemini-cli/no-tokens/log.jsonl"));
    assert_eq!(prompts(&session), [12_000, 12_100]);
    assert_eq!(session.unreadable, 0);
}

#[test]
fn notices_and_what_is_only_shown_are_not_in_the_context() {
    let session = session(fixture!("gemini-cli/notices/log.jsonl"));
    assert_eq!(
        previews(&session),
        ["<session_context> Linux", "run it", "sh", "ok"]
    );
    let roles: Vec<Role> = session
        .alive()
        .iter()
        .map(|ix| session.items()[*ix].role)
        .collect();
    assert_eq!(
        roles,
        [Role::Container, Role::User, Role::Assistant, Role::Tool]
    );
    let skipped: Vec<&str> = session.skipped.keys().map(|kind| &**kind).collect();
    assert_eq!(skipped, ["error", "info", "warning"]);
    assert_eq!(session.turns, 1);
}

#[test]
fn a_checkpoint_that_lost_messages_is_a_compaction() {
    let session = session(fixture!("gemini-cli/compaction/log.jsonl"));
    assert_eq!(session.resets().len(), 1);
    assert_eq!(
        (session.resets()[0].place.line(), session.resets()[0].before),
        (6, 12_165)
    );
    assert_eq!(
        previews(&session),
        [
            "kept",
            "Kept too.",
            "<state_snapshot>All that was.",
            "Got it."
        ]
    );
    assert_eq!(
        prompts(&session),
        [12_000, 12_115],
        "surviving tokens are old ones"
    );
    assert_eq!(session.context().known, 0);
}

#[test]
fn the_first_tokens_after_a_compaction_are_an_anchor() {
    let after =
        r#"{"id":"n9","type":"gemini","content":"Go.","tokens":{"input":12050,"output":5}}"#;
    let log = fixture!("gemini-cli/compaction/log.jsonl")
        .lines()
        .chain([after]);
    let session = fold(testing::read(&GEMINI_CLI, log));
    assert_eq!(session.context().known, 12_055);
    assert_eq!(session.resets()[0].after, Some(12_050));
}

#[test]
fn a_checkpoint_that_masks_results_is_none() {
    let session = session(fixture!("gemini-cli/masked/log.jsonl"));
    assert_eq!(session.resets().len(), 0);
    let masked = session
        .items()
        .iter()
        .find(|item| item.preview.starts_with("long"));
    assert_eq!(
        masked.unwrap().left.map(|left| left.why),
        Some(LeaveReason::Cleared)
    );
    assert_eq!(
        previews(&session),
        [
            "read it",
            "cat",
            "<tool_output_masked>12 kB</tool_output_masked>",
            "Read."
        ]
    );
    assert_eq!(prompts(&session), [10_000, 10_085]);
}

#[test]
fn results_stand_once_though_parallel_calls_hold_each_others() {
    let session = session(fixture!("gemini-cli/parallel/log.jsonl"));
    assert_eq!(
        previews(&session),
        ["both", "a", "b", "result a", "result b"]
    );
    assert_eq!(session.resets().len(), 0);
}

#[test]
fn a_rewind_takes_all_from_there_on() {
    let log = fixture!("gemini-cli/rewind/log.jsonl");
    assert_eq!(previews(&session(log)), ["one", "One.", "three"]);
    let unknown = log.replace("{\"$rewindTo\":\"u2\"}", "{\"$rewindTo\":\"nobody\"}");
    assert_eq!(previews(&session(&unknown)), ["three"]);
}

#[test]
fn hostile_lines_are_counted() {
    let session = session(fixture!("gemini-cli/hostile/log.jsonl"));
    assert_eq!(session.unreadable, 5);
    assert_eq!(session.lost_fields.get("messages"), Some(&1));
    // Of one report the output is no number, of the other the prompt.
    assert_eq!(
        (prompts(&session), session.unreadable_usage),
        (vec![1_000], 2)
    );
    assert_eq!(document("[]").unreadable, 1);
    assert_eq!(document("").unreadable, 1);
}

#[test]
fn logs_are_claimed_by_path_and_recognised_by_content() {
    let claim = |path: &str| GEMINI_CLI.claims(Path::new(path));
    let main = claim("/t/p/chats/session-2026-08-01T10-00-aabbccdd.jsonl").unwrap();
    assert_eq!(
        (main.store, main.id, main.parent),
        (StoreKind::Lines, None, None)
    );
    let old = claim("/t/p/chats/session-2026-01-01T10-00-aabbccdd.json").unwrap();
    assert_eq!(old.store, StoreKind::Document);
    let side = claim("/t/p/chats/parent-id/side-id.jsonl").unwrap();
    assert_eq!(side.id.as_deref(), Some("side-id"));
    assert_eq!(side.parent.as_deref(), Some("parent-id"));
    for other in [
        "/t/p/logs.json",
        "/t/p/chats/x.jsonl",
        "/t/p/chats/a/b.json",
        "x",
    ] {
        assert_eq!(claim(other), None, "{other}");
    }
    assert!(GEMINI_CLI.recognise(b" {\n \"sessionId\": 1,\n \"projectHash\": \"ab"));
    assert!(!GEMINI_CLI.recognise(b"{\"sessionId\":\"x\",\"type\":\"user\"}"));
}

fn tools(session: &Session) -> Vec<u64> {
    let alive = session.alive().into_iter();
    let tools = alive.filter(|ix| session.items()[*ix].role == Role::Tool);
    tools.map(|ix| session.tokens(ix).0).collect()
}

#[test]
fn a_resume_is_no_compaction_and_sends_results_twice() {
    let log = fixture!("gemini-cli/a_resume_is_no_compaction_and_sends_results_twice/log.jsonl");
    let session = session(log);
    assert_eq!(session.resets().len(), 0);
    assert_eq!(prompts(&session), [9_000, 9_400, 9_608, 10_190]);
    assert_eq!(session.turns, 2);
    let tools = tools(&session);
    assert_eq!(tools.len(), 4);
    assert_eq!(tools[..2], [380, 190]);
    let results = session.items().iter();
    let results = results.filter(|item| item.role == Role::Tool);
    let texts: Vec<&str> = results.map(|item| &*item.preview).collect();
    assert_eq!(texts[..2], texts[2..]);
    // Until the process has written the history again, nothing has left.
    let begun: Vec<&str> = log.lines().take(19).collect();
    let begun = fold(testing::read(&GEMINI_CLI, begun));
    assert_eq!(begun.context().known, 9_614);
}

#[test]
fn a_new_process_that_writes_no_history_has_none() {
    let log = fixture!("gemini-cli/a_resume_is_no_compaction_and_sends_results_twice/log.jsonl");
    let mut lines: Vec<&str> = log.lines().collect();
    lines.remove(19);
    let session = fold(testing::read(&GEMINI_CLI, lines));
    assert_eq!(session.resets().len(), 0);
    let left = previews(&session);
    assert_eq!(left[1..], ["And the crates?", "Nine."]);
}

#[test]
fn a_compression_in_vain_is_none() {
    let session = session(fixture!(
        "gemini-cli/a_compression_in_vain_is_none/log.jsonl"
    ));
    assert_eq!(session.resets().len(), 1);
    assert_eq!(session.resets()[0].place.line(), 9);
    let why = |start: &str| {
        let mut items = session.items().iter();
        let item = items.find(|item| item.preview.starts_with(start));
        item.unwrap().left.map(|left| left.why)
    };
    assert_eq!(why("Count the shelves."), Some(LeaveReason::Compaction));
    assert_eq!(why("<state_snapshot>The"), Some(LeaveReason::Cleared));
    assert_eq!(why("<state_snapshot>Twelve"), None);
    assert_eq!(why("string 93"), Some(LeaveReason::Cleared));
    assert_eq!(previews(&session).len(), 9);
    assert_eq!(session.turns, 3);
}

#[test]
fn masking_writes_all_messages_again() {
    let log = fixture!("gemini-cli/masking_writes_all_messages_again/log.jsonl");
    let session = session(log);
    assert_eq!(session.resets().len(), 0);
    assert_eq!(prompts(&session), [9_000, 9_404, 9_120]);
    assert_eq!(previews(&session).len(), 8);
    assert_eq!(tools(&session).len(), 1);
    // While they come, they are not counted twice.
    let begun: Vec<&str> = log.lines().take(14).collect();
    let begun = fold(testing::read(&GEMINI_CLI, begun));
    assert_eq!((begun.context().known, begun.turns), (9_410, 1));
}

#[test]
fn its_own_count_is_the_last_prompt_or_an_estimate_of_the_history() {
    let log = fixture!("gemini-cli/a_resume_is_no_compaction_and_sends_results_twice/log.jsonl");
    let own = |lines: usize| {
        let session = fold(testing::read(&GEMINI_CLI, log.lines().take(lines)));
        session.own_count().map(|own| own.tokens)
    };
    assert_eq!(own(16), Some(9_608));
    // 999 by its own functions; each item is rounded up here.
    assert_eq!(own(20), Some(1_002));
    assert_eq!(own(24), Some(10_190));
}

#[test]
fn what_a_hook_adds_to_a_prompt_is_not_the_users() {
    let log = r#"{"sessionId":"s1","projectHash":"p","startTime":"2026-11-20T10:00:00Z"}
{"id":"u1","timestamp":"2026-11-20T10:00:01Z","type":"user","content":[{"text":"<hook_context>The build is green.</hook_context>\n\nLook at the log."},{"text":"<hook_context>Be brief.</hook_context>"}]}"#;
    let session = session(log);
    let items: Vec<_> = session
        .items()
        .iter()
        .map(|item| (item.role, &*item.preview))
        .collect();
    let hooks =
        "<hook_context>The build is green.</hook_context><hook_context>Be brief.</hook_context>";
    assert_eq!(
        items,
        [(Role::Container, hooks), (Role::User, "Look at the log.")]
    );
    assert_eq!(session.turns, 1);
}

#[test]
fn the_project_is_beside_the_chats() {
    let root = Path::new("/h/.gemini/tmp/shop/.project_root");
    let states = |log: &str| (GEMINI_CLI.beside.states)(Path::new(log));
    assert_eq!(states("/h/.gemini/tmp/shop/chats/session-1.jsonl"), [root]);
    assert_eq!(states("/h/.gemini/tmp/shop/chats/s1/a.jsonl"), [root]);
    assert!(states("/h/session-1.jsonl").is_empty());
    let mut out = EventSink::new(&ByLength);
    let mut decoder = GeminiCliDecoder::default();
    decoder.read_state("/home/dev/shop\n", &mut out);
    assert_eq!(fold(out.entries).project(), "shop");
}
