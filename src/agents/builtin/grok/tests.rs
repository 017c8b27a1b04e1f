use super::*;
use crate::testing::{fixture, previews};
use model::event::{ByLength, Event};
use model::window::Rules;

const LOG: &str = fixture!("grok/requests_of_the_unified_log/log.jsonl");
const UNIFIED: &str = fixture!("grok/requests_of_the_unified_log/unified.jsonl");

/// The prompts that are reported for a log, from the given line on, beside these requests.
fn prompts(unified: &str, from: u64) -> Vec<(u64, Option<u64>)> {
    let lines = unified.lines().map(str::as_bytes);
    let records: Vec<SidecarRecord> = lines.filter_map(usage::SIDECAR.read).collect();
    let mut decoder = GrokDecoder::default();
    decoder.read_sidecar(&records);
    let mut out = EventSink::new(&ByLength);
    for (line, text) in (1..).zip(LOG.lines()).filter(|(line, _)| *line >= from) {
        out.begin(model::event::Place::new(
            if from == 1 { line } else { 0 },
            line,
            1,
        ));
        decoder.read_line(text, &mut out);
    }
    let usages = out.entries.iter().filter_map(|entry| match &entry.event {
        Event::Usage(usage) => Some((usage.prompt, usage.output)),
        _ => None,
    });
    usages.collect()
}

#[test]
fn requests_are_joined_by_their_total_and_their_order() {
    let both = [(9_100, Some(30)), (9_680, Some(22))];
    assert_eq!(prompts(UNIFIED, 1), both);
    // From the middle on, the first call shows which request it is.
    assert_eq!(prompts(UNIFIED, 2), both);
    // The older part of Grok's log is gone: its own total of the call, and nothing that is not sure.
    let (_, newest) = UNIFIED.split_once('\n').unwrap();
    assert_eq!(prompts(newest, 1), [(9_130, None)]);
    let other = UNIFIED.replace("01a20000", "01a20001");
    assert_eq!(
        prompts(&other, 1).len(),
        2,
        "the reader tells the sessions apart"
    );
}

/// The sums that are billed for a log beside these requests.
fn sums(log: &str, unified: &str) -> Vec<(u64, u64)> {
    let lines = unified.lines().map(str::as_bytes);
    let records: Vec<SidecarRecord> = lines.filter_map(usage::SIDECAR.read).collect();
    let mut decoder = GrokDecoder::default();
    decoder.read_sidecar(&records);
    let mut out = EventSink::new(&ByLength);
    for (line, text) in (1..).zip(log.lines()) {
        out.begin(model::event::Place::new(line, line, 1));
        decoder.read_line(text, &mut out);
    }
    let sums = out.entries.iter().filter_map(|entry| match &entry.event {
        Event::Billed { billed, of, .. } if of.is_sum() => Some((billed.input, billed.output)),
        _ => None,
    });
    sums.collect()
}

#[test]
fn the_sum_of_a_turn_is_the_cost_of_requests_that_are_not_known() {
    let (first, second) = UNIFIED.trim_end().split_once('\n').unwrap();
    assert_eq!(sums(LOG, UNIFIED), [], "both are known");
    assert_eq!(sums(LOG, ""), [(99_999, 99)]);
    assert_eq!(sums(LOG, first), [(99_999 - 9_100, 99 - 30)]);
    assert_ne!(first, second);
}

#[test]
fn the_window_is_in_a_file_beside_the_log() {
    let mut decoder = GrokDecoder::default();
    let mut out = EventSink::new(&ByLength);
    let signals = r#"{"contextTokensUsed":21700,"contextWindowTokens":500000}"#;
    let summary = r#"{"current_model_id":"grok-4.5"}"#;
    for document in [signals, summary] {
        decoder.read_state(document, &mut out);
    }
    decoder.read_line(LOG.lines().next().unwrap(), &mut out);
    let windows = out.entries.iter().filter_map(|entry| match &entry.event {
        Event::Meta(meta) => meta.window,
        _ => None,
    });
    assert_eq!(windows.collect::<Vec<_>>(), [500_000]);
}

