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
    let mut decoder = CopilotCliDecoder::default();
    decoder.read_sidecar(asides);
    let mut out = Sink::new(&ByLength);
    decoder.read_line(&line, &mut out);
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
    let mut out = Sink::new(&ByLength);
    for (nth, line) in log.iter().enumerate() {
        let nth = nth as u64;
        out.begin(Place {
            offset: nth * 1_000,
            line: nth,
            len: line.len() as u64,
        });
        decoder.read_line(line, &mut out);
    }
    let costs = out.entries.iter().filter_map(|entry| match &entry.event {
        Event::Billed { billed, of, .. } => Some((billed.input, billed.output, of.is_sum())),
        _ => None,
    });
    costs.collect()
}
