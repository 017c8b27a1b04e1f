use super::*;
use crate as agents;
use model::event::{ByLength, Conversation};
use model::session::Session;
use std::collections::BTreeMap;
use std::sync::Arc;

#[test]
fn tasks_are_told_by_the_extensions_folder() {
    let home = "/home/dev/.config/Code/User/globalStorage";
    let path = |extension: &str| {
        format!("{home}/{extension}/tasks/1760000000000/api_conversation_history.json")
    };
    let named = |extension: &str| {
        let path = path(extension);
        let mut formats = agents::ALL
            .iter()
            .filter(|f| f.claims(Path::new(&path)).is_some());
        formats.next().unwrap().id
    };
    assert_eq!(named("saoudrizwan.claude-dev"), "cline-vscode");
    assert_eq!(named("rooveterinaryinc.roo-cline"), "roo-code");
    assert_eq!(named("kilocode.kilo-code"), "kilo-code");
    let ui = path("kilocode.kilo-code").replace("api_conversation_history", "ui_messages");
    assert_eq!(KILO_CODE.claims(Path::new(&ui)), None);
    let head = b"[{\"role\": \"user\",\"content\":[{\"type\":\"text\",\"text\":\"<task>\\n<environment_details>";
    assert!(CLINE_TASKS.recognise(head));
    assert!(!CLINE_TASKS.recognise(b"[{\"role\":\"user\",\"content\":[{\"type\":\"text\"}]}]"));
}

/// A task with these messages and what was shown of it.
fn task(messages: &str, ui: &str) -> Session {
    let mut decoder = TaskDecoder::default();
    let mut out = EventSink::new(&ByLength);
    decoder.read_state(ui, &mut out);
    decoder.read_document(messages, &mut out);
    let mut sessions: BTreeMap<Conversation, Session> = BTreeMap::new();
    for entry in out.entries {
        let session = sessions.entry(entry.conversation);
        session
            .or_insert_with(|| Session::new("roo-code", Arc::default()))
            .apply(entry);
    }
    sessions.remove(&Conversation::Main).unwrap()
}

fn answer(ts: u64) -> String {
    format!(r#"{{"role":"assistant","content":"Done.","ts":{ts}}}"#)
}

fn request(ts: u64, input: u64, cached: u64) -> String {
    format!(
        r#"{{"ts":{ts},"type":"say","say":"api_req_started","text":"{{\"tokensIn\":{input},\"tokensOut\":9,\"cacheReads\":{cached}}}"}}"#
    )
}

fn prompts(session: &Session) -> Vec<u64> {
    session
        .requests()
        .iter()
        .map(|request| request.prompt)
        .collect()
}

#[test]
fn an_answer_has_the_numbers_of_the_last_request_before_it() {
    let messages = format!("[{},{},{}]", answer(10), answer(30), answer(50));
    // The second request failed and was made again; the last is not answered yet.
    let ui = [
        request(5, 100, 0),
        request(20, 200, 0),
        request(25, 210, 0),
        request(40, 300, 0),
    ];
    let ui = format!("[{},{}]", ui.join(","), request(60, 400, 0));
    assert_eq!(prompts(&task(&messages, &ui)), [100, 210, 300]);
}

#[test]
fn the_cached_part_is_counted_once() {
    let messages = format!("[{},{}]", answer(10), answer(30));
    let ui = format!("[{},{}]", request(5, 7, 100), request(20, 150, 100));
    assert_eq!(prompts(&task(&messages, &ui)), [107, 150]);
}

#[test]
fn answers_without_a_time_take_the_numbers_in_turn() {
    let messages = format!("[{},{}]", answer(10), answer(30)).replace("\"ts\"", "\"no\"");
    let ui = format!(
        "[{},{},{}]",
        request(5, 100, 0),
        request(20, 200, 0),
        request(40, 300, 0)
    );
    assert_eq!(prompts(&task(&messages, &ui)), [100, 200]);
}
