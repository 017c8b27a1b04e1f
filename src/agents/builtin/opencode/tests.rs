use super::*;
use crate::testing::read;
use model::event::{Event, Usage};

#[test]
fn databases_are_recognised_by_name() {
    let claims = |format: &Format, path: &str| format.claims(Path::new(path)).is_some();
    assert!(claims(&OPENCODE, "/d/opencode/opencode.db"));
    assert!(claims(&OPENCODE, "/d/opencode/opencode-dev.db"));
    assert!(!claims(&OPENCODE, "/d/opencode/opencode.db-wal"));
    assert!(!claims(&OPENCODE, "/d/opencode/opencoder.db"));
    assert!(claims(&KILO, "/d/kilo/kilo.db"));
    assert!(!claims(&KILO, "/d/opencode/opencode.db"));
}

#[test]
fn exports_are_recognised_by_their_beginning() {
    let export = b"{\n  \"info\": {\n    \"id\": \"ses_1\",\n    \"directory\": \"/d\"";
    assert!(OPENCODE.recognise(export));
    assert!(!OPENCODE.recognise(b"{\"info\":{\"title\":\"x\"}}"));
    assert!(!KILO.recognise(export));
    assert_eq!(OPENCODE.store(export), Some(StoreKind::Document));
}

/// The reports of an answer with these tokens.
fn usages(tokens: &str) -> Vec<Usage> {
    let line = format!(
        r#"{{"id":"m","info":{{"role":"assistant","modelID":"x","time":{{"completed":1}},"tokens":{tokens}}},"parts":[]}}"#
    );
    let entries = read(&OPENCODE, [line]).into_iter();
    let usages = entries.filter_map(|entry| match entry.event {
        Event::Usage(usage) => Some(*usage),
        _ => None,
    });
    usages.collect()
}

