//! What the reports of the fixtures do not show: conversations, recognition, names, odd streams, properties.

use super::*;
use crate as agents;
use crate::testing;
use model::event::{ByLength, Conversation, Entry};
use model::session::Session;
use model::{LeaveReason, Role};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

fn entries(lines: impl IntoIterator<Item = String>) -> Vec<Entry> {
    testing::read(&REQUEST_LOG, lines)
}

fn sessions(lines: impl IntoIterator<Item = String>) -> BTreeMap<Conversation, Session> {
    testing::sessions(&REQUEST_LOG, lines)
}

fn fixture(name: &str) -> BTreeMap<Conversation, Session> {
    sessions(text(name).lines().map(str::to_owned))
}

fn text(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/request-log");
    std::fs::read_to_string(format!("{folder}/{name}/log.jsonl")).unwrap()
}

/// Each session's prompts and what its context holds, the main one's first.
fn contents(sessions: &BTreeMap<Conversation, Session>) -> Vec<(Vec<u64>, Vec<&str>)> {
    let one = |session: &Session| session.requests().iter().map(|r| r.prompt).collect();
    sessions
        .values()
        .map(|session| (one(session), texts(session)))
        .collect()
}

fn texts(session: &Session) -> Vec<&str> {
    let items = session.alive().into_iter().map(|ix| &session.items()[ix]);
    items
        .filter(|item| !matches!(item.kind, Kind::Prompt | Kind::ToolList))
        .map(|item| &*item.preview)
        .collect()
}

fn message(role: &str, text: &str) -> Value {
    json!({"role": role, "content": text})
}

fn chat(messages: &[Value], answer: &str, prompt: u64) -> Value {
    json!({
        "request": {"model": "gpt-4o", "messages": messages},
        "response": {
            "choices": [{"message": {"role": "assistant", "content": answer}}],
            "usage": {"prompt_tokens": prompt, "completion_tokens": 5},
        },
    })
}

#[test]
fn a_time_stands_in_the_line_before_it_or_in_the_response() {
    let at = |line: &str| {
        let entries = entries([line.to_owned()]);
        entries.last().unwrap().at.map(|at| at.to_string())
    };
    let line = chat(&[message("user", "Hi.")], "Hello.", 9);
    assert_eq!(at(&line.to_string()), None);
    for before in [
        "2026-10-01 09:00:00,250 - autogen_core.events - INFO - ",
        "[2026-10-01T09:00:00.250] INFO:autogen_core.events:",
        "2026-10-01T11:00:00.250+02:00 INFO ",
    ] {
        let time = at(&format!("{before}{line}"));
        assert_eq!(time.as_deref(), Some("2026-10-01T09:00:00.25Z"), "{before}");
    }
    assert_eq!(at(&format!("12 INFO: {line}")), None);
    let mut created = line;
    created["response"]["created"] = json!(1_790_845_200);
    let time = at(&created.to_string());
    assert_eq!(time.as_deref(), Some("2026-10-01T09:00:00Z"));
}

#[test]
fn a_summary_goes_to_the_conversation_that_it_quotes() {
    let sessions = fixture("compaction-by-another-prompt");
    let contents = contents(&sessions);
    let prompts: Vec<&[u64]> = contents.iter().map(|(prompts, _)| &prompts[..]).collect();
    // Another one was asked for in between.
    assert_eq!(
        prompts,
        [&[300, 1_400, 1_395, 450, 520][..], &[296, 360, 380]]
    );
    let resets: Vec<usize> = sessions.values().map(|s| s.resets().len()).collect();
    assert_eq!(resets, [1, 0]);
    assert_eq!(contents[1].1.len(), 6, "and keeps all it had");
}

#[test]
fn conversations_without_ids_have_lanes_by_their_history() {
    let sessions = fixture("two-conversations-without-ids");
    let contents = contents(&sessions);
    assert_eq!(contents[0].0, [190, 205, 220]);
    assert_eq!(
        contents[1],
        (
            vec![190, 205],
            vec!["Name a colour.", "Blue.", "Another.", "Green."]
        )
    );
}

