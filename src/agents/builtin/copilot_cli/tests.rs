use super::*;
use model::event::{ByLength, Event};

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
    assert!(COPILOT_CLI.recognise(br#"{"type":"session.start","data":{"sessionId":"x""#));
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
