use super::*;
use model::event::{ByLength, Event, Place};

#[test]
fn logs_are_told_by_name_and_by_content() {
    let id = |path: &str| {
        COPILOT_CLI
            .claims(Path::new(path))
            .and_then(|claim| claim.id)
    };
    let root = "/home/dev/.copilot/session-state";
    assert_eq!(
        id(&format!("{root}/abc/events.jsonl")).as_deref(),
        Some("abc")
    );
    assert_eq!(id(&format!("{root}/abc.jsonl")).as_deref(), Some("abc"));
    assert_eq!(id(&format!("{root}/abc/other.jsonl")), None);
    assert_eq!(id("/home/dev/.copilot/otel/spans.jsonl"), None);
    assert!(
        COPILOT_CLI
            .recognise(br#"{"type":"session.start","data":{"sessionId":"x","copilotVersion":""#)
    );
    let other = br#"{"type":"session.start","sessionId":"x","data":{"version":1}}"#;
    assert!(!COPILOT_CLI.recognise(other));
    assert!(!COPILOT_CLI.recognise(br#"{"type":"session","id":"x""#));
    let folder = (spans::SIDECAR.folder)(Path::new(&format!("{root}/abc/events.jsonl")));
    assert_eq!(
        folder.as_deref(),
        Some(Path::new("/home/dev/.copilot/otel"))
    );
    assert_eq!(
        (spans::SIDECAR.folder)(Path::new("/tmp/events.jsonl")),
        None
    );
}

/// The prompts that are reported for a message of this response and turn.
fn prompts(asides: &[SidecarRecord], response: Option<&str>) -> Vec<u64> {
    let call = response.map_or(String::new(), |id| format!(r#""apiCallId":"{id}","#));
    let line = format!(
        r#"{{"type":"assistant.message","id":"e1","data":{{{call}"messageId":"m1","interactionId":"i","turnId":"0","content":"x"}}}}"#
    );
    prompts_of(asides, &[line])
}

/// The prompts that are reported for a log beside these records.
fn prompts_of(asides: &[SidecarRecord], log: &[String]) -> Vec<u64> {
    let mut decoder = CopilotCliDecoder::default();
    decoder.read_sidecar(asides);
    let mut out = EventSink::new(&ByLength);
    for line in log {
        decoder.read_line(line, &mut out);
    }
    let usages = out.entries.iter().filter_map(|entry| match &entry.event {
        Event::Usage(usage) => Some(usage.prompt),
        _ => None,
    });
    usages.collect()
}

fn aside(response: &str, prompt: u64) -> SidecarRecord {
    SidecarRecord {
        session: "s".into(),
        keys: vec![response_key(response), turn_key("i", "0")],
        at: None,
        window: None,
        about: None,
        usage: Usage::reported(response_key(response), prompt),
    }
}

#[test]
fn a_turn_that_several_responses_share_names_none_of_them() {
    let both = [aside("one", 100), aside("two", 200)];
    assert_eq!(prompts(&both, Some("two")), [200]);
    assert_eq!(prompts(&both, Some("three")), [0; 0]);
    assert_eq!(prompts(&both, None), [0; 0]);
    assert_eq!(prompts(&both[..1], None), [100]);
    // The same span, written twice.
    assert_eq!(
        prompts(&[aside("one", 100), aside("one", 100)], None),
        [100]
    );
}

fn record(usage: &str) -> String {
    format!(r#"{{"type":"session.usage_record","id":"r","data":{{"usage":{{{usage}}}}}}}"#)
}

fn message(call: &str, at: &str) -> String {
    format!(
        r#"{{"type":"assistant.message","id":"{call}","timestamp":"{at}","data":{{"apiCallId":"{call}","interactionId":"i","turnId":"0","content":"x"}}}}"#
    )
}

/// The row of a request that ended at this time.
fn row(at: &str, input: u64) -> SidecarRecord {
    let row = format!(
        r#"{{"id":"{input}","session":"s","at":"{at}","usage":{{"inputTokens":{input},"outputTokens":4}}}}"#
    );
    (rows::DATABASE.read)(row.as_bytes()).unwrap()
}

#[test]
fn a_response_whose_record_has_no_tokens_has_no_usage() {
    let asides = [row("2026-11-03T09:00:00.950Z", 100), aside("one", 100)];
    let first = [
        record(r#""apiCallId":"one","inputTokens":100,"outputTokens":4"#),
        message("one", "2026-11-03T09:00:01Z"),
    ];
    // Without a record, the numbers beside the log are used.
    assert_eq!(prompts_of(&asides, &first[1..]), [100]);
    for empty in [
        r#""apiCallId":"two","inputTokens":0,"outputTokens":0"#,
        r#""apiCallId":"two","inputTokens":null"#,
        r#""apiCallId":"two""#,
        "",
    ] {
        let second = [record(empty), message("two", "2026-11-03T09:00:02Z")];
        let log = [&first[..], &second[..]].concat();
        assert_eq!(prompts_of(&asides, &log), [100], "{empty}");
        // The message is written once more.
        let log = [&log[..], &second[1..]].concat();
        assert_eq!(prompts_of(&asides, &log), [100], "{empty}");
        // The request before has no response.
        let log = [&[record(r#""inputTokens":900"#)], &second[..]].concat();
        assert_eq!(prompts_of(&[], &log), [0; 0], "{empty}");
    }
}

#[test]
fn a_response_whose_row_has_no_tokens_has_no_usage() {
    let asides = [
        row("2026-08-03T09:00:00.950Z", 100),
        row("2026-08-03T09:00:01.950Z", 0),
        row("2026-08-03T09:00:02.950Z", 300),
    ];
    let log = [
        message("one", "2026-08-03T09:00:01Z"),
        message("two", "2026-08-03T09:00:02Z"),
    ];
    assert_eq!(prompts_of(&asides, &log), [100]);
    let third = message("three", "2026-08-03T09:00:03Z");
    assert_eq!(
        prompts_of(&asides, &[&log[..], &[third]].concat()),
        [100, 300]
    );
    // Telemetry names the response.
    let asides = [&asides[..], &[aside("two", 200)]].concat();
    assert_eq!(prompts_of(&asides, &log), [100, 200]);
}

#[test]
fn a_session_without_usage_has_its_outputs_and_then_its_sums() {
    let message = |id: &str, output: u64| {
        format!(
            r#"{{"type":"assistant.message","id":"{id}","data":{{"messageId":"{id}","content":"x","outputTokens":{output}}}}}"#
        )
    };
    let end = |id: &str, input: u64, output: u64| {
        format!(
            r#"{{"type":"session.shutdown","id":"{id}","data":{{"modelMetrics":{{"m":{{"requests":{{"count":2}},"usage":{{"inputTokens":{input},"outputTokens":{output},"cacheReadTokens":10}}}}}}}}}}"#
        )
    };
    // The sums at the second end are those of both runs.
    let log = [
        message("a", 30),
        message("b", 12),
        end("e1", 4_100, 45),
        message("c", 5),
        end("e2", 6_200, 50),
    ];
    assert_eq!(
        costs(&log),
        [
            (0, 30, false),
            (0, 12, false),
            (4_100, 3, true),
            (0, 5, false),
            (2_100, 0, true),
        ]
    );
    // Those of the second run alone, one of which falls, or none.
    for input in [2_100, 4_300] {
        let log = [
            message("a", 30),
            message("b", 12),
            end("e1", 4_100, 45),
            message("c", 45),
            end("e2", input, 46),
        ];
        let expected = [(4_100, 3, true), (0, 45, false), (input, 1, true)];
        assert_eq!(costs(&log)[2..], expected);
    }
}

/// The costs that lines have beside usage reports: input, output, and whether it is a sum.
fn costs(log: &[String]) -> Vec<(u64, u64, bool)> {
    let mut decoder = CopilotCliDecoder::default();
    let mut out = EventSink::new(&ByLength);
    for (nth, line) in log.iter().enumerate() {
        let nth = nth as u64;
        out.begin(Place::new(nth, nth * 1_000, line.len() as u64));
        decoder.read_line(line, &mut out);
    }
    let costs = out.entries.iter().filter_map(|entry| match &entry.event {
        Event::Billed { billed, of, .. } => Some((billed.input, billed.output, of.is_sum())),
        _ => None,
    });
    costs.collect()
}
