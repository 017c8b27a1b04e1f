//! What each trap of the format decodes to, on logs of `tests/fixtures/codex`.

use super::*;
use model::Role;
use model::event::{ByLength, ELIDED, Entry, Event, EventSink, Key, Place};
use model::session::Session;
use proptest::prelude::*;
use std::fmt::Write as _;
use std::sync::Arc;

mod edges;
mod newest;
mod responses;

fn fixture(name: &str) -> Vec<u8> {
    let root = env!("CARGO_MANIFEST_DIR");
    std::fs::read(format!("{root}/fixtures/codex/{name}/log.jsonl")).unwrap()
}

fn decode(log: &[u8]) -> Vec<Entry> {
    let mut decoder = CODEX.decoder();
    let mut out = EventSink::new(&ByLength);
    let mut offset = 0;
    for (number, line) in (1..).zip(log.split(|byte| *byte == b'\n')) {
        let len = line.len() as u64;
        out.begin(Place::new(number, offset, len));
        if !line.trim_ascii().is_empty() {
            decoder.read_line(&String::from_utf8_lossy(line), &mut out);
        }
        offset += len + 1;
    }
    out.entries
}

/// A fixture's entries, one a line; requests are `r1`, `r2`, … in the order in which they come.
fn story(name: &str) -> String {
    tell(&decode(&fixture(name)))
}

/// The lines of a story that begin with this word, each with the number of its line in the log.
fn only(story: &str, word: &str) -> Vec<String> {
    let says = |line: &&str| line.split(' ').nth(1) == Some(word);
    story.lines().filter(says).map(Into::into).collect()
}

fn session(name: &str) -> Session {
    let mut session = Session::new("codex", Arc::default());
    for entry in decode(&fixture(name)) {
        session.apply(entry);
    }
    session
}

/// What is in the context at the end, in the order of the log.
fn alive(session: &Session) -> Vec<String> {
    let items = session.alive().into_iter().map(|ix| &session.items()[ix]);
    items
        .map(|item| format!("{} {}", item.role.name(), &*item.preview))
        .collect()
}

/// A log of one tool result.
fn output_of(output: &str) -> Vec<Entry> {
    let line = serde_json::json!({
        "type": "response_item",
        "payload": {"type": "function_call_output", "call_id": "c", "output": output},
    });
    decode(line.to_string().as_bytes())
}

fn size_of(entries: &[Entry]) -> model::event::Size {
    match &entries[0].event {
        Event::Node(node) => node.items[0].size,
        other => panic!("{other:?}"),
    }
}

