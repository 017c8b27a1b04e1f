use super::*;
use crate::agents::testing::{self, previews};
use crate::model::Role;
use crate::model::event::Lane;
use crate::model::session::Session;
use std::collections::BTreeMap;

fn sessions(log: &str) -> BTreeMap<Lane, Session> {
    testing::sessions(&MEW, log.lines())
}

macro_rules! case {
    ($name:literal) => {
        include_str!(concat!("../../../tests/fixtures/mew/", $name, "/log.jsonl"))
    };
}

#[test]
fn each_participant_has_a_context_of_its_own() {
    let sessions = sessions(case!("each_participant_its_own_context"));
    let titles: Vec<_> = sessions
        .values()
        .map(|session| session.meta.title.as_deref().unwrap())
        .collect();
    assert_eq!(titles, ["mew", "helper"], "and nobody else");
    let helper = sessions.values().nth(1).unwrap();
    // It does not receive what came before it took part; it does receive a proposal's result.
    assert_eq!(
        previews(helper),
        [
            "Good morning, how can I help?",
            r#"{"path":"a.txt","content":"x"}"#,
            "Wrote a.txt."
        ]
    );
    let tools = helper.items().iter().filter(|item| item.role == Role::Tool);
    let tools: Vec<_> = tools.map(|item| item.tool.as_deref()).collect();
    assert_eq!(tools, [Some("write_file")], "not whose tool it is");
    assert_eq!(helper.meta.window, Some(20_000));
    assert_eq!(helper.context().known, 0);
    assert_eq!(helper.context().used, 120, "its own number");
}

#[test]
fn an_automatic_compaction_drops_as_much_as_it_says() {
    let sessions = sessions(case!("automatic_compaction_drops_the_oldest"));
    let mew = &sessions[&Lane::Main];
    assert_eq!(
        previews(mew),
        [
            "It opened long ago, sells tea, and is closed on Mondays.",
            "And on Tuesdays?",
            "Open."
        ]
    );
    let reset = &mew.resets()[0];
    assert_eq!((reset.cause.name(), reset.before), ("auto", 19_020));
}

#[test]
fn names() {
    let claims = |path: &str| MEW.claims(Path::new(path)).is_some();
    assert!(claims("/s/.mew/logs/envelope-history.jsonl"));
    assert!(!claims("/s/.mew/logs/capability-decisions.jsonl"));
    let first = case!("an_envelope_counts_once").as_bytes();
    assert!(MEW.recognise(first));
    assert!(!MEW.recognise(b"{\"event\":\"allowed\",\"capability\":{\"kind\":\"chat\"}}\n"));
}
