use super::*;
use model::Kind;
use model::event::Conversation;
use model::lists::sessions::{FileId, Update};
use model::session::Coverage;
use model::testing::{Log, file_facts};
use std::sync::Arc;

fn key() -> SessionKey {
    SessionKey {
        file: FileId(1),
        conversation: Conversation::Main,
    }
}

/// Returns what is said after this state of the session.
fn said(lines: &mut PlainLines, sessions: &mut Sessions, log: Log) -> Vec<String> {
    let mut session = log.session;
    session.coverage = Coverage::Whole;
    session.set_window(Some(100_000));
    let file = FileId(1);
    sessions.apply(Update::Found(Box::new(file_facts(
        file, "codex", "a.jsonl",
    ))));
    sessions.apply(Update::Rebuilt {
        file,
        sessions: vec![(Conversation::Main, session)],
    });
    let mut out = Vec::new();
    let now = "2026-11-28T16:31:05Z".parse().unwrap();
    lines.session(sessions, key(), now, &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn only_what_is_worth_a_word_is_said_and_only_once() {
    let mut lines = PlainLines::new(TimeZone::UTC, Charset::Ascii, Threshold::Tokens(8_000));
    lines.begun.insert(None);
    let mut sessions = Sessions::new(Arc::default());
    let log = || {
        Log::new()
            .timed()
            .item("1", Role::User, Kind::Text, 20_000)
            .report(20_000)
    };
    let mut said = |log: Log| said(&mut lines, &mut sessions, log);
    let first = said(log());
    assert_eq!(first.len(), 1, "{first:?}");
    assert!(first[0].starts_with("16:31:05 codex "), "{first:?}");
    assert!(
        first[0].contains("begins: ") && first[0].contains("40%"),
        "{first:?}"
    );
    // Nothing new, and less than a step.
    assert!(said(log()).is_empty());
    let small = || {
        log()
            .item("2", Role::Tool, Kind::ToolResult, 1_000)
            .report(21_000)
    };
    assert!(said(small()).is_empty());
    let large = || {
        small()
            .item("3", Role::Tool, Kind::ToolResult, 9_000)
            .report(30_000)
    };
    let lines = said(large());
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert!(
        lines[0].contains("a large result: ") && lines[1].contains("60%"),
        "{lines:?}"
    );
    assert!(lines.iter().all(|line| line.is_ascii()), "{lines:?}");
    let compacted = || large().compact(30_000).report(6_000);
    let lines = said(compacted());
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(
        lines[0].contains("compacted: 30.0k before, 6.0k after"),
        "{lines:?}"
    );
    assert!(said(compacted()).is_empty());
}

#[test]
fn a_compaction_that_is_read_later_but_took_place_before_is_no_news() {
    let mut lines = PlainLines::new(TimeZone::UTC, Charset::Ascii, Threshold::Tokens(8_000));
    lines.begun.insert(None);
    let mut sessions = Sessions::new(Arc::default());
    let begun = || {
        Log::new()
            .timed()
            .item("1", Role::User, Kind::Text, 20_000)
            .report(20_000)
    };
    let go_on = |log: Log, items: usize| {
        let add = |log: Log, n| log.item(&format!("n{n}"), Role::Tool, Kind::ToolResult, 10);
        (0..items).fold(log, add).report(7_000)
    };
    let first = said(&mut lines, &mut sessions, go_on(begun(), 8));
    assert!(first[0].contains("begins: "), "{first:?}");
    // The end of the log was read first.
    let whole = || begun().compact(20_000).report(6_000);
    let found = said(&mut lines, &mut sessions, go_on(whole(), 9));
    assert!(
        !found.iter().any(|it| it.contains("compacted")),
        "{found:?}"
    );
    let again = go_on(whole(), 9).compact(7_000).report(6_000);
    let new = said(&mut lines, &mut sessions, again);
    assert!(new.iter().any(|it| it.contains("compacted")), "{new:?}");
}