fn tell(entries: &[Entry]) -> String {
    let mut requests: Vec<Key> = Vec::new();
    let mut number = |key: Key| {
        let at = requests.iter().position(|known| *known == key);
        at.unwrap_or_else(|| {
            requests.push(key);
            requests.len() - 1
        }) + 1
    };
    let mut story = String::new();
    for entry in entries {
        write!(story, "{} ", entry.place.line()).unwrap();
        match &entry.event {
            Event::Meta(meta) => {
                let facts = [
                    ("id", &meta.id),
                    ("title", &meta.title),
                    ("cwd", &meta.cwd),
                    ("model", &meta.model),
                    ("version", &meta.version),
                    ("parent", &meta.parent),
                ];
                story += "meta";
                for (name, fact) in facts {
                    if let Some(fact) = fact {
                        write!(story, " {name}={fact}").unwrap();
                    }
                }
                if let Some(window) = meta.window {
                    write!(story, " window={window}").unwrap();
                }
            }
            Event::Node(node) => {
                story += if node.turn { "node turn" } else { "node" };
                if let Some(request) = node.request {
                    write!(story, " r{}", number(request)).unwrap();
                }
                for item in &node.items {
                    write!(story, " {}/{}", item.role.name(), item.kind.name()).unwrap();
                    if let Some(tool) = &item.tool {
                        write!(story, " [{tool}]").unwrap();
                    }
                    for (name, size) in [("fixed", item.size.fixed), ("opaque", item.size.opaque)] {
                        if size > 0 {
                            write!(story, " {name}={size}").unwrap();
                        }
                    }
                    write!(story, " '{}'", item.preview).unwrap();
                }
            }
            Event::Usage(usage) => {
                let (b, r) = (usage.billed, number(usage.request));
                let or = |n: Option<u64>| n.map_or("?".into(), |n| n.to_string());
                write!(
                    story,
                    "usage r{r} {} {}+{} out {} ({}) billed {} {} {} {}",
                    usage.source.name(),
                    usage.prompt - usage.cached,
                    usage.cached,
                    or(usage.output),
                    or(usage.reasoning),
                    b.input,
                    b.cache_read,
                    b.output,
                    b.reasoning,
                )
                .unwrap();
            }
            Event::Billed { billed: b, .. } => write!(
                story,
                "billed {} {} {} {}",
                b.input, b.cache_read, b.output, b.reasoning,
            )
            .unwrap(),
            Event::Reset(reset) => write!(story, "reset {}", reset.cause.name()).unwrap(),
            Event::Rollback { turns } => write!(story, "rollback {turns}").unwrap(),
            Event::Skipped(kind) => write!(story, "skipped {kind}").unwrap(),
            Event::Unreadable(_) => story += "unreadable",
            other => write!(story, "{other:?}").unwrap(),
        }
        story.push('\n');
    }
    story
}

#[test]
fn outputs_stand_before_the_count_that_does_not_include_them() {
    let story = story("outputs-before-count");
    assert_eq!(
        story.lines().skip(5).collect::<Vec<_>>(),
        [
            "4 node turn user/text 'fix the total'",
            "5 node r1 assistant/thinking opaque=68 'Looking at the cart'",
            "6 node r1 assistant/tool_call [exec_command] 'cargo test'",
            "7 node r1 assistant/tool_call [apply_patch] ''",
            "8 node tool/tool_result [exec_command] '3 failed'",
            "9 node tool/tool_result [apply_patch] 'done'",
            "10 usage r1 reported 9000+0 out 100 (40) billed 9000 0 100 40",
            "11 node r2 assistant/text 'Fixed.'",
            "12 usage r2 reported 130+9000 out 20 (0) billed 9130 9000 20 0",
        ]
    );
    let session = session("outputs-before-count");
    // 9,130 of prompt less 9,100 before: what the two outputs cost.
    let outputs = session
        .items()
        .iter()
        .filter(|item| item.role == Role::Tool);
    assert_eq!(
        outputs.map(|item| item.attributed.unwrap().0).sum::<u64>(),
        30
    );
    assert_eq!(session.context().known, 9_150);
}

#[test]
fn the_first_line_holds_a_prompt_and_tools() {
    let story = story("outputs-before-count");
    assert_eq!(
        only(&story, "node")[0],
        "1 node container/prompt 'You are Codex.' container/tool_list \
         '[{\"name\":\"open_page\",\"description\":\"Opens a page\"}]'"
    );
    assert_eq!(
        only(&story, "meta"),
        [
            "1 meta id=11111111-1111-7111-8111-111111111111 cwd=/home/ada/shop version=0.146.0",
            "2 meta window=258400",
            "3 meta model=gpt-5.6-sol",
        ]
    );
}

