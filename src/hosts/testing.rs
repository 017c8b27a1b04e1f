//! A machine with one session, and its lines.

use crate::wire::VERSION;
use jiff::Timestamp;
use model::event::{Conversation, Meta};
use model::lists::sessions::{FileFacts, FileId, SessionKey, Sessions, Update};
use model::session::Session;
use model::testing::{Log, file_facts};
use model::{Kind, Role};
use std::sync::Arc;

pub(crate) fn now() -> Timestamp {
    "2026-03-14T15:09:26Z".parse().unwrap()
}

/// The sessions of a machine that has one, whose clock is right.
pub(crate) fn there() -> (Sessions, SessionKey) {
    let mut sessions = Sessions::new(Arc::default());
    let file = FileId(7);
    sessions.apply(Update::Found(Box::new(FileFacts {
        label: "claude",
        id: Some("1".to_owned()),
        len: 900,
        modified: Some(now()),
        ..file_facts(
            file,
            "claude-code",
            "/home/ada/.claude/projects/-shop/1.jsonl",
        )
    })));
    let log = Log::of("claude-code")
        .timed()
        .item("1", Role::User, Kind::Text, 40_000)
        .report(41_000);
    let mut session: Session = log.session;
    session.meta = Meta {
        id: Some("1".into()),
        cwd: Some("/home/ada/shop".into()),
        title: Some("x".repeat(5_000).into()),
        ..session.meta.clone()
    };
    session.coverage = model::session::Coverage::Whole;
    let conversation = Conversation::Main;
    let all = vec![(conversation, session)];
    sessions.apply(Update::Rebuilt {
        file,
        sessions: all,
    });
    (sessions, SessionKey { file, conversation })
}

pub(crate) fn start() -> String {
    format!(
        r#"{{"type":"start","seq":0,"at":"2026-03-14T15:09:26Z","schema":"ctxgauge.follow/1","version":"{VERSION}"}}"#
    )
}

pub(crate) fn session(name: &str, at: Timestamp, row: &str) -> String {
    format!(r#"{{"type":"session","seq":1,"at":"{at}","session":"{name}","row":"{row}"}}"#)
}
