//! Lines that are far too long.

use crate::conversations::main_of;
use crate::discover::Scanner;
use crate::discover::roots::SearchRoot;
use crate::reader::tail_only;
use crate::testing::followed::open;
use crate::testing::made::MadeLog;
use model::event::ByLength;
use model::session::Coverage;
use std::sync::Arc;

const SCREEN_SEARCHES: u64 = 64 << 20;

#[test]
fn a_last_line_of_more_than_64_mb_does_not_hide_the_known_number() {
    let made = MadeLog::new("{\"cwd\":\"/p\"}\n{\"toy\":300}\n{\"toy\":4000}\n");
    made.append_long_line(SCREEN_SEARCHES + 1);
    let sessions = tail_only(&made.log(), &Arc::default()).unwrap();
    let context = main_of(&sessions).unwrap().context();
    assert_eq!(context.known, 4001);
    assert!(
        context.used > SCREEN_SEARCHES / 8,
        "and the line counts too"
    );
}

#[test]
fn an_unfinished_last_line_of_more_than_64_mb_does_not_hide_the_known_number() {
    let made = MadeLog::new("{\"cwd\":\"/p\"}\n{\"toy\":4000}\n{\"say\":\"");
    made.append_many(&"x".repeat(1 << 20), 65);
    let log = made.log();
    let sessions = tail_only(&log, &Arc::default()).unwrap();
    assert_eq!(main_of(&sessions).unwrap().context().known, 4001);

    // On screen, where the search has a bound, nothing of it counts as read until all of it was.
    let reading = log.store.tail(&log, &ByLength, &Arc::default()).unwrap();
    assert_eq!(reading.coverage(), Coverage::Tail);
    let (sessions, _) = open(&log, &Arc::default());
    assert_eq!(main_of(&sessions).unwrap().context().known, 4001);
}

/// A log of Claude Code in which no response has usage. `parent` is the record that one follows.
fn unreported(records: u64, parent: impl Fn(u64) -> u64) -> String {
    let record = |n: u64| {
        let (kind, content) = match n % 2 {
            0 => ("user", serde_json::json!(format!("message {n}"))),
            _ => (
                "assistant",
                serde_json::json!([{"type": "text", "text": "an answer"}]),
            ),
        };
        let record = serde_json::json!({
            "type": kind, "sessionId": "8a1f0c5e-0000-4000-8000-000000000001", "cwd": "/p",
            "version": "2.0.14", "timestamp": "2026-05-01T00:00:00.000Z", "uuid": format!("u{n}"),
            "parentUuid": n.checked_sub(1).map(|_| format!("u{}", parent(n))),
            "requestId": format!("r{n}"),
            "message": {"id": format!("m{n}"), "role": kind, "model": "claude-sonnet-4-5", "content": content},
        });
        format!("{record}\n")
    };
    (0..records).map(record).collect()
}

#[test]
fn a_long_log_without_reports_is_listed_by_the_sum_of_its_items() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir
        .path()
        .join("8a1f0c5e-0000-4000-8000-000000000001.jsonl");
    // One that goes on, one that is rewound to a record long before.
    let rewound = |n: u64| if n == 18_000 { 11 } else { n - 1 };
    for (text, folds) in [
        (unreported(20_000, |n| n - 1), true),
        (unreported(20_000, rewound), false),
    ] {
        std::fs::write(&path, text).unwrap();
        let root = SearchRoot::Given(path.clone());
        let found = Scanner::new(vec![root], agents::ALL.to_vec(), |_| None).look();
        let (log, rules) = (&found.files[0], Arc::default());
        let listed = tail_only(log, &rules).unwrap();
        let shown = log.store.tail(log, &ByLength, &rules).unwrap().finish().0;
        let [listed, shown] = [&listed, &shown].map(|sessions| main_of(sessions).unwrap());
        assert_eq!(listed.context(), shown.context());
        assert_eq!((listed.turns, listed.records), (shown.turns, shown.records));
        assert_eq!(listed.items().len() < shown.items().len() / 2, folds);
    }
}
