//! Drafts for the logs of built-in agents, whose decoders are left out.

use super::*;
use crate::testing::{fixture, sessions};
use std::fs;
use std::path::Path;

/// Agents whose logs a draft reads, with the number of hand-written logs of which it has the number that is known. Some of
/// the others hold what no mapping can say.
const RIGHT: [(&str, usize); 12] = [
    ("claude-code", 40),
    ("codex", 39),
    ("copilot-cli", 2),
    ("gemini-cli", 9),
    ("hpd-agent", 4),
    ("iflow", 2),
    ("kimi", 6),
    ("ouro", 2),
    ("pi", 4),
    ("qwen-code", 10),
    ("request-log", 15),
    ("vscode-gateway", 4),
];

/// The draft for a log as a format that recognises it.
fn drafted(log: &str) -> Option<&'static Format> {
    let draft = Draft::of(log)?;
    let mapping = Mapping::read("mine", &draft.mapping);
    let format = mapping.unwrap_or_else(|why| panic!("{why}\n{}", draft.mapping));
    let format = format.into_format();
    format.recognise(log.as_bytes()).then_some(format)
}

/// The number that is known of a log by this format; `None`: nothing is.
fn known(format: &Format, log: &str) -> Option<u64> {
    let sessions = sessions(format, log.lines());
    let known = sessions.get(&Conversation::Main)?.context().known;
    (known > 0).then_some(known)
}

#[test]
fn drafts_have_the_numbers_that_the_decoders_of_twelve_agents_know() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    for (agent, least) in RIGHT {
        let format = crate::by_id(agent).unwrap();
        let cases = fs::read_dir(folder.join(agent)).unwrap();
        let logs = cases.map(|case| fs::read_to_string(case.unwrap().path().join("log.jsonl")));
        let logs = logs.flatten().filter(|log| {
            let known_number = known(format, log);
            known_number.is_some() && drafted(log).and_then(|mine| known(mine, log)) == known_number
        });
        let right = logs.count();
        assert!(right >= least, "{agent}: {right} logs instead of {least}");
    }
}

fn mapping_of(log: &str) -> String {
    Draft::of(log).unwrap().mapping
}

#[test]
fn what_was_cached_is_a_part_of_the_input_unless_it_is_ever_more() {
    let log = |numbers: [[u64; 2]; 2]| {
        let line = |[input, cached]: [u64; 2]| {
            format!(r#"{{"role":"user","usage":{{"input":{input},"cached":{cached},"output":1}}}}"#)
        };
        numbers.map(line).join("\n")
    };
    let within = mapping_of(&log([[10, 0], [20, 20]]));
    assert!(
        within.contains("usage.prompt = \"/usage/input\""),
        "{within}"
    );
    let beside = mapping_of(&log([[10, 0], [20, 21]]));
    assert!(
        beside.contains("usage.input = \"/usage/input\""),
        "{beside}"
    );
}

#[test]
fn calls_and_results_are_found_by_their_ids() {
    let log = fixture!("codex/count-before-items/log.jsonl");
    let mapping = mapping_of(log);
    for line in [
        "message.call = \"/payload/call_id\"",
        "message.tool = \"/payload/name\"",
        "message.arguments = \"/payload/arguments\"",
        "roles.call = [\"function_call\"]",
        "roles.tool = [\"function_call_output\"]",
    ] {
        assert!(mapping.contains(line), "{line} is missing:\n{mapping}");
    }
    let log = fixture!("qwen-code/compression_keeps_a_tail/log.jsonl");
    let session = read(drafted(log).unwrap(), log);
    assert!(
        items_of(&session).contains(&"tool tool_result read_file: fn a() {}".to_owned()),
        "{:?}",
        items_of(&session)
    );
}

#[test]
fn what_is_missing_is_said() {
    let missing = |log: &str| Draft::of(log).unwrap().missing.join("; ");
    let nothing = missing(r#"{"a":1}"#);
    for what in [
        "no field looks like the input tokens",
        "no field looks like a time",
        "no field has words for the user",
    ] {
        assert!(nothing.contains(what), "{nothing}");
    }
    let zero = missing(r#"{"at":1767225600,"usage":{"input":0,"output":0}}"#);
    assert!(
        zero.contains("that are not 0") && !zero.contains("time"),
        "{zero}"
    );
    let late = "{\"type\":\"ping\"}\n".repeat(60) + r#"{"role":"user","content":"Hi."}"#;
    assert!(drafted(&late).is_some());
    assert!(Draft::of("[1]\n\n{\"a\":[]}\n").is_none());
}

#[test]
fn keys_of_any_text_are_written_as_toml() {
    for odd in [
        "\u{7f}",
        "\\",
        "\u{1b}[2J",
        "*",
        "**",
        "",
        "~0/",
        "\u{2028}'\"]",
        "#",
    ] {
        let key = serde_json::Value::from(odd);
        let word =
            format!("{{{key}:{{{key}:\"user\",\"content\":{key},\"input\":1,\"output\":{{}}}}}}\n");
        let log = word.clone() + &word.replace("\"user\"", &key.to_string());
        assert!(drafted(&log).is_some(), "{log}");
    }
}

proptest! {
    #[test]
    fn a_draft_of_any_log_is_a_mapping_that_recognises_it(lines in prop::collection::vec(json(), 0..12)) {
        let log: String = lines.iter().map(|line| format!("{line}\n")).collect();
        if Draft::of(&log).is_some() {
            let format = drafted(&log).expect("a format that recognises the log");
            for session in all(format, &log).values() {
                let context = session.context();
                prop_assert_eq!(context.known + context.estimated, context.used);
            }
        }
    }
}
