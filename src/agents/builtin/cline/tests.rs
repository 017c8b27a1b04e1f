use super::*;
use crate::testing;
use model::session::Session;

#[test]
fn documents_are_told_by_name_and_by_content() {
    let root = "/home/dev/.cline/data/sessions";
    let claim = |path: &str| {
        let claim = CLINE.claims(Path::new(&format!("{root}/{path}")))?;
        Some((claim.id?, claim.parent))
    };
    assert_eq!(
        claim("17_ab/17_ab.messages.json"),
        Some(("17_ab".to_owned(), None))
    );
    let child = ("17_ab__agent_3".to_owned(), Some("17_ab".to_owned()));
    assert_eq!(claim("17_ab/agent_3.messages.json"), Some(child));
    for other in ["17_ab/17_ab.json", "17_ab/17_ab.compaction.json"] {
        assert_eq!(claim(other), None);
    }
    let beside = states(Path::new("/s/17_ab/agent_3.messages.json"));
    let [about, compaction] = beside.as_slice() else {
        panic!("{beside:?}");
    };
    assert_eq!(about, Path::new("/s/17_ab/17_ab.json"));
    assert!(compaction.ends_with("17_ab__agent_3/17_ab__agent_3.compaction.json"));
    let head = b"{\n  \"version\": 1,\n  \"updated_at\": \"2026\",\n  \"agent\": \"lead\",\n  \"sessionId\": \"17_ab\",";
    assert!(CLINE.recognise(head));
    assert!(!CLINE.recognise(b"{\"version\":1,\"sessionId\":\"17_ab\"}"));
}

fn called(id: u64, prompt: u64) -> String {
    format!(
        r#"{{"id":"a{id}","role":"assistant","content":[{{"type":"tool_use","id":"c{id}","name":"run_commands","input":{{}}}}],"metrics":{{"inputTokens":{prompt},"outputTokens":20}}}}"#
    )
}

fn returned(id: u64, letters: usize) -> String {
    let text = "a ".repeat(letters / 2);
    format!(
        r#"{{"id":"r{id}","role":"user","content":[{{"type":"tool_result","tool_use_id":"c{id}","content":"{text}"}}]}}"#
    )
}

/// The results in the context, by the numbers of their calls.
fn results(session: &Session) -> usize {
    let items = session.alive().into_iter().map(|ix| &session.items()[ix]);
    items.filter(|item| item.kind == Kind::ToolResult).count()
}

#[test]
fn a_compaction_that_was_replaced_left_the_newest_20_000_tokens() {
    let mut lines = Vec::new();
    for n in 0..9 {
        lines.extend([called(n, 5_000 + 3_000 * n), returned(n, 29_600)]);
    }
    lines.push(called(9, 14_000));
    let session = testing::sessions(&CLINE, &lines).remove(&model::event::Conversation::Main);
    let session = session.unwrap();
    assert_eq!((session.resets().len(), results(&session)), (1, 3));
}

#[test]
fn a_prompt_that_fell_a_little_follows_nothing() {
    let lines = [called(0, 5_000), returned(0, 90), called(1, 4_900)];
    let session = testing::sessions(&CLINE, &lines).remove(&model::event::Conversation::Main);
    assert!(session.unwrap().resets().is_empty());
}
