//! What the fixtures' reports do not show: conversations, claims, recognition.

use super::*;
use crate::testing::{self, fixture};
use model::event::{ByLength, Entry, Place};
use model::session::Session;
use std::sync::Arc;

fn entries(log: &str) -> Vec<Entry> {
    testing::read(&QWEN_CODE, log.lines())
}

#[test]
fn an_interleaved_sub_agent_has_a_lane_of_its_own_and_a_parent() {
    let entries = entries(fixture!("qwen-code/sidechain_interleaved/log.jsonl"));
    let side: Vec<&Entry> = entries
        .iter()
        .filter(|e| e.conversation != Conversation::Main)
        .collect();
    let conversation = Conversation::Side(Key::of("explore-7f3c"));
    assert!(side.iter().all(|e| e.conversation == conversation));
    let lines: Vec<u64> = side
        .iter()
        .filter(|e| matches!(e.event, Event::Node(_)))
        .map(|e| e.place.line())
        .collect();
    assert_eq!(lines, [3, 4]);
    let meta = side.iter().find_map(|e| match &e.event {
        Event::Meta(meta) => Some(meta),
        _ => None,
    });
    let meta = meta.expect("facts of the sub-agent");
    assert_eq!(meta.id.as_deref(), Some("explore-7f3c"));
    assert_eq!(meta.parent.as_deref(), Some("5e55"));
}

#[test]
fn a_sub_agents_own_file_is_its_main_lane() {
    let entries = entries(fixture!("qwen-code/subagent_file/log.jsonl"));
    assert!(entries.iter().all(|e| e.conversation == Conversation::Main));
}

#[test]
fn a_branched_file_repeats_requests_under_their_keys() {
    let keys = |log: &str| -> Vec<Key> {
        let usage = |entry: Entry| match entry.event {
            Event::Usage(usage) => Some(usage.request),
            _ => None,
        };
        entries(log).into_iter().filter_map(usage).collect()
    };
    let log = fixture!("qwen-code/rewind_leaves_a_branch/log.jsonl");
    let fork = log.replace("\"sessionId\":\"5e55\"", "\"sessionId\":\"f04c\"");
    assert_ne!(log, fork);
    assert_eq!(keys(log).len(), 3);
    assert_eq!(keys(log), keys(&fork));
}

#[test]
fn logs_are_claimed_by_path_and_recognised_by_content() {
    let claim = |path: &str| QWEN_CODE.claims(Path::new(path));
    let id = "019f0000-0000-7000-8000-000000000001";
    let main = claim(&format!("/q/projects/-p/chats/{id}.jsonl")).unwrap();
    assert_eq!((main.id.as_deref(), main.parent), (Some(id), None));
    let compact = claim("/q/projects/-p/chats/019f0000000070008000000000000003.jsonl");
    assert!(compact.is_some());
    let side = claim(&format!("/q/projects/-p/subagents/{id}/agent-x-7f3c.jsonl")).unwrap();
    assert_eq!(side.id.as_deref(), Some("x-7f3c"));
    assert_eq!(side.parent.as_deref(), Some(id));
    for other in [
        "/q/projects/-p/chats/notes.jsonl",
        "/q/projects/-p/chats/x/agent-a.jsonl",
        "/q/projects/-p/subagents/s/agent-a.meta.json",
        "/q/projects/-p/subagents/s/agent-a.jsonl.stream",
        "agent-a.jsonl",
        "x",
    ] {
        assert_eq!(claim(other), None, "{other}");
    }
}

#[test]
fn its_logs_and_claude_codes_are_told_apart() {
    let whose = |log: &str| crate::recognise(log.as_bytes()).map(|format| format.id);
    assert_eq!(
        whose(fixture!("qwen-code/rewind_leaves_a_branch/log.jsonl")),
        Some("qwen-code")
    );
    assert_eq!(
        whose(fixture!("qwen-code/subagent_file/log.jsonl")),
        Some("qwen-code")
    );
    let claude = fixture!("claude-code/subagent_file/log.jsonl");
    assert_eq!(whose(claude), Some("claude-code"));
    let quoted = claude.replace(
        "\"role\":\"user\"",
        "\"x\":\"\\\"role\\\":\\\"user\\\",\\\"parts\\\":[\"",
    );
    assert_eq!(whose(&quoted), Some("claude-code"));
}

#[test]
fn a_result_that_the_compressed_history_lacks_is_sent_next() {
    let log = fixture!("qwen-code/reminders_come_again_after_a_compaction/log.jsonl");
    let start = log.find(r#",{"role":"user","parts":[{"functionResponse":{"id":"c3""#);
    let start = start.expect("the result in the history");
    let end = start + log[start..].find("]}]}}").expect("its end") + 2;
    let open = [&log[..start], &log[end..]].concat();
    let sessions = testing::sessions(&QWEN_CODE, open.lines().take(10));
    let session = &sessions[&Conversation::Main];
    let held = testing::previews(session);
    assert!(held.iter().any(|text| text.starts_with("3000")), "{held:?}");
    // A process that resumes does not have it.
    let resumed = testing::sessions(&QWEN_CODE, open.lines());
    let held = testing::previews(&resumed[&Conversation::Main]);
    assert!(
        !held.iter().any(|text| text.starts_with("3000")),
        "{held:?}"
    );
}

#[test]
fn the_file_beside_a_sub_agent_has_its_model_title_and_parent() {
    let about = "/h/.qwen/projects/-p/subagents/5e55/agent-explore-7f3c.meta.json";
    let states = |log: &str| (QWEN_CODE.beside.states)(Path::new(log));
    let log = about.replace(".meta.json", ".jsonl");
    assert_eq!(states(&log), [Path::new(about)]);
    assert!(states("/h/.qwen/projects/-p/chats/5e55.jsonl").is_empty());
    let read = |about: &str| {
        let mut out = EventSink::new(&ByLength);
        let mut decoder = QwenCodeDecoder::default();
        let state = decoder.read_state(about, &mut out);
        fixture!("qwen-code/subagent_file/log.jsonl")
            .lines()
            .enumerate()
            .for_each(|(n, line)| {
                out.begin(Place::of_line(n as u64 + 1));
                decoder.read_line(line, &mut out);
            });
        let mut session = Session::new("qwen-code", Arc::default());
        out.entries
            .into_iter()
            .for_each(|entry| session.apply(entry));
        (state, session.meta.clone())
    };
    let whole = r#"{"description":"Count files","parentAgentId":"plan-1","persistedCliFlags":{"model":"qwen3-coder-plus"}}"#;
    let (state, meta) = read(whole);
    assert_eq!(state, Some(StateUpdate::Accepted));
    assert_eq!(meta.title.as_deref(), Some("Count files"));
    assert_eq!(meta.parent.as_deref(), Some("plan-1"));
    assert_eq!(meta.model.as_deref(), Some("qwen3-coder-plus"));
    let own = whole.replace("}}", r#"},"model":"qwen3-max"}"#);
    assert_eq!(read(&own).1.model.as_deref(), Some("qwen3-max"));
    // Without it, or with half of it, the records' own.
    let (state, meta) = read(&whole[..40]);
    assert_eq!(state, None);
    assert_eq!(meta.title.as_deref(), Some("Explore"));
    assert_eq!(meta.parent.as_deref(), Some("5e55"));
}
