//! What the fixtures' reports do not show: conversations, claims, recognition, the text behind an item.

use super::*;
use crate::testing::{self, fixture};
use model::event::{ByLength, Entry, Measure, Size};
use std::cell::Cell;

fn entries(log: &str) -> Vec<Entry> {
    testing::read(&CLAUDE_CODE, log.lines())
}

#[test]
fn an_interleaved_sub_agent_has_a_lane_of_its_own_and_a_parent() {
    let entries = entries(fixture!("claude-code/sidechain_interleaved/log.jsonl"));
    let side: Vec<&Entry> = entries
        .iter()
        .filter(|e| e.conversation != Conversation::Main)
        .collect();
    let lines: Vec<u64> = side
        .iter()
        .filter(|e| matches!(e.event, Event::Node(_)))
        .map(|e| e.place.line())
        .collect();
    assert_eq!(lines, [3, 4, 5, 6]);
    assert!(side.iter().all(|e| e.conversation == side[0].conversation));
    let parent = side.iter().find_map(|e| match &e.event {
        Event::Meta(meta) => meta.parent.as_deref(),
        _ => None,
    });
    assert_eq!(parent, Some("5e55"));
}

#[test]
fn a_sub_agents_own_file_is_its_main_lane() {
    let entries = entries(fixture!("claude-code/subagent_file/log.jsonl"));
    assert!(entries.iter().all(|e| e.conversation == Conversation::Main));
}

#[test]
fn a_response_reports_under_one_key_on_each_of_its_lines() {
    let entries = entries(fixture!("claude-code/response_in_several_lines/log.jsonl"));
    let mut keys = entries.iter().filter_map(|e| match &e.event {
        Event::Usage(usage) => Some(usage.request),
        _ => None,
    });
    let first = keys.next().unwrap();
    let usages: Vec<(u64, Option<u64>)> = entries
        .iter()
        .filter_map(|e| match &e.event {
            Event::Usage(usage) if usage.request == first => Some((usage.prompt, usage.output)),
            _ => None,
        })
        .collect();
    let placeholder = (21_003, None);
    assert_eq!(
        usages,
        [placeholder, placeholder, placeholder, (21_003, Some(180))]
    );
}

#[test]
fn a_sub_agents_response_in_its_parents_log_is_billed_under_its_own_key() {
    let progress = r#"{"type":"progress","uuid":"p1","data":{"type":"agent_progress","message":{"type":"assistant","uuid":"a1","requestId":"r1","message":{"id":"m7","role":"assistant","usage":{"input_tokens":3,"cache_creation_input_tokens":13522,"output_tokens":40}}}}}"#;
    let other = r#"{"type":"progress","uuid":"p2","data":{"type":"bash_progress","output":"\"usage\": see below"}}"#;
    let own = r#"{"type":"assistant","uuid":"a1","requestId":"r1","message":{"id":"m7","role":"assistant","usage":{"input_tokens":3,"output_tokens":40}}}"#;
    let key = entries(own).iter().find_map(|entry| match &entry.event {
        Event::Usage(usage) => Some(usage.request),
        _ => None,
    });
    let entries = entries(&format!("{progress}\n{other}\n"));
    let billed: Vec<(Key, u64, u64)> = entries
        .iter()
        .filter_map(|entry| match &entry.event {
            Event::Billed {
                request, billed, ..
            } => Some((*request, billed.prompt(), billed.output)),
            _ => None,
        })
        .collect();
    assert_eq!(billed, [(key.unwrap(), 13_525, 40)]);
}

#[test]
fn paths_tell_sub_agents_from_sessions() {
    let claim = |path: &str| CLAUDE_CODE.claims(Path::new(path));
    let id = "5e550000-0000-4000-8000-000000000001";
    let session = claim(&format!("/h/.claude/projects/-p/{id}.jsonl")).unwrap();
    assert_eq!((session.id.as_deref(), session.parent), (Some(id), None));
    let sub = claim(&format!(
        "/h/p/{id}/subagents/workflows/wf_1/agent-a8.jsonl"
    ))
    .unwrap();
    assert_eq!(sub.id.as_deref(), Some("agent-a8"));
    assert_eq!(sub.parent.as_deref(), Some(id));
    assert_eq!(claim("/h/p/x/subagents/workflows/wf_1/journal.jsonl"), None);
    assert_eq!(claim("/h/p/notes.txt"), None);
}

