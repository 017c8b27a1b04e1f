use super::*;
use crate::testing::{self, fixture};
use model::event::Event;
use model::session::Session;
use model::{LeaveReason, Role};
use std::collections::BTreeMap;

fn sessions(log: &str) -> BTreeMap<Conversation, Session> {
    testing::sessions(&HPD_AGENT, log.lines())
}

#[test]
fn containers_leave_when_their_turn_ends_and_not_before() {
    let log = fixture!("hpd-agent/containers_live_to_the_end_of_their_turn/log.jsonl");
    let end = log.find("MESSAGE_TURN_FINISHED").unwrap();
    let before = &log[..log[..end].rfind('\n').unwrap()];
    let containers = |log: &str| {
        let session = &sessions(log)[&Conversation::Main];
        session.context().role(Role::Container).items
    };
    assert_eq!(containers(before), 2);
    assert_eq!(containers(log), 0);
    let session = &sessions(log)[&Conversation::Main];
    let containers = session.items().iter();
    let mut left = containers.filter_map(|item| item.left.map(|left| (left.why, left.request)));
    assert!(left.clone().count() > 0);
    assert!(left.all(|left| left == (LeaveReason::TurnEnd, 3)));
    assert_eq!(session.turns, 2);
}

#[test]
fn a_copy_of_a_message_counts_once_wherever_it_stands() {
    let log = fixture!("hpd-agent/containers_live_to_the_end_of_their_turn/log.jsonl");
    let mut copy_first: Vec<&str> = log.lines().collect();
    let is_copy = |line: &&str| line.contains("\"USER_MESSAGE\"");
    let copy = copy_first.iter().position(is_copy).unwrap();
    let copy = copy_first.remove(copy);
    copy_first.insert(2, copy);
    let users = |log: &str| {
        let session = &sessions(log)[&Conversation::Main];
        session.context().role(Role::User).items
    };
    assert_eq!(users(log), 2);
    assert_eq!(users(&copy_first.join("\n")), 2);
}

#[test]
fn numbers_of_a_turn_are_those_of_its_last_call() {
    let session =
        &sessions(fixture!("hpd-agent/last_call_of_a_turn_counts/log.jsonl"))[&Conversation::Main];
    let prompts: Vec<u64> = session.requests().iter().map(|r| r.prompt).collect();
    assert_eq!(prompts, [950]);
    let sums =
        &sessions(fixture!("hpd-agent/turn_totals_are_no_context/log.jsonl"))[&Conversation::Main];
    assert!(sums.requests().is_empty());
}

#[test]
fn a_sub_agent_has_a_session_of_its_own() {
    let sessions = sessions(fixture!("hpd-agent/sub_agents_of_their_own/log.jsonl"));
    let child = sessions.values().nth(1).unwrap();
    assert_eq!(child.meta.parent.as_deref(), Some("s-1"));
    assert_eq!(child.meta.title.as_deref(), Some("Weather"));
    assert_eq!(child.context().known, 306);
}

#[test]
fn logs_are_claimed_by_path_and_recognised_by_content() {
    let shape = |path: &str| HPD_AGENT.claims(Path::new(path)).map(|claim| claim.store);
    let thread = "/s/sessions/s-1/threads/main/thread.events.jsonl";
    assert_eq!(shape(thread), Some(StoreKind::Lines));
    let branch = "/s/sessions/s-1/branches/main/branch.json";
    assert_eq!(shape(branch), Some(StoreKind::Document));
    assert_eq!(shape("/s/sessions/s-1/threads/main/thread.meta.json"), None);
    assert!(
        HPD_AGENT.recognise(fixture!("hpd-agent/turn_totals_are_no_context/log.jsonl").as_bytes())
    );
    let line = br#"{"schema":"hpd.agent.branch.events","events":[]}"#;
    assert_eq!(HPD_AGENT.store(line), Some(StoreKind::Document));
    assert!(!HPD_AGENT.recognise(b"{\"type\":\"TEXT\",\"threadId\":\"x\"}"));
}

#[test]
fn what_a_container_showed_leaves_when_the_turn_ends() {
    let log = fixture!("hpd-agent/schemas_of_a_container_leave_with_it/log.jsonl");
    let end = log.find("MESSAGE_TURN_FINISHED").unwrap();
    let before = &log[..log[..end].rfind('\n').unwrap()];
    let (before, after) = (sessions(before), sessions(log));
    let context = before[&Conversation::Main].context();
    assert_eq!(context.known, 3_502 + 16);
    let container = context.role(Role::Container).tokens;
    assert!(container > 2_000, "{container}");
    assert_eq!(
        after[&Conversation::Main].context().known,
        3_518 - container
    );
}

#[test]
fn a_call_leaves_with_the_message_that_began_it() {
    let sessions = sessions(fixture!(
        "hpd-agent/compacted_calls_leave_with_their_message/log.jsonl"
    ));
    let session = &sessions[&Conversation::Main];
    let calls = session
        .items()
        .iter()
        .filter(|item| item.tool.as_deref().is_some());
    let alive = calls.filter(|item| item.role == Role::Assistant && item.in_context());
    assert_eq!(alive.count(), 1);
}

#[test]
fn calls_of_another_family_count_in_totals_alone() {
    let log = fixture!("hpd-agent/embeddings_and_speech_are_no_context/log.jsonl");
    let sessions = sessions(log);
    let session = &sessions[&Conversation::Main];
    assert_eq!(session.model(), Some("gpt-4o"));
    assert_eq!(session.context().known, 2_262 + 7);
    let entries = testing::read(&HPD_AGENT, log.lines()).into_iter();
    let aside = entries.filter_map(|entry| match entry.event {
        Event::Billed { billed, .. } => Some(billed.input),
        _ => None,
    });
    assert_eq!(aside.sum::<u64>(), 44 + 61 + 15 + 52);
}

#[test]
fn a_saved_history_holds_the_results_of_containers() {
    let read = |document: &str| testing::document(&HPD_AGENT, document);
    let branch = read(fixture!("hpd-agent/saved_history_of_a_branch/log.json"));
    assert_eq!(branch.meta.id.as_deref(), Some("harbour-1/branch-b"));
    assert_eq!((branch.turns, branch.unreadable), (2, 0));
    assert_eq!(branch.context().role(Role::Container).items, 1);
    let session = read(fixture!("hpd-agent/saved_session_of_before/log.json"));
    let id = Some("console-2025-12-20-090000-0a1b2c3d");
    assert_eq!((session.meta.id.as_deref(), session.turns), (id, 1));
}
