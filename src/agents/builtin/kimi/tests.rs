//! What the fixtures' reports do not show: conversations, claims, recognition, times.

use super::*;
use crate as agents;
use crate::testing::{self, fixture};
use model::event::{Conversation, Entry, Event, Usage};
use std::path::PathBuf;

fn entries(log: &str) -> Vec<Entry> {
    testing::read(&KIMI, log.lines())
}

fn usages(entries: &[Entry], wanted: impl Fn(Conversation) -> bool) -> Vec<&Usage> {
    let of = entries.iter().filter(|entry| wanted(entry.conversation));
    of.filter_map(|entry| match &entry.event {
        Event::Usage(usage) => Some(&**usage),
        _ => None,
    })
    .collect()
}

#[test]
fn the_call_that_writes_a_summary_is_no_conversation() {
    let entries = entries(fixture!(
        "kimi/compaction_keeps_what_persons_said/log.jsonl"
    ));
    assert!(
        entries
            .iter()
            .all(|entry| entry.conversation == Conversation::Main)
    );
    let aside = entries.iter().filter_map(|entry| match &entry.event {
        Event::Billed { billed, .. } => Some((billed.prompt(), billed.cache_read, billed.output)),
        _ => None,
    });
    assert_eq!(aside.collect::<Vec<_>>(), [(12_411, 11_000, 937)]);
    let own = usages(&entries, |conversation| conversation == Conversation::Main);
    let prompts: Vec<u64> = own.iter().map(|usage| usage.prompt).collect();
    assert_eq!(prompts, [12_000, 12_060, 12_080]);
}

#[test]
fn a_sub_agents_events_are_a_conversation_of_their_own() {
    let entries = entries(fixture!("kimi/cli_wire_sub_agents/log.jsonl"));
    let conversation = Conversation::Side(Key::of("ac1"));
    let side = usages(&entries, |of| of == conversation);
    assert_eq!(
        (side.len(), side[0].prompt, side[0].output),
        (1, 5_000, Some(3))
    );
    let own = usages(&entries, |of| of == Conversation::Main);
    let prompts: Vec<u64> = own.iter().map(|usage| usage.prompt).collect();
    assert_eq!(prompts, [12_000, 12_030]);
    let facts = entries.iter().find_map(|entry| match &entry.event {
        Event::Meta(meta) if entry.conversation == conversation => {
            Some((meta.id.clone(), meta.title.clone()))
        }
        _ => None,
    });
    assert_eq!(facts, Some((Some("ac1".into()), Some("coder".into()))));
}

#[test]
fn a_copy_repeats_requests_under_their_keys() {
    let keys = |log: &str| -> Vec<Key> {
        let entries = entries(log);
        usages(&entries, |_| true)
            .iter()
            .map(|usage| usage.request)
            .collect()
    };
    for log in [
        fixture!("kimi/results_stand_before_the_report/log.jsonl"),
        fixture!("kimi/cli_wire/log.jsonl"),
    ] {
        let (first, rest) = log.split_once('\n').unwrap();
        let copy = format!("{first}\n{{\"type\":\"forked\"}}\n{rest}");
        assert_eq!(keys(log).len(), 2);
        assert_eq!(keys(log), keys(&copy));
    }
}

/// What the agent counts for the items of these lines, in its bytes.
fn counted(log: &str) -> Vec<Option<u32>> {
    let entries = entries(log);
    let nodes = entries.iter().filter_map(|entry| match &entry.event {
        Event::Node(node) => Some(&node.items),
        _ => None,
    });
    nodes.flatten().map(|item| item.size.own_bytes).collect()
}