#[test]
fn calls_aside_are_counted_in_a_lane_of_their_own() {
    let sessions = fixture("side-calls-are-not-the-context");
    assert_eq!(sessions.len(), 2);
    let side = sessions.values().nth(1).unwrap();
    assert_eq!(side.meta.parent.as_deref(), Some("s-1"));
    assert_eq!(texts(side), ["And part_4?", "yes"]);
    let prompts: Vec<u64> = side.requests().iter().map(|r| r.prompt).collect();
    assert_eq!(prompts, [24, 28]);
    assert_eq!(side.context().used, 29);
}

#[test]
fn agents_have_lanes_by_their_ids() {
    let sessions = fixture("autogen-agents-have-their-own-context");
    let ids: Vec<_> = sessions.values().map(|s| s.meta.id.as_deref()).collect();
    assert_eq!(ids, [Some("planner/4f1c"), Some("coder/4f1c")]);
    let coder = sessions.values().nth(1).unwrap();
    let result = coder.items().iter().find(|item| item.role == Role::Tool);
    assert_eq!(result.unwrap().tool.as_deref(), Some("write_file"));
    assert_eq!(coder.requests().len(), 2);
}

#[test]
fn answers_find_their_requests() {
    let sessions = fixture("request-and-answer-apart");
    let other = sessions.values().nth(1).unwrap();
    assert_eq!(texts(other), ["Name a colour.", "Blue."]);
}

#[test]
fn an_answer_alone_is_a_conversation() {
    let line = r#"{"id":"chatcmpl-0123456789abcdef","object":"chat.completion","model":"gpt-4o","choices":[{"message":{"role":"assistant","content":"Hi."}}],"usage":{"prompt_tokens":50,"completion_tokens":2}}"#;
    let sessions = sessions([line.to_owned()]);
    assert_eq!(contents(&sessions), [(vec![50], vec!["Hi."])]);
}

#[test]
fn traces_tell_conversations_apart_that_begin_alike() {
    let line = |trace: &str, messages: &[Value], answer: &str, prompt: u64| {
        let mut line = chat(messages, answer, prompt);
        line["trace_id"] = trace.into();
        line.to_string()
    };
    let begin = [message("user", "Begin.")];
    let go = |way: &str| {
        [
            begin[0].clone(),
            message("assistant", "Begun."),
            message("user", way),
        ]
    };
    let sessions = sessions([
        line("a", &begin, "Begun.", 20),
        line("b", &begin, "Begun.", 20),
        line("a", &go("Left."), "Gone left.", 40),
        line("b", &go("Right."), "Gone right.", 41),
        // A trace of its own for every request: the history decides.
        line("c", &go("Left."), "Gone left again.", 40),
    ]);
    assert_eq!(
        contents(&sessions),
        [
            (
                vec![20, 40, 40],
                vec!["Begin.", "Begun.", "Left.", "Gone left again."]
            ),
            (
                vec![20, 41],
                vec!["Begin.", "Begun.", "Right.", "Gone right."]
            ),
        ]
    );
}