#[test]
fn the_output_is_what_the_prompt_leaves_of_the_total() {
    let numbers = |tokens: &str| {
        let usages = usages(tokens).into_iter();
        let numbers: Vec<_> = usages
            .map(|usage| (usage.prompt, usage.cached, usage.output, usage.reasoning))
            .collect();
        numbers
    };
    let newer =
        r#"{"total":160,"input":20,"output":30,"reasoning":10,"cache":{"read":70,"write":30}}"#;
    assert_eq!(numbers(newer), [(120, 70, Some(40), Some(10))]);
    let older =
        r#"{"total":120,"input":20,"output":30,"reasoning":10,"cache":{"read":70,"write":0}}"#;
    assert_eq!(numbers(older), [(90, 70, Some(30), Some(10))]);
    let oldest = r#"{"input":20,"output":30,"reasoning":10,"cache":{"read":70,"write":0}}"#;
    assert_eq!(numbers(oldest), [(90, 70, Some(30), Some(10))]);
    // A total below its parts does not count; an answer that is being written has 0 everywhere.
    let odd = r#"{"total":5,"input":20,"output":30,"cache":{"read":null}}"#;
    assert_eq!(numbers(odd), [(20, 0, Some(30), None)]);
    // Of a report with an unreadable part nothing is used.
    let unreadable = r#"{"total":5,"input":20,"output":30,"cache":{"read":"many"}}"#;
    assert_eq!(numbers(unreadable), []);
    assert_eq!(
        numbers(r#"{"input":0,"output":0,"reasoning":0,"cache":{}}"#),
        []
    );
}

#[test]
fn an_answer_that_calls_no_tools_ends_the_turn() {
    let is_over = |finish: &str| {
        let line = format!(
            r#"{{"id":"m","info":{{"role":"assistant","modelID":"x","finish":"{finish}","time":{{"completed":1}}}},"parts":[]}}"#
        );
        let entries = read(&OPENCODE, [line]);
        entries.iter().any(|entry| entry.event == Event::TurnOver)
    };
    assert_eq!(
        ["stop", "tool-calls", ""].map(is_over),
        [true, false, false]
    );
}

#[test]
fn files_may_hold_messages_of_2() {
    let line = r#"{"info":{"id":"m","type":"assistant","model":{"id":"x"},"tokens":{"input":20,"output":5},"time":{"completed":1},"content":[{"type":"text","text":"Done."}]},"parts":[]}"#;
    let entries = read(&OPENCODE, [line.to_owned()]);
    let prompts = entries.iter().filter_map(|entry| match &entry.event {
        Event::Usage(usage) => Some(usage.prompt),
        _ => None,
    });
    assert_eq!(prompts.collect::<Vec<_>>(), [20]);
}

#[test]
fn what_a_fork_has_copied_costs_nothing_again() {
    let answer = |id: &str, begun: u64| {
        format!(
            r#"{{"id":"{id}","info":{{"role":"assistant","modelID":"x","time":{{"created":{begun},"completed":{}}},"tokens":{{"input":70,"output":5}}}},"parts":[]}}"#,
            begun + 9
        )
    };
    let session = r#"{"session":{"id":"ses_1","time":{"created":2000}}}"#.to_owned();
    let entries = read(&OPENCODE, [session, answer("a", 1999), answer("b", 2000)]).into_iter();
    let usages = entries.filter_map(|entry| match entry.event {
        Event::Usage(usage) => Some((usage.prompt, usage.billed.input)),
        _ => None,
    });
    assert_eq!(usages.collect::<Vec<_>>(), [(70, 0), (70, 70)]);
}

#[test]
fn a_login_with_chatgpt_has_limits_of_its_own() {
    let answer = |model: &str, provider: &str, cost: &str| {
        format!(
            r#"{{"id":"{model}{cost}","info":{{"role":"assistant","modelID":"{model}","providerID":"{provider}","cost":{cost},
                "tokens":{{"input":20,"output":3}}}},"parts":[]}}"#
        )
    };
    let limits = |lines: &[String]| {
        let entries = read(&OPENCODE, lines).into_iter();
        let metas = entries.filter_map(|entry| match entry.event {
            Event::Meta(meta) => meta.trigger.map(|trigger| (meta.window, trigger)),
            _ => None,
        });
        metas.collect::<Vec<_>>()
    };
    let signed_in = answer("gpt-5.6-sol", "openai", "0");
    let of_login = (Some(400_000), 252_000);
    assert_eq!(limits(std::slice::from_ref(&signed_in)), [of_login]);
    // Others have the usual limits, also in the same session.
    let other = answer("gpt-6.2-sol", "openai", "0");
    assert_eq!(
        limits(&[signed_in, other.clone()]),
        [of_login, (Some(0), 0)]
    );
    let paid = answer("gpt-5.6-sol", "openai", "0.02");
    let relay = answer("gpt-5.6-sol", "hub", "0");
    assert_eq!(limits(&[other, paid, relay]), []);
}

#[test]
fn what_a_fork_of_2_has_copied_costs_nothing_again() {
    let answer = |id: &str, begun: u64| {
        format!(
            r#"{{"id":"{id}","type":"assistant","data":{{"model":{{"id":"x"}},"content":[],"cost":0.5,"tokens":{{"input":70,"output":5}},"time":{{"created":{begun},"completed":{}}}}}}}"#,
            begun + 9
        )
    };
    let session = r#"{"session":{"id":"ses_1","time":{"created":2000}}}"#.to_owned();
    let entries = read(&OPENCODE, [session, answer("a", 1999), answer("b", 2000)]);
    let usages = entries.iter().filter_map(|entry| match &entry.event {
        Event::Usage(usage) => Some((usage.prompt, usage.billed.input, usage.is_inherited)),
        _ => None,
    });
    assert_eq!(usages.collect::<Vec<_>>(), [(70, 0, true), (70, 70, false)]);
    let own = |entry: &&model::event::Entry| matches!(entry.event, Event::OwnCost { .. });
    assert_eq!(entries.iter().filter(own).count(), 1);
}