#[test]
fn events_that_repeat_the_history_are_passed_over() {
    let story = story("duplicate-events");
    assert_eq!(
        only(&story, "node"),
        [
            "4 node turn user/text 'hello'",
            "7 node r1 assistant/text 'hi'"
        ]
    );
    assert!(story.contains("5 skipped event_msg/user_message\n"));
    assert!(story.contains("8 skipped event_msg/agent_message\n"));
    assert!(story.contains("11 skipped world_state\n"));
    // The short way around such a line and the long one come to the same.
    let spaced = br#"{"timestamp": "2026-08-01T10:00:00Z", "type": "event_msg", "payload": {"type": "user_message", "message": "hello"}}"#;
    let close = String::from_utf8_lossy(spaced)
        .replace(": ", ":")
        .replace(", ", ",");
    let (long, short) = (decode(spaced), decode(close.as_bytes()));
    assert_eq!((long[0].at, &long[0].event), (short[0].at, &short[0].event));
    assert!(long[0].at.is_some());
}

#[test]
fn a_repeated_count_is_no_new_call() {
    assert_eq!(
        only(&story("repeated-count"), "usage"),
        [
            "7 usage r1 reported 5000+0 out 10 (0) billed 5000 0 10 0",
            "14 usage r2 reported 38+4992 out 10 (0) billed 5030 4992 10 0",
        ]
    );
}

#[test]
fn after_a_compaction_codex_estimates() {
    let story = story("encrypted-compaction");
    assert_eq!(
        story.lines().skip(9).take(4).collect::<Vec<_>>(),
        [
            "8 reset auto",
            "8 node container/reminder '<permissions instructions>ask first</permissions instructions>'",
            "8 node user/text 'count the rows'",
            "8 node container/summary opaque=40 '[encrypted summary]'",
        ]
    );
    // The estimate once, though its line is repeated; the message after it is of the same turn.
    assert_eq!(
        only(&story, "usage")[1..],
        [
            "11 usage r2 agent 6120+0 out ? (?) billed 0 0 0 0",
            "16 usage r3 reported 8000+0 out 10 (0) billed 8000 0 10 0",
        ]
    );
    assert!(story.contains("14 node user/text 'and quickly'"));
    let session = session("encrypted-compaction");
    assert_eq!(session.turns, 1);
    assert_eq!(
        alive(&session),
        [
            "container You are Codex.",
            "container <permissions instructions>ask first</permissions instructions>",
            "user count the rows",
            "container [encrypted summary]",
            "user and quickly",
            "assistant Twelve.",
        ]
    );
}

#[test]
fn a_summary_among_user_messages_is_the_containers() {
    let story = story("local-compaction");
    let nodes = only(&story, "node");
    assert_eq!(nodes[2], "8 node user/text 'count the rows'");
    assert!(nodes[3].starts_with("8 node container/summary 'Another language model"));
    // The call that wrote the summary has a count and no line of its own.
    assert_eq!(
        only(&story, "usage")[1],
        "7 usage r2 reported 100+200000 out 490 (0) billed 200100 200000 490 0"
    );
    // Without the usual beginning, it is recognised by the payload's own message.
    assert_eq!(
        alive(&session("summary-alone")),
        ["container Rows counted: 12."]
    );
}

#[test]
fn an_old_compaction_keeps_the_opening_and_the_users_words() {
    assert_eq!(
        alive(&session("legacy-compaction")),
        [
            "container <environment_context> <cwd>/home/ada/shop</cwd> </environment_context>",
            "user count the rows",
            "user and the columns",
            "container Rows counted: 12.",
        ]
    );
}

#[test]
fn an_old_compaction_keeps_no_more_of_the_users_words_than_fits() {
    let says = |text: &str| {
        let part = serde_json::json!([{"type": "input_text", "text": text}]);
        serde_json::json!({"type": "response_item",
            "payload": {"type": "message", "role": "user", "content": part}})
        .to_string()
    };
    let long = "word ".repeat(15_000);
    let compacted = r#"{"type":"compacted","payload":{"message":"Short."}}"#;
    let log = [&says("first"), &says(&long), &says("last"), compacted].map(String::from);
    let mut session = Session::new("codex", Arc::default());
    for entry in decode(log.join("\n").as_bytes()) {
        session.apply(entry);
    }
    assert_eq!(session.alive().len(), 4);
    let log = [&says("first"), &says(&long), &says(&long), compacted].map(String::from);
    let mut session = Session::new("codex", Arc::default());
    for entry in decode(log.join("\n").as_bytes()) {
        session.apply(entry);
    }
    assert_eq!(session.alive().len(), 2);
}

