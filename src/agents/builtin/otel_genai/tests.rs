use super::*;
use crate::testing::{self, fixture, previews};
use model::event::ELIDED;
use model::session::Session;
use model::{Kind, LeaveReason, Role};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn sessions<'l>(log: impl IntoIterator<Item = &'l str>) -> BTreeMap<Conversation, Session> {
    testing::sessions(&OTEL_GENAI, log)
}

#[test]
fn semantic_kernel_writes_minus_one_where_it_has_no_number() {
    let sessions =
        sessions(fixture!("otel-genai/semantic_kernel_in_its_own_words/log.jsonl").lines());
    let session = &sessions[&Conversation::Main];
    let prompts = |session: &Session| -> Vec<u64> {
        let requests = session.requests().iter();
        requests.map(|request| request.prompt).collect()
    };
    assert_eq!(prompts(session), [60, 150]);
    // Results do not say whose they are: they follow on the calls in their order.
    let alive = session.alive();
    let tools = alive.iter().map(|ix| &session.items()[*ix]);
    let tools = tools.filter(|item| item.role == Role::Tool);
    let tools: Vec<&str> = tools.filter_map(|item| item.tool.as_deref()).collect();
    assert_eq!(tools, ["get_lights", "get_prices"]);
    let old = sessions.values().find(|other| prompts(other) == [31]);
    let old = old.unwrap();
    assert_eq!(old.meta.title.as_deref(), Some("shop-assistant"));
}

#[test]
fn a_span_that_sums_up_the_calls_of_its_conversation_is_no_prompt() {
    let span = |id: u32, attributes: &str| {
        format!(
            r#"{{"type":"span","name":"s","trace_id":"t","span_id":"{id}","attributes":{{"gen_ai.conversation.id":"c",{attributes}}}}}"#
        )
    };
    let chat = r#""gen_ai.operation.name":"chat""#;
    let input = r#""gen_ai.usage.input_tokens":"#;
    let prompts = |spans: [String; 3]| {
        let sessions = sessions(spans.iter().map(String::as_str));
        let requests = sessions.values().flat_map(|session| session.requests());
        let mut prompts: Vec<u64> = requests.map(|request| request.prompt).collect();
        prompts.sort_unstable();
        prompts
    };
    let with = |name: &str, tokens: u64| format!("{name}{input}{tokens}");
    let named = format!("{chat},");
    let stop = with("", 900);
    assert_eq!(
        prompts([span(1, chat), span(2, chat), span(3, &stop)]),
        [0; 0]
    );
    let (first, second) = (with(&named, 100), with(&named, 110));
    let both = [span(1, &first), span(2, &second), span(3, &stop)];
    assert_eq!(prompts(both), [100, 110]);
    // Older instrumentations name no operation.
    let [first, second] = [100, 110].map(|tokens| with("", tokens));
    let old = [span(1, &first), span(2, &second), span(3, &stop)];
    assert_eq!(prompts(old), [100, 110, 900]);
}

#[test]
fn threads_of_langsmith_are_sessions_and_its_projects_are_none() {
    let sessions = sessions(fixture!("otel-genai/langsmith_runs_and_threads/log.jsonl").lines());
    let told: Vec<(&str, usize)> = sessions
        .values()
        .map(|session| {
            (
                session.meta.id.as_deref().unwrap(),
                session.requests().len(),
            )
        })
        .collect();
    assert_eq!(told, [("t-1", 2), ("t-2", 1)]);
}

#[test]
fn a_conversation_goes_on_in_other_traces() {
    let sessions = sessions(fixture!("otel-genai/each_turn_a_trace/log.jsonl").lines());
    let prompts = |session: &Session| -> Vec<u64> {
        let requests = session.requests().iter();
        requests.map(|request| request.prompt).collect()
    };
    let mut told: Vec<Vec<u64>> = sessions.values().map(prompts).collect();
    told.sort();
    // Examples look like answers and are not.
    let expected = [&[58, 76][..], &[60, 100, 125], &[70], &[70]];
    assert_eq!(told, expected);
    let main = &sessions[&Conversation::Main];
    assert!(main.meta.id.as_deref().unwrap().ends_with("01"));
    assert_eq!(main.resets().len(), 0);
}

#[test]
fn tools_are_the_same_however_a_convention_writes_them() {
    let sessions = sessions(fixture!("otel-genai/tools_of_each_convention/log.jsonl").lines());
    assert_eq!(sessions.len(), 5);
    for session in sessions.values() {
        let tools = session.items().iter();
        let mut tools = tools.filter(|item| item.kind == Kind::ToolList);
        let preview = tools.next().unwrap().preview.replace(' ', "");
        assert!(preview.contains("\"name\":\"get_prices\""), "{preview}");
        assert!(preview.starts_with("[{\""), "{preview}");
        assert!(tools.next().is_none());
    }
}