#[test]
fn logs_are_recognised_by_their_first_bytes_however_cut() {
    let log = fixture!("claude-code/attachments_by_type/log.jsonl").as_bytes();
    assert!(CLAUDE_CODE.recognise(log));
    assert!(CLAUDE_CODE.recognise(&log[..300]));
    assert!(!CLAUDE_CODE.recognise(b"{\"type\":\"session_meta\",\"payload\":{}}"));
    assert!(!CLAUDE_CODE.recognise(b""));
}

#[test]
fn reminders_are_split_from_the_text_they_stand_in() {
    let entries = entries(fixture!(
        "claude-code/meta_and_reminders_are_container/log.jsonl"
    ));
    let roles: Vec<Role> = entries
        .iter()
        .filter_map(|e| match &e.event {
            Event::Node(node) if e.place.line() == 9 => Some(&node.items),
            _ => None,
        })
        .flatten()
        .map(|item| item.role)
        .collect();
    assert_eq!(roles, [Role::User, Role::Container]);
}

#[test]
fn a_snapshot_of_what_a_request_has_shown_is_not_measured() {
    struct Counting(Cell<u32>);

    impl Measure for Counting {
        fn text(&self, text: &str) -> Size {
            self.0.set(self.0.get() + 1);
            ByLength.text(text)
        }
    }

    let shape = r#"{"type":"api-request-shape","shapeHash":"s","shape":{"system":[{"type":"text","text":"You tend the shop."}],"tools":[]}}"#;
    let snapshot = r#"{"parentUuid":null,"isSidechain":false,"type":"attachment","attachment":{"type":"prompt_snapshot","systemPrompt":["You tend the shop."]},"uuid":"u1","sessionId":"5e55","version":"2.1.300"}"#;
    let measured = |lines: &[&str]| {
        let counting = Counting(Cell::new(0));
        let mut out = EventSink::new(&counting);
        let mut decoder = CLAUDE_CODE.decoder();
        lines
            .iter()
            .for_each(|line| decoder.read_line(line, &mut out));
        drop(out);
        counting.0.get()
    };
    assert_eq!(measured(&[snapshot]), 1);
    assert_eq!(measured(&[shape]), 1);
    assert_eq!(measured(&[shape, snapshot, snapshot]), 1);
}

mod life;

#[test]
fn a_fork_without_its_parents_log_lacks_its_beginning_once() {
    let log = fixture!("claude-code/fork_inherits_the_parents_context/log.jsonl");
    let root = r#"{"type":"system","subtype":"compact_boundary","uuid":"s9","parentUuid":null,"agentId":"af1","isSidechain":true}"#;
    let entries = entries(&format!("{log}{root}\n"));
    let missing = |entry: &&Entry| entry.event == Event::BeginningMissing;
    assert_eq!(entries.iter().filter(missing).count(), 1);
    assert!(
        entries
            .iter()
            .all(|entry| entry.conversation == Conversation::Main)
    );
}

#[test]
fn nobody_is_at_a_session_in_the_background() {
    let attended = |more: &str| {
        let line = format!(
            r#"{{"type":"user","uuid":"u","sessionId":"s","entrypoint":"cli"{more},"message":{{"role":"user","content":"Go."}}}}"#
        );
        let entries = crate::testing::read(&CLAUDE_CODE, [line]).into_iter();
        let mut metas = entries.filter_map(|entry| match entry.event {
            Event::Meta(meta) => meta.attended,
            _ => None,
        });
        metas.next()
    };
    assert_eq!(attended(""), Some(true));
    assert_eq!(attended(r#","sessionKind":"interactive""#), Some(true));
    assert_eq!(attended(r#","sessionKind":"bg""#), Some(false));
}
