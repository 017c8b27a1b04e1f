use super::*;
use crate::testing;
use formats::{Decoder, StateUpdate};
use model::event::{ByLength, Entry, Event, EventSink};

fn read(lines: &[&str]) -> Vec<Entry> {
    testing::read(&OPENHANDS, lines)
}

fn prompts(lines: &[&str]) -> Vec<u64> {
    let entries = read(lines).into_iter();
    let usage = entries.filter_map(|entry| match entry.event {
        Event::Usage(usage) => Some(usage.prompt),
        _ => None,
    });
    usage.collect()
}

fn stats(id: &str, sums: (u64, u64), last: u64) -> String {
    let (prompt, output) = sums;
    format!(
        "{{\"kind\":\"ConversationStateUpdateEvent\",\"key\":\"stats\",\"value\":{{\"usage_to_metrics\":\
         {{\"{id}\":{{\"accumulated_token_usage\":{{\"prompt_tokens\":{prompt},\
         \"completion_tokens\":{output},\"per_turn_token\":{last}}}}}}}}}}}"
    )
}

fn answer(response: &str) -> String {
    format!(
        "{{\"kind\":\"MessageEvent\",\"source\":\"agent\",\"llm_response_id\":\"{response}\",\
         \"llm_message\":{{\"role\":\"assistant\",\"content\":\"x\"}}}}"
    )
}

#[test]
fn events_are_told_by_what_they_hold() {
    let whole = br#"{"action":null,"kind":"ActionEvent","id":"a","source":"agent","timestamp":"2026-01-21T22:37:55.687967"}"#;
    assert!(OPENHANDS.recognise(whole));
    let torn = br#"{"id": "a", "timestamp": "2026-01-21T22:37:55.687967", "source": "agent", "system_prompt": {"text": "You are"#;
    assert!(OPENHANDS.recognise(torn));
    for other in [
        r#"{"id":"a","timestamp":"2026","source":"agent","kind":"thing"}"#,
        r#"{"id":"a","timestamp":"2026","kind":"ActionEvent"}"#,
        r#"{"type":"message","id":"a","timestamp":"x","source":"age"#,
        r#"{"id":"a","timestamp":"x","source":"age"#,
        "",
    ] {
        assert!(!OPENHANDS.recognise(other.as_bytes()), "{other}");
    }
}

#[test]
fn a_title_never_stands_for_the_conversation() {
    // Whichever of the two comes first.
    let [title, both, talk] = [
        stats("default", (596, 775), 1371),
        stats("default", (35_895, 960), 35_484),
        stats("default", (35_299, 185), 35_484),
    ];
    assert_eq!(prompts(&[&title, &both, &answer("a")]), [35_299]);
    let late = stats("default", (35_895, 960), 1371);
    assert_eq!(prompts(&[&talk, &late, &answer("a")]), [35_299]);
}

#[test]
fn sums_tell_a_call_only_where_they_grew_by_one() {
    let first = stats("agent", (9_000, 80), 1_010);
    let next = stats("agent", (10_000, 90), 1_010);
    assert_eq!(
        prompts(&[&first, &answer("a"), &next, &answer("b")]),
        [1_000]
    );
    // Sums that start again from zero.
    let anew = stats("agent", (1_200, 10), 1_210);
    assert_eq!(
        prompts(&[&next, &answer("a"), &anew, &answer("b")]),
        [1_200]
    );
}

#[test]
fn a_model_that_is_put_to_something_else_is_not_asked_for_the_conversation() {
    let own = stats("agent", (1_000, 10), 1_010);
    let other = stats("router", (4_000, 10), 4_010);
    let next = stats("agent", (2_100, 20), 1_110);
    let lines = [&*own, &answer("a"), &next, &other, &answer("b")];
    assert_eq!(prompts(&lines), [1_000, 1_100]);
}

#[test]
fn what_was_cached_beside_the_prompt_is_added_to_it() {
    let line = "{\"kind\":\"ConversationStateUpdateEvent\",\"key\":\"stats\",\"value\":{\"usage_to_metrics\":\
                {\"agent\":{\"accumulated_token_usage\":{\"prompt_tokens\":12,\"completion_tokens\":3,\
                \"cache_read_tokens\":900,\"cache_write_tokens\":88,\"per_turn_token\":15}}}}}";
    assert_eq!(prompts(&[line, &answer("a")]), [1_000]);
}

#[test]
fn odd_values_cost_nothing_but_themselves() {
    for odd in [
        r#"{"kind":"ConversationStateUpdateEvent","key":"stats","value":[1]}"#,
        r#"{"kind":"ConversationStateUpdateEvent","key":"stats","value":{"usage_to_metrics":[7]}}"#,
        r#"{"kind":"ConversationStateUpdateEvent","key":"full_state","value":{"agent":1,"stats":{"usage_to_metrics":{"a":2}}}}"#,
        r#"{"kind":"TokenEvent","prompt_token_ids":"none"}"#,
        r#"{"kind":"ActionEvent","id":7,"tool_call":"x","thought":{"text":1}}"#,
        r#"{"kind":"ObservationEvent","observation":{"content":[[{"image_urls":"x"}]],"metadata":[]}}"#,
    ] {
        let entries = read(&[odd]);
        let unreadable = |entry: &Entry| matches!(entry.event, Event::Unreadable(_));
        assert!(!entries.iter().any(unreadable), "{odd}: {entries:?}");
    }
    for wrong in [
        r#"{"id":"a"}"#,
        r#"{"kind":"Condensation"}"#,
        r#"{"kind":"MessageEvent"}"#,
        "[]",
    ] {
        assert!(
            matches!(read(&[wrong])[0].event, Event::Unreadable(_)),
            "{wrong}"
        );
    }
}