#[test]
fn a_tool_list_and_a_prompt_that_change_are_replaced() {
    let line = |system: &str, tools: Value, texts: &[&str]| {
        let messages: Vec<Value> = ["user", "assistant", "user", "assistant", "user"]
            .into_iter()
            .zip(texts)
            .map(|(role, text)| message(role, text))
            .collect();
        json!({
            "request": {
                "model": "claude-opus-4-6", "system": system, "tools": tools, "messages": messages,
            },
            "response": {
                "type": "message", "content": [{"type": "text", "text": "Yes."}],
                "usage": {"input_tokens": 100 + texts.len(), "output_tokens": 2},
            },
        })
        .to_string()
    };
    let tools = json!([{"name": "a"}, {"name": "b"}]);
    let sessions = sessions([
        line("Monday.", tools.clone(), &["Hi."]),
        line("Tuesday.", json!([]), &["Hi.", "Yes.", "And?"]),
        line("Tuesday.", tools, &["Hi.", "Yes.", "And?", "Yes.", "So?"]),
    ]);
    let session = &sessions[&Conversation::Main];
    let alive: Vec<&str> = session
        .alive()
        .into_iter()
        .map(|ix| &*session.items()[ix].preview)
        .filter(|text| !["Hi.", "Yes.", "And?", "So?"].contains(text))
        .collect();
    assert_eq!(alive, ["Tuesday.", r#"[{"name":"a"},{"name":"b"}]"#]);
    let gone: Vec<LeaveReason> = session
        .items()
        .iter()
        .filter_map(|item| Some(item.left?.why))
        .collect();
    assert_eq!(gone, [LeaveReason::Replaced, LeaveReason::Replaced]);
}

#[test]
fn a_long_text_is_the_same_where_a_reader_cut_it() {
    let long = "x".repeat(100_000);
    let cut = format!("{}\u{f8e1}{}\u{f8e1}", &long[..16_384], 100_000 - 16_384);
    let one = |text: &str| {
        let text = text.to_owned();
        Block::text(Role::User, Kind::Text, text).fingerprint()
    };
    assert_eq!(one(&long), one(&cut));
    assert_ne!(one(&long), one(&long[1..]));
}

#[test]
fn models_lose_the_names_of_those_who_pass_them_on() {
    assert_eq!(model_name("anthropic/claude-opus-4-6"), "claude-opus-4-6");
    assert_eq!(model_name("models/gemini-2.5-pro"), "gemini-2.5-pro");
    assert_eq!(
        model_name("us.anthropic.claude-sonnet-4-5-v1:0"),
        "claude-sonnet-4-5-v1:0"
    );
    assert_eq!(model_name("gpt-4o"), "gpt-4o");
}

#[test]
fn logs_are_recognised_by_what_they_hold() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/request-log");
    for case in std::fs::read_dir(folder).unwrap().flatten() {
        let Ok(text) = std::fs::read(case.path().join("log.jsonl")) else {
            continue; // A database is recognised by its tables.
        };
        let id = agents::recognise(&text).map(|format| format.id);
        assert_eq!(id, Some("request-log"), "{}", case.path().display());
    }
    for other in [
        r#"{"messages":[{"role":"user","content":"training data"}]}"#,
        r#"{"type":"message","message":{"role":"user","content":"x"}}"#,
        r#"{"role":"user","content":"x"}"#,
        r#"{"model":"text-embedding-3-small","input":"x","endpoint":"/v1/embeddings"}"#,
        r#"{"resourceSpans":[{"scopeSpans":[]}]}"#,
        r#"{"id":1,"model":"gpt-4o","prompt":"Say hi","response":"Hi there"}"#,
        r#"{"input":"2+2","output":"4","model":"gpt-4o"}"#,
        "INFO nothing",
        "",
    ] {
        assert!(!REQUEST_LOG.recognise(other.as_bytes()), "{other}");
    }
}

#[test]
fn a_first_line_longer_than_what_is_looked_at_is_recognised() {
    let long = "word ".repeat(40_000);
    let body = json!({"model": "gpt-4o", "messages": [message("system", &long)]});
    let lines = [
        body.to_string(),
        json!({"request": {"url": "https://api.example.com", "body": body}}).to_string(),
        json!({"contents": [{"role": "user", "parts": [{"text": long}]}], "model": "gemini"})
            .to_string(),
    ];
    for line in &lines {
        // Fields in the order of their names: the model's comes after a very long text, or before.
        let front = &line.as_bytes()[..line.len().min(64 << 10)];
        let names_model = line.find("\"model\"") < line.find("word");
        let has_address = line.contains("\"url\"") && line.find("\"url\"") < line.find("word");
        assert_eq!(REQUEST_LOG.recognise(front), names_model || has_address);
    }
    let line =
        format!(r#"{{"model":"gpt-4o","messages":[{{"role":"system","content":"{long}"}}]}}"#);
    assert!(REQUEST_LOG.recognise(&line.as_bytes()[..64 << 10]));
    let training = line.replace(r#""model":"gpt-4o","#, "");
    assert!(!REQUEST_LOG.recognise(&training.as_bytes()[..64 << 10]));
}

#[test]
fn times_are_read_as_loggers_write_them() {
    let at = |time: Value| {
        let mut line = chat(&[message("user", "Hi.")], "Hi.", 10);
        line["timestamp"] = time;
        entries([line.to_string()])[0].at.map(|at| at.to_string())
    };
    let wanted = Some("2026-10-01T09:00:00Z".to_owned());
    for time in [
        json!(1_790_845_200),
        json!(1_790_845_200_000_u64),
        json!(1_790_845_200_000_000_u64),
        json!("2026-10-01T09:00:00Z"),
        json!("2026-10-01 09:00:00"),
        json!("2026-10-01T11:00:00+02:00"),
    ] {
        assert_eq!(at(time), wanted);
    }
    assert_eq!(at(json!("yesterday")), None);
    assert_eq!(at(json!(7)), None);
}

/// What a client may do with its history before it asks again.
#[derive(Debug, Clone)]
enum Act {
    Say(String),
    Result(String),
    DropLast(usize),
    DropFirst(usize),
    Clear(usize),
    Anew,
    NoAnswer,
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => "[a-c]{1,3}".prop_map(Act::Say),
        4 => "[a-c]{1,3}".prop_map(Act::Result),
        1 => (0_usize..4).prop_map(Act::DropLast),
        1 => (0_usize..4).prop_map(Act::DropFirst),
        1 => (0_usize..6).prop_map(Act::Clear),
        1 => Just(Act::Anew),
        1 => Just(Act::NoAnswer),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever a client does to its history, the context is what it sent last and what came back.
    #[test]
    fn the_context_is_what_was_sent_and_what_came_back(acts in prop::collection::vec(act(), 1..25)) {
        let mut history = vec![message("user", "Begin.")];
        let mut lines: Vec<String> = Vec::new();
        for (n, act) in acts.iter().enumerate() {
            match act {
                Act::Say(text) => history.push(message("user", text)),
                Act::Result(text) => {
                    history.push(json!({"role": "tool", "tool_call_id": format!("call_{n}"), "content": text}));
                }
                Act::DropLast(count) => {
                    let left = history.len().saturating_sub(*count).max(1);
                    history.truncate(left);
                }
                Act::DropFirst(count) => {
                    let count = (*count).min(history.len() - 1);
                    history.drain(..count);
                }
                Act::Clear(at) => {
                    if let Some(result) = history.get_mut(*at).filter(|m| m["role"] == "tool") {
                        result["content"] = "[cleared]".into();
                    }
                }
                Act::Anew => history = vec![message("user", &format!("Anew {n}."))],
                Act::NoAnswer => {}
            }
            let answer = format!("answer {}", n % 3);
            let mut line = chat(&history, &answer, 100 + 7 * n as u64);
            line["request"]["conversation"] = Value::Null;
            line["n"] = n.into();
            if matches!(act, Act::NoAnswer) {
                line["response"] = Value::Null;
                lines.push(line.to_string());
                continue;
            }
            lines.push(line.to_string());
            history.push(message("assistant", &answer));
        }
        let sessions = sessions(lines);
        let wanted: Vec<&str> = history
            .iter()
            .filter_map(|message| message["content"].as_str())
            .collect();
        let mut wanted = wanted;
        wanted.sort_unstable();
        let newest = |session: &&Session| {
            let mut held = texts(session);
            held.sort_unstable();
            held == wanted
        };
        prop_assert!(
            sessions.values().any(|session| newest(&session)),
            "{wanted:?} is in none of {:?}", contents(&sessions)
        );
        for session in sessions.values() {
            let context = session.context();
            prop_assert_eq!(context.known + context.estimated, context.used);
        }
    }

    #[test]
    fn no_bytes_are_too_odd(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        REQUEST_LOG.recognise(&bytes);
        let mut out = EventSink::new(&ByLength);
        RequestLogDecoder::default().read_line(&String::from_utf8_lossy(&bytes), &mut out);
    }
}