#[test]
fn the_cause_of_a_compaction_before_the_users_message_is_not_logged() {
    assert_eq!(
        only(&story("manual-compaction"), "reset"),
        ["8 reset unknown"]
    );
}

#[test]
fn a_compaction_for_a_smaller_window_is_one_for_another_model() {
    let log = String::from_utf8(fixture("compacted-for-another-model")).unwrap();
    let causes = |log: String| {
        let causes = decode(log.as_bytes()).into_iter();
        let causes = causes.filter(|entry| matches!(entry.event, Event::ResetCause(_)));
        causes.count()
    };
    let same_hash = log.replace("\"3000\"", "\"2911\"");
    assert_eq!(causes(same_hash.clone()), 0);
    assert_eq!(causes(same_hash.replacen("258400", "475000", 2)), 1);
    let same_model = same_hash.replace("gpt-5.6-sol", "gpt-5.5");
    assert_eq!(causes(same_model.replacen("258400", "475000", 2)), 0);
}

#[test]
fn an_overflow_fills_the_count_and_reports_nothing() {
    assert_eq!(
        only(&story("overflow"), "usage"),
        [
            "6 usage r1 reported 250000+0 out 10 (0) billed 250000 0 10 0",
            "9 usage r2 reported 100000+0 out 20 (0) billed 100000 0 20 0",
        ]
    );
}

#[test]
fn what_the_harness_says_as_the_user_is_the_containers() {
    let nodes = only(&story("contextual-messages"), "node");
    let kinds: Vec<_> = nodes
        .iter()
        .map(|node| node.split(" '").next().unwrap())
        .collect();
    assert_eq!(
        kinds,
        [
            "2 node container/reminder",
            "3 node container/memory",
            "6 node turn user/text", // a mark without its end is a user's word
            "7 node container/skill",
            "8 node container/reminder",
            "9 node container/reminder",
            "10 node container/reminder",
            "11 node container/reminder",
            "12 node container/reminder",
        ]
    );
    assert!(nodes[0].contains("' container/tool_list '<skills_instructions>"));
    assert!(nodes[1].contains("' container/reminder '<environment_context>"));
}

#[test]
fn a_message_put_into_a_running_turn_begins_none() {
    let nodes = only(&story("steered-turn"), "node");
    assert_eq!(nodes[0], "4 node turn user/text 'fix it'");
    assert_eq!(nodes[3], "7 node user/text 'and be quick'");
    assert_eq!(nodes[5], "13 node turn user/text 'now ship it'");
}

#[test]
fn old_files_tell_of_turns_by_their_settings_or_by_answers() {
    let said = |name: &str| -> Vec<String> {
        let nodes = only(&story(name), "node");
        nodes
            .into_iter()
            .filter(|node| node.contains(" user/text"))
            .collect()
    };
    assert_eq!(
        said("settings-each-request"),
        [
            "2 node turn user/text 'fix it'",
            "9 node user/text 'and be quick'",
            "12 node turn user/text 'now ship it'",
            "17 node turn user/text 'no, wait'",
        ]
    );
    assert_eq!(
        said("settings-first"),
        [
            "3 node turn user/text 'fix it'",
            "7 node turn user/text 'now ship it'"
        ]
    );
}

#[test]
fn a_response_that_was_broken_off_is_a_request_of_its_own() {
    let story = story("aborted-response");
    assert!(story.contains("6 node r1 assistant/tool_call"));
    assert!(story.contains("12 node r2 assistant/text 'done'"));
    assert_eq!(
        only(&story, "usage"),
        ["13 usage r2 reported 5000+0 out 10 (0) billed 5000 0 10 0"]
    );
}