#[test]
fn times_without_a_zone_are_utc() {
    let line = r#"{"kind":"PauseEvent","timestamp":"2026-01-21T22:37:55.687967"}"#;
    let at = read(&[line])[0].at.map(|at| at.to_string());
    assert_eq!(at.as_deref(), Some("2026-01-21T22:37:55.687967Z"));
}

#[test]
fn conversations_are_folders_of_events() {
    let claim = |path: &str| OPENHANDS.claims(Path::new(path));
    let found = claim("/home/dev/.openhands/conversations/5e55/events").unwrap();
    assert_eq!(found.store, StoreKind::Folder(&EVENTS));
    assert_eq!((found.id.as_deref(), found.parent), (Some("5e55"), None));
    let child = claim("conversations/5e55/subagents/7a/events").unwrap();
    assert_eq!(child.id.as_deref(), Some("7a"));
    assert_eq!(child.parent.as_deref(), Some("5e55"));
    assert_eq!(claim("/home/dev/.openhands/conversations/5e55"), None);
    assert_eq!(claim("events.jsonl"), None);

    assert_eq!(number("event-00012-0ee3f164-e218.json"), Some(12));
    assert_eq!(number("event-123456-0ee3f164.json"), Some(123_456));
    for other in [
        ".eventlog.lock",
        ".eventlog-count-3.marker",
        "event-12-a.json",
        "event-00012.json",
        "event-00012-.json",
        "event-00012-a.json.tmp",
        "event-+0012-a.json",
        "event-99999999999999999999999-a.json",
    ] {
        assert_eq!(number(other), None, "{other}");
    }
    let log = Path::new("5e55/events");
    assert_eq!(
        (OPENHANDS.beside.states)(log),
        [Path::new("5e55/base_state.json")]
    );
    assert!((OPENHANDS.beside.states)(Path::new("export.jsonl")).is_empty());
}

/// A state with these calls: answers and prompts.
fn state(calls: &[(&str, u64)]) -> String {
    let calls: Vec<String> = calls
        .iter()
        .map(|(id, prompt)| {
            format!(
                "{{\"response_id\":\"{id}\",\"prompt_tokens\":{prompt},\"completion_tokens\":1}}"
            )
        })
        .collect();
    format!(
        "{{\"stats\":{{\"usage_to_metrics\":{{\"agent\":{{\"token_usages\":[{}]}}}}}}}}",
        calls.join(",")
    )
}

#[test]
fn a_state_that_comes_late_fits_only_what_was_read_last() {
    let mut reader = OPENHANDS.decoder();
    let mut out = EventSink::new(&ByLength);
    let line = |reader: &mut Box<dyn Decoder>, out: &mut EventSink<'_>, line: &str| {
        reader.read_line(line, out);
    };
    let reported =
        |reader: &mut Box<dyn Decoder>, out: &mut EventSink<'_>, calls: &[(&str, u64)]| {
            let fits = reader.read_state(&state(calls), out);
            let usage = out.entries.drain(..).filter_map(|entry| match entry.event {
                Event::Usage(usage) => Some(usage.prompt),
                _ => None,
            });
            (fits, usage.collect::<Vec<u64>>())
        };
    assert_eq!(
        reported(&mut reader, &mut out, &[]),
        (Some(StateUpdate::Accepted), vec![])
    );
    line(&mut reader, &mut out, &answer("a"));
    let calls = [("title", 90), ("a", 1_000)];
    assert_eq!(
        reported(&mut reader, &mut out, &calls),
        (Some(StateUpdate::Accepted), vec![1_000])
    );
    assert_eq!(
        reported(&mut reader, &mut out, &calls),
        (Some(StateUpdate::Accepted), vec![])
    );
    assert_eq!(reader.read_state("{\"stats\":", &mut out), None);
    line(&mut reader, &mut out, &answer("b"));
    line(&mut reader, &mut out, &answer("c"));
    out.entries.clear();
    let calls = [("c", 1_200)];
    assert_eq!(
        reported(&mut reader, &mut out, &calls),
        (Some(StateUpdate::Accepted), vec![1_200])
    );
    let calls = [("b", 1_100), ("c", 1_200)];
    assert_eq!(
        reported(&mut reader, &mut out, &calls),
        (Some(StateUpdate::RereadLog), vec![])
    );

    // Another model counts otherwise.
    let mut reader = OPENHANDS.decoder();
    assert_eq!(
        reported(&mut reader, &mut out, &[]),
        (Some(StateUpdate::Accepted), vec![])
    );
    line(&mut reader, &mut out, &answer("a"));
    let other = r#"{"agent":{"llm":{"model":"openai/gpt-4o"}}}"#;
    assert_eq!(
        reader.read_state(other, &mut out),
        Some(StateUpdate::RereadLog)
    );
}
