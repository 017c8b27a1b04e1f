use super::*;
use crate::testing::{self, fixture};
use model::event::Conversation;
use model::session::Session;
use model::{Role, Source};
use std::collections::BTreeMap;

fn sessions(log: &str) -> BTreeMap<Conversation, Session> {
    testing::sessions(&VSCODE_GATEWAY, log.lines())
}

#[test]
fn the_estimate_stands_beside_the_actual_number() {
    let session =
        &sessions(fixture!("vscode-gateway/estimate_beside_actual/log.jsonl"))[&Conversation::Main];
    let numbers: Vec<_> = session
        .requests()
        .iter()
        .map(|r| (r.prompt, r.agent_estimate))
        .collect();
    assert_eq!(
        numbers,
        [
            (18_200, Some(17_800)),
            (19_420, Some(19_100)),
            (20_510, Some(20_100))
        ]
    );
    assert_eq!(session.context().known, 20_570);
}

#[test]
fn what_was_answered_is_known_once_a_request_carries_it() {
    let session = &sessions(fixture!(
        "vscode-gateway/events_show_content_after_numbers/log.jsonl"
    ))[&Conversation::Main];
    let said = session
        .items()
        .iter()
        .find(|item| item.preview.starts_with("Port 8080"));
    assert_eq!(said.unwrap().attributed, Some((7, Source::Reported)));
    let context = session.context();
    assert_eq!((context.known, context.estimated), (168 + 9, 0));
}

#[test]
fn captures_are_told_apart_by_prompt_and_first_message() {
    let sessions = sessions(fixture!(
        "vscode-gateway/captures_by_length_and_hash/log.jsonl"
    ));
    assert_eq!(sessions.len(), 2);
    let main = &sessions[&Conversation::Main];
    assert_eq!(main.context().known, 0);
    assert_eq!(main.context().role(Role::Tool).items, 1);
    assert!(main.resets().is_empty());
}

#[test]
fn logs_are_claimed_by_path_and_recognised_by_content() {
    let shape = |path: &str| {
        VSCODE_GATEWAY
            .claims(Path::new(path))
            .map(|claim| claim.store)
    };
    assert_eq!(
        shape("/h/.vscode-ai-gateway/forensic-captures.jsonl"),
        Some(StoreKind::Lines)
    );
    assert_eq!(
        shape("/w/.logs/x/c/messages/chat-1.json"),
        Some(StoreKind::Document)
    );
    assert_eq!(shape("/w/.logs/x/c/messages/chat-1.sse.jsonl"), None);
}

#[test]
fn lines_of_the_output_channel_have_the_prompts() {
    let log = fixture!("vscode-gateway/estimator_lines_of_the_output_channel/log.jsonl");
    assert!(VSCODE_GATEWAY.recognise(log.as_bytes()));
    let sessions = sessions(log);
    let used: Vec<u64> = sessions.values().map(|one| one.context().known).collect();
    assert_eq!(
        used.len(),
        3,
        "a second conversation of one model, and another model's"
    );
    let main = &sessions[&Conversation::Main];
    let prompts: Vec<u64> = main.requests().iter().map(|one| one.prompt).collect();
    assert_eq!(prompts, [48_210, 48_655, 49_102]);
    assert_eq!(main.unreadable, 0);
}