#[test]
fn its_own_count_of_a_message() {
    let user = |content: &str| {
        format!(
            r#"{{"type":"context.append_message","message":{{"role":"user","content":{content},"origin":{{"kind":"user"}}}}}}"#
        )
    };
    // One token for the author, and each text rounded up.
    assert_eq!(counted(&user(r#""abcde""#)), [Some(4 + 8)]);
    let two = r#"[{"type":"text","text":"abcde"},{"type":"text","text":"a"}]"#;
    assert_eq!(counted(&user(two)), [Some(4 + 8 + 4)]);
    assert_eq!(counted(&user(r#""ab 你好""#)), [Some(4 + 4 + 8)]);
    let image = r#"[{"type":"image_url","imageUrl":{"url":"data:image/png;base64,AAAA"}}]"#;
    assert_eq!(counted(&user(image)), [Some(4 + 8_000)]);
    let result = r#"{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"c","result":{"output":"12345678"}}}"#;
    assert_eq!(counted(result), [Some(4 + 8)]);
}

#[test]
fn times_are_seconds_or_milliseconds() {
    let at = |number| message::time(number).map(|at| at.to_string());
    let time = Some("2026-03-31T09:36:25.25Z");
    assert_eq!(at(1_774_949_785.25).as_deref(), time);
    assert_eq!(at(1_774_949_785_250.0).as_deref(), time);
    for odd in [-5.0, 1e300] {
        assert_eq!(at(odd), None, "{odd}");
    }
}

#[test]
fn logs_are_claimed_by_path_and_recognised_by_content() {
    let claim = |path: &str| KIMI.claims(Path::new(path));
    let code = "/home/dev/.kimi-code/sessions/wd_shop_1/session_5e55/agents";
    let main = claim(&format!("{code}/main/wire.jsonl")).unwrap();
    assert_eq!(
        (main.id.as_deref(), main.parent),
        (Some("session_5e55"), None)
    );
    let side = claim(&format!("{code}/agent-0/wire.jsonl")).unwrap();
    assert_eq!(side.id.as_deref(), Some("session_5e55/agent-0"));
    assert_eq!(side.parent.as_deref(), Some("session_5e55"));
    let cli = "/home/dev/.kimi/sessions/73d3cf/5e55";
    let session = claim(&format!("{cli}/wire.jsonl")).unwrap();
    assert_eq!(
        (session.id.as_deref(), session.parent),
        (Some("5e55"), None)
    );
    let context = format!("{cli}/context.jsonl");
    let old = claim(&context).unwrap();
    assert_eq!((old.id.as_deref(), old.parent), (Some("5e55"), None));
    let wire = PathBuf::from(format!("{cli}/wire.jsonl"));
    let superseded_by = |path: &Path| KIMI.claims(path).and_then(|claim| claim.superseded_by);
    assert_eq!(superseded_by(&wire), None);
    assert_eq!(superseded_by(Path::new(&context)), Some(wire));
    for other in [
        "context_1.jsonl",
        "state.json",
        "subagents/ac1/wire.jsonl",
        "subagents/ac1/context.jsonl",
    ] {
        assert_eq!(claim(&format!("{cli}/{other}")), None, "{other}");
    }
}

#[test]
fn all_three_kinds_are_told_from_other_logs() {
    let whose = |log: &str| agents::recognise(log.as_bytes()).map(|format| format.id);
    for log in [
        fixture!("kimi/who_says_what/log.jsonl"),
        fixture!("kimi/cli_wire/log.jsonl"),
        fixture!("kimi/cli_context/log.jsonl"),
        "{\"timestamp\": 1774949785.2, \"message\": {\"type\": \"TurnBegin\", \"payload\"",
        "{\"role\": \"_checkpoint\", \"id\": 0}",
    ] {
        assert_eq!(whose(log), Some("kimi"), "{}", &log[..40]);
    }
    for log in [
        "{\"role\":\"user\",\"content\":\"hi\"}",
        "{\"timestamp\":1,\"message\":{\"role\":\"user\"}}",
        "{\"type\":\"metadata\"}",
    ] {
        assert_eq!(whose(log), None, "{log}");
    }
}
