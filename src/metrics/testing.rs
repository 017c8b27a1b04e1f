//! Sessions for tests, and a small reader of what is written of them.

use crate::followed::Followed;
use crate::labels::Naming;
use crate::own::{Latencies, OwnNumbers};
use ingest::IngestEvent;
use jiff::Timestamp;
use model::event::{Conversation, Meta};
use model::lists::sessions::{FileFacts, FileId, Update};
use model::session::Session;
use model::testing::{Log, file_facts, time_of};
use model::window::Rules;
use model::{Kind, Role};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Names with the ids of the logs.
pub const IDS: Naming = Naming {
    salt: None,
    extra: Vec::new(),
};

/// The time at which the numbers are taken: a minute and a half after the first record of a log.
pub fn now() -> Timestamp {
    time_of(91).unwrap()
}

/// A session that has compacted once, with two reports since.
pub fn session(id: &str, model: &str) -> Session {
    let log = Log::of("counter").timed().model(model);
    let log = log.item("1", Role::User, Kind::Text, 30_000).report(30_000);
    let log = log.compact(50_000).report(5_000);
    let log = log.item("2", Role::Tool, Kind::ToolResult, 2_000);
    let mut session = log.report(7_100).turn("3", 400).session;
    session.meta = Meta {
        id: Some(id.into()),
        title: Some("mend the cart".into()),
        cwd: Some("/home/dev/shop".into()),
        ..session.meta.clone()
    };
    session
}

/// These sessions, each in a log of its own that was written last at its newest record.
pub fn followed(sessions: Vec<Session>, naming: Naming) -> Followed {
    let followed = Followed::new(Arc::new(Rules::default()), naming, now);
    for (n, session) in sessions.into_iter().enumerate() {
        add(&followed, n as u64, session);
    }
    followed
}

/// Adds a session in a log of its own.
pub fn add(followed: &Followed, n: u64, session: Session) {
    for update in read(n, session) {
        take(followed, update);
    }
}

/// Returns what is read of a session in a log of its own.
pub fn read(n: u64, session: Session) -> [Update; 2] {
    let file = FileId(n);
    let found = Update::Found(Box::new(FileFacts {
        modified: session.updated_at,
        ..file_facts(file, "counter", &format!("/logs/{n}.jsonl"))
    }));
    let sessions = vec![(Conversation::Main, session)];
    [found, Update::Rebuilt { file, sessions }]
}

/// Has the sessions take in what was read.
pub fn take(followed: &Followed, update: Update) {
    assert!(followed.take(IngestEvent::Update(update)).is_continue());
}

/// Numbers of the program that are the same in each run.
pub fn own() -> OwnNumbers {
    let latency = Latencies::default();
    for millis in [3, 4, 30, 60_000] {
        latency.observe(now(), now() + Duration::from_millis(millis));
    }
    OwnNumbers {
        version: "0.0.0",
        sessions: 3,
        omitted: 7,
        files: 2,
        is_scanned: true,
        read: Some(2 << 20),
        memory: Some(1 << 20),
        latency,
    }
}

/// A sample as it was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub name: String,
    pub labels: BTreeMap<String, String>,
    pub value: f64,
}

/// Reads the samples of a text in either format, by its grammar alone.
pub fn samples(text: &str) -> Vec<Sample> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(sample).collect()
}

fn sample(line: &str) -> Sample {
    let end = line.find(['{', ' ']).unwrap();
    let (name, mut rest) = line.split_at(end);
    let mut labels = BTreeMap::new();
    if let Some(inner) = rest.strip_prefix('{') {
        rest = inner;
        while !rest.starts_with('}') {
            let (label, after) = rest.split_once("=\"").unwrap();
            let mut value = String::new();
            let mut chars = after.char_indices();
            loop {
                match chars.next().unwrap() {
                    (_, '\\') => value.push(match chars.next().unwrap().1 {
                        'n' => '\n',
                        c @ ('\\' | '"') => c,
                        c => panic!("\\{c}"),
                    }),
                    (at, '"') => {
                        rest = &after[at + 1..];
                        break;
                    }
                    (_, c) => value.push(c),
                }
            }
            assert_eq!(labels.insert(label.to_owned(), value), None, "{line}");
            rest = rest.strip_prefix(',').unwrap_or(rest);
        }
        rest = &rest[1..];
    }
    Sample {
        name: name.to_owned(),
        labels,
        value: rest.strip_prefix(' ').unwrap().parse().unwrap(),
    }
}