#[test]
fn a_late_span_counts_and_changes_nothing() {
    let log = fixture!("otel-genai/spans_out_of_order/log.jsonl");
    let until_late = sessions(log.lines().take(2));
    let sessions = sessions(log.lines());
    let (before, after) = (
        &until_late[&Conversation::Main],
        &sessions[&Conversation::Main],
    );
    assert_eq!(previews(before), previews(after));
    assert_eq!(before.context(), after.context());
    assert_eq!(after.requests().len(), 3);
    let billed: u64 = after.requests().iter().map(|r| r.billed.input).sum();
    assert_eq!(billed, 960 + 1_042 + 1_010);
}

#[test]
fn a_side_call_is_no_part_of_the_conversation() {
    let sessions = sessions(fixture!("otel-genai/side_call_and_compaction/log.jsonl").lines());
    assert_eq!(sessions.len(), 2);
    let main = &sessions[&Conversation::Main];
    assert!(
        !main
            .items()
            .iter()
            .any(|item| item.preview.contains("title"))
    );
    assert_eq!(main.resets().len(), 1);
    assert_eq!(main.resets()[0].gone, LeaveReason::Compaction);
    let results = main
        .items()
        .iter()
        .filter(|item| item.tool.as_deref().is_some());
    let tools: Vec<&str> = results.map(|item| item.tool.as_deref().unwrap()).collect();
    assert_eq!(
        tools,
        ["list_files", "list_files"],
        "results by their calls"
    );
}

#[test]
fn content_that_a_reader_cut_is_left_out_and_the_numbers_stay() {
    let line = fixture!("otel-genai/otlp_lines_of_today/log.jsonl")
        .lines()
        .next()
        .unwrap();
    let whole = sessions([line]);
    let begun = line.find("[{\\\"role").unwrap();
    let cut = format!(
        "{}{ELIDED}900{ELIDED}\"}}}}]}}]}}]}}]}}",
        &line[..begun + 12]
    );
    assert!(Raw::of(&cut).is_some(), "{cut}");
    let cut = sessions([&*cut]);
    let (cut, whole) = (&cut[&Conversation::Main], &whole[&Conversation::Main]);
    assert_eq!(cut.requests()[0].prompt, whole.requests()[0].prompt);
    assert!(!cut.items().iter().any(|item| item.preview.contains("role")));
}

#[test]
fn runs_of_langsmith_are_calls_and_chains_are_sums() {
    let sessions = sessions(fixture!("otel-genai/langsmith_exports_of_runs/log.jsonl").lines());
    assert_eq!(sessions.len(), 1);
    let session = &sessions[&Conversation::Main];
    assert_eq!(session.meta.id.as_deref(), Some("night-12"));
    let requests = session.requests().iter();
    let requests: Vec<_> = requests.map(|one| (one.prompt, one.cached)).collect();
    assert_eq!(requests, [(212, 0), (498, 128)]);
    assert_eq!(session.context().known, 498 + 13);
}

#[test]
fn a_saved_history_is_the_same_in_any_file() {
    let document = fixture!("otel-genai/langchain_messages_saved_as_a_document/log.json");
    let document = testing::document(&OTEL_GENAI, document);
    let lines = sessions(fixture!("otel-genai/langchain_histories_one_a_line/log.jsonl").lines());
    let lines = &lines[&Conversation::Main];
    assert_eq!(previews(lines), previews(&document));
    assert_eq!(lines.context().known, document.context().known);
    // What is said twice is there twice.
    let asked = previews(lines).into_iter();
    assert_eq!(asked.filter(|text| *text == "Is the gate shut?").count(), 2);
    let last = document.items().last();
    assert_eq!(last.map(|item| item.place.line()), Some(8));
}

#[test]
fn recognised_by_what_a_line_holds() {
    let format = &OTEL_GENAI;
    assert!(
        format.recognise(fixture!("otel-genai/langsmith_exports_of_runs/log.jsonl").as_bytes())
    );
    assert!(
        format.recognise(fixture!("otel-genai/langchain_messages_one_a_line/log.jsonl").as_bytes())
    );
    assert!(format.recognise(b"[\n  {\n    \"type\": \"human\",\n \"data\": {\n"));
    assert!(!format.recognise(b"{\"type\":\"human\",\"text\":\"x\"}\n"));
    assert!(format.recognise(b"{ \"resourceSpans\" : ["));
    assert!(format.recognise(fixture!("otel-genai/flat_span_lines/log.jsonl").as_bytes()));
    assert!(!format.recognise(b"{\"attributes\":{\"http.method\":\"GET\"},\"name\":\"x\"}\n"));
    assert!(!format.recognise(b"{\"text\":\"resourceSpans\"}\n"));
}

proptest! {
    /// Whatever the order of lines, each span is counted once.
    #[test]
    fn any_order_counts_the_same(order in Just(vec![0, 1, 2, 3, 4, 5]).prop_shuffle()) {
        let all: Vec<&str> = [fixture!("otel-genai/spans_out_of_order/log.jsonl"), fixture!("otel-genai/numbers_without_content/log.jsonl")]
            .iter()
            .flat_map(|log| log.lines())
            .collect();
        let sessions = sessions(order.iter().map(|ix| all[*ix]));
        let billed: u64 = sessions
            .values()
            .flat_map(|session| session.requests())
            .map(|request| request.billed.input)
            .sum();
        prop_assert_eq!(billed, 960 + 1_042 + 1_010);
    }
}
