use super::*;
use crate::testing::{self, fixture, previews};
use model::Role;
use model::event::Conversation;
use model::session::Session;
use std::collections::BTreeMap;

fn sessions(log: &str) -> BTreeMap<Conversation, Session> {
    testing::sessions(&MEW, log.lines())
}

#[test]
fn each_participant_has_a_context_of_its_own() {
    let sessions = sessions(fixture!("mew/each_participant_its_own_context/log.jsonl"));
    let titles: Vec<_> = sessions
        .values()
        .map(|session| session.meta.title.as_deref().unwrap())
        .collect();
    assert_eq!(titles, ["mew", "helper"], "and nobody else");
    let helper = sessions.values().nth(1).unwrap();
    // It has what was delivered to it before its first word, and a proposal's result.
    assert_eq!(
        previews(helper),
        [
            "Hello, everybody.",
            "Hello.",
            "Good morning, how can I help?",
            "a.txt",
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
    let sessions = sessions(fixture!(
        "mew/automatic_compaction_drops_the_oldest/log.jsonl"
    ));
    let mew = &sessions[&Conversation::Main];
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
fn logs_are_claimed_by_path_and_recognised_by_content() {
    let claims = |path: &str| MEW.claims(Path::new(path)).is_some();
    assert!(claims("/s/.mew/logs/envelope-history.jsonl"));
    assert!(!claims("/s/.mew/logs/capability-decisions.jsonl"));
    let first = fixture!("mew/an_envelope_counts_once/log.jsonl").as_bytes();
    assert!(MEW.recognise(first));
    assert!(!MEW.recognise(b"{\"event\":\"allowed\",\"capability\":{\"kind\":\"chat\"}}\n"));
}

#[test]
fn what_was_delivered_before_the_first_word_is_in_the_context() {
    let sessions = sessions(fixture!("mew/delivered_before_its_first_word/log.jsonl"));
    let used: Vec<u64> = sessions.values().map(|one| one.context().used).collect();
    assert_eq!(used[0], used[1], "both received all of it");
    let taster = sessions.values().nth(1).unwrap();
    let lines = taster.items().iter().map(|item| item.place.line());
    assert_eq!(lines.collect::<Vec<_>>(), [1, 5, 9, 13]);
}

#[test]
fn who_was_rejected_has_no_context() {
    let sessions = sessions(fixture!("mew/rejected_envelopes_are_nobodys/log.jsonl"));
    assert_eq!(sessions.len(), 1);
    let baker = &sessions[&Conversation::Main];
    assert_eq!(baker.items().len(), 3);
    assert!(baker.resets().is_empty(), "nor could it clear another's");
}

#[test]
fn a_compaction_is_done_before_its_size_is_reported() {
    let sessions = sessions(fixture!("mew/compaction_is_done_then_counted/log.jsonl"));
    let sizes = sessions[&Conversation::Main].resets().iter();
    let sizes: Vec<_> = sizes.map(|reset| (reset.before, reset.after)).collect();
    assert_eq!(sizes, [(2_400, Some(900)), (900, Some(0))]);
}

#[test]
fn a_status_makes_an_agent_of_any_name() {
    let sessions = sessions(fixture!("mew/agents_named_like_people/log.jsonl"));
    let names = sessions.values().map(|one| one.meta.title.as_deref());
    assert_eq!(names.collect::<Vec<_>>(), [Some("human-resources")]);
    let agent = &sessions[&Conversation::Main];
    let own = agent
        .items()
        .iter()
        .filter(|item| item.role == Role::Assistant);
    assert_eq!((own.count(), agent.context().used), (2, 640));
}

#[test]
fn headroom_is_in_the_units_of_the_trigger() {
    let sessions = sessions(fixture!("mew/its_trigger_is_in_its_own_units/log.jsonl"));
    let context = sessions[&Conversation::Main].context();
    assert_eq!(context.counted(), 1_906);
}

#[test]
fn its_own_number_takes_the_place_of_what_was_counted() {
    let log = fixture!("mew/own_number_below_what_was_counted/log.jsonl");
    let whole = sessions(log);
    let context = whole[&Conversation::Main].context();
    let end = log.find("And the newest one?").unwrap();
    let before = sessions(&log[..log[..end].rfind('\n').unwrap()]);
    assert_eq!(before[&Conversation::Main].context().used, 600);
    assert!((600..640).contains(&context.used), "{}", context.used);
    assert_eq!((context.known, context.role(Role::Tool).items), (0, 1));
}
