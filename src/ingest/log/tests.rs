//! Readings of a log, whatever becomes of it.

use super::*;
use crate::bytes::source::CHUNK;
use crate::log::NewEntries;
use crate::log::conversations::Conversations;
use crate::log::reach::Reach;
use crate::log::reader::{each_usage, read_whole};
use crate::testing::toy_log;
use model::event::{ByLength, Event};
use model::session::Coverage;
use proptest::prelude::*;
use std::fs::{self, OpenOptions};
use std::io::Write;

/// A change of a log.
#[derive(Debug, Clone)]
enum Act {
    /// These bytes are appended: lines, or pieces of them.
    Append(String),
    /// It is cut to a share of its length, in percent.
    Truncate(u64),
    /// It is written anew in place.
    Rewrite(String),
    /// Another file takes its place.
    Replace(String),
}

fn text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        4 => (1_u64..99).prop_map(|n| format!("{{\"toy\":{n}}}")),
        3 => "[a-z ]{0,12}".prop_map(|text| format!("{{\"say\":\"{text}\"}}")),
        1 => Just("{\"reset\":1}".to_owned()),
        1 => Just("{\"side\":\"x\"}".to_owned()),
        1 => Just("junk".to_owned()),
        1 => Just(String::new()),
    ];
    let end = prop_oneof![5 => Just("\n"), 1 => Just("\r\n"), 2 => Just("")];
    let lines = prop::collection::vec((line, end, 0_usize..40), 0..5);
    // Lines whole or torn somewhere.
    lines.prop_map(|lines| {
        let piece = |(line, end, tear): &(String, &str, usize)| match tear {
            0..10 => line
                .get(..tear % (line.len() + 1))
                .unwrap_or_default()
                .to_owned(),
            _ => format!("{line}{end}"),
        };
        lines.iter().map(piece).collect()
    })
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        6 => text().prop_map(Act::Append),
        1 => (0_u64..100).prop_map(Act::Truncate),
        1 => text().prop_map(Act::Rewrite),
        1 => text().prop_map(Act::Replace),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn following_ends_where_a_fresh_reading_does(acts in prop::collection::vec(act(), 1..12)) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log.toy");
        fs::write(&path, "").unwrap();
        let log = toy_log(&path);
        let rules = Arc::default();
        let mut conversations = Conversations::new(&log.facts, &rules, Coverage::Whole);
        let mut cursor = Reading::whole(&log, &rules).cursor;
        let finish = acts.len();
        for n in 0..=finish {
            match acts.get(n) {
                Some(Act::Append(text)) => {
                    let mut file = OpenOptions::new().append(true).open(&path).unwrap();
                    file.write_all(text.as_bytes()).unwrap();
                }
                Some(Act::Truncate(share)) => {
                    let file = OpenOptions::new().write(true).open(&path).unwrap();
                    file.set_len(file.metadata().unwrap().len() * share / 100).unwrap();
                }
                Some(Act::Rewrite(text)) => fs::write(&path, text).unwrap(),
                Some(Act::Replace(text)) => {
                    let other = dir.path().join("other");
                    fs::write(&other, text).unwrap();
                    fs::rename(&other, &path).unwrap();
                }
                None => {}
            }
            loop {
                let more = if n == finish { cursor.finish(&ByLength) } else { cursor.more(&ByLength) };
                match more.unwrap() {
                    NewEntries::Entries(entries) => {
                        conversations.apply(entries);
                        break;
                    }
                    NewEntries::Batch(entries) => conversations.apply(entries),
                    NewEntries::Restart => {
                        let reading = log.store.tail(&log, &ByLength, &rules, Reach::SCREEN).unwrap();
                        (conversations, cursor) = (reading.conversations, reading.cursor);
                    }
                    NewEntries::Rewritten(_) => unreachable!("no document"),
                }
            }
        }
        let fresh = read_whole(&log, &ByLength, &rules).unwrap();
        let followed = conversations.into_sessions();
        prop_assert_eq!(followed.len(), fresh.len());
        for ((conversation, a), (other, b)) in followed.iter().zip(&fresh) {
            prop_assert_eq!(conversation, other);
            prop_assert_eq!(a.context(), b.context());
            prop_assert_eq!(&a.items(), &b.items());
            prop_assert_eq!(&a.requests(), &b.requests());
            prop_assert_eq!(a.unreadable, b.unreadable);
        }
    }
}

#[test]
fn a_long_log_comes_in_batches_and_in_turns() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.toy");
    let line = format!("{{\"say\":\"{}\"}}\n", "x".repeat(1000));
    fs::write(&path, line.repeat(3000)).unwrap();
    let log = toy_log(&path);
    let rules = Arc::default();
    let mut cursor = Reading::whole(&log, &rules).cursor;
    let mut batches = 0;
    while let NewEntries::Batch(entries) = cursor.more(&ByLength).unwrap() {
        assert!(!entries.is_empty());
        batches += 1;
    }
    assert_eq!(batches, 2);
    let mut reading = Reading::whole(&log, &rules);
    let mut turns = 0;
    while reading.step(&ByLength, &mut || true).unwrap() == Progress::More {
        turns += 1;
    }
    // A turn ends with the bytes that were read at once.
    let chunks = (line.len() * 3000).div_ceil(CHUNK);
    assert!((chunks - 1..=chunks).contains(&turns), "{turns}");
    assert_eq!(reading.finish().0[0].1.items().len(), 3000);
}

#[test]
fn each_usage_report_is_given_without_a_session() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log.toy");
    fs::write(&path, "{\"toy\":1}\n{\"say\":\"x\"}\njunk\n{\"toy\":2}").unwrap();
    let mut prompts = Vec::new();
    each_usage(&toy_log(&path), &mut |entry| {
        if let Event::Usage(usage) = entry.event {
            prompts.push(usage.prompt);
        }
    })
    .unwrap();
    assert_eq!(prompts, [1, 2]);
}