#[test]
fn a_response_whose_request_has_no_tokens_has_no_usage() {
    let (first, second) = UNIFIED.trim_end().split_once('\n').unwrap();
    let third = second.replace("9680", "9800");
    for empty in [
        second.replace("9680", "0"),
        second.replace("9680", "null"),
        second.replace("\"prompt_tokens\":9680,", ""),
    ] {
        let unified = [first, &empty, &third].join("\n");
        assert_eq!(prompts(&unified, 1), [(9_100, Some(30))], "{empty}");
    }
}

#[test]
fn a_compaction_keeps_the_task_and_no_result_that_came_late() {
    let log = fixture!("grok/compaction_between_call_and_result/log.jsonl");
    let sessions = crate::testing::sessions(&GROK, log.lines());
    let session = sessions.values().next().unwrap();
    let shown = previews(session);
    assert_eq!(shown.first(), Some(&"Read it all."));
    assert!(!shown.iter().any(|text| text.contains("noon")), "{shown:?}");
    assert_eq!(session.limits().window, 12_000);
    assert_eq!(session.unknown.get("something_new"), Some(&1));
}

#[test]
fn settings_are_read_from_the_config_file() {
    let set = (SETTINGS.read)(&[
        b"[session]\nauto_compact_threshold_percent = 70\n[model.lab]\n\
        model = \"m1\"\ncontext_window = 64000\n[model.m2]\ncontext_window = 32000\n",
    ]);
    assert_eq!(set.share, Some(0.7));
    let windows: Vec<_> = set.models.iter().map(|m| (&*m.id, m.window)).collect();
    assert_eq!(windows, [("m1", Some(64_000)), ("m2", Some(32_000))]);
    let rules: Rules = toml::from_str(assets::MODELS).unwrap();
    assert!(rules.policy.iter().any(|policy| policy.agent == GROK.id));
}

#[test]
fn logs_are_found_by_name_and_by_content() {
    let path = "/home/dev/.grok/sessions/%2Fhome%2Fdev/01a2/updates.jsonl";
    let claim = GROK.claims(Path::new(path)).and_then(|claim| claim.id);
    assert_eq!(claim.as_deref(), Some("01a2"));
    assert_eq!(GROK.claims(Path::new("/s/01a2/chat_history.jsonl")), None);
    assert!(GROK.recognise(LOG.as_bytes()));
    let folder = (usage::SIDECAR.folder)(Path::new(path));
    assert_eq!(folder.as_deref(), Some(Path::new("/home/dev/.grok/logs")));
}

#[test]
fn the_window_is_in_the_file_of_signals() {
    let mut decoder = GrokDecoder::default();
    let mut out = EventSink::new(&ByLength);
    let summary = r#"{"info":{"cwd":"/shop"},"current_model_id":"grok-4.5"}"#;
    let signals = r#"{"contextWindowTokens":500000,"primaryModelId":"grok-4.5"}"#;
    // In any order.
    for document in [signals, summary, "{", "{}"] {
        decoder.read_state(document, &mut out);
    }
    out.begin(model::event::Place::of_line(1));
    decoder.read_line(LOG.lines().next().unwrap(), &mut out);
    let metas = out.entries.iter().filter_map(|entry| match &entry.event {
        Event::Meta(meta) => Some((meta.window, meta.cwd.as_deref())),
        _ => None,
    });
    assert_eq!(metas.collect::<Vec<_>>(), [(Some(500_000), Some("/shop"))]);
}

#[test]
fn a_threshold_is_of_the_environment_the_session_or_the_model() {
    let of = |files: &[&str]| {
        let files: Vec<&[u8]> = files.iter().map(|text| text.as_bytes()).collect();
        let set = (SETTINGS.read)(&files);
        (set.share, set.models.first().and_then(|model| model.share))
    };
    let model = "[model.mine]\nauto_compact_threshold_percent = 70\n";
    assert_eq!(of(&[model]), (None, Some(0.7)));
    let session = format!("[session]\nauto_compact_threshold_percent = 60\n{model}");
    assert_eq!(of(&[&session]), (Some(0.6), None));
    let env = r#"{"env":{"GROK_AUTO_COMPACT_THRESHOLD_PERCENT":"50"}}"#;
    assert_eq!(of(&[&session, env]).0, Some(0.5));
}
