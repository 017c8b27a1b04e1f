use super::*;
use crate::labels::value;
use crate::salt::Salt;
use crate::testing::{IDS, add, followed, now, samples, session, take};
use crate::text::{Format, text};
use model::lists::sessions::FileId;
use std::collections::BTreeMap;

fn names(snapshot: &Snapshot) -> Vec<String> {
    let written = text_of(snapshot);
    let of = samples(&written).into_iter();
    let of = of.filter(|sample| sample.name == "ctxgauge_context_tokens");
    of.map(|sample| sample.labels["session"].clone()).collect()
}

fn text_of(snapshot: &Snapshot) -> String {
    let again = Snapshot {
        sessions: snapshot.sessions.clone(),
        own: crate::testing::own(),
    };
    text(again, Format::Prometheus).unwrap()
}

/// The session, as if this many seconds had passed since its records.
fn aged(id: &str, seconds: i64) -> model::session::Session {
    let mut session = session(id, "m");
    session.updated_at = Some(now() - jiff::SignedDuration::from_secs(seconds));
    session
}

#[test]
fn a_sessions_series_leave_ten_minutes_after_its_last_record() {
    let of = vec![
        aged("old", 601),
        aged("last", 600),
        aged("new", 1),
        aged("early", -3_600),
    ];
    let snapshot = followed(of, IDS).snapshot();
    assert_eq!(names(&snapshot), ["early", "new", "last"]);
    assert_eq!(snapshot.own.omitted, 0);
    let ages: Vec<u64> = snapshot
        .sessions
        .iter()
        .map(|of| of.age.as_secs())
        .collect();
    assert_eq!(ages, [0, 1, 600]);
}

#[test]
fn the_newest_have_series_and_the_others_are_counted() {
    let of = (0..5).map(|n| aged(&n.to_string(), 10 - n)).collect();
    let snapshot = followed(of, IDS).snapshot_of(2);
    assert_eq!(names(&snapshot), ["4", "3"]);
    assert_eq!((snapshot.own.omitted, snapshot.own.sessions), (3, 5));
}

#[test]
fn no_two_sessions_have_the_same_name() {
    let long = "x".repeat(1_000);
    for naming in [
        IDS,
        Naming {
            salt: Some(Salt::random()),
            ..IDS
        },
    ] {
        let of = ["a", "a", "", "", "a\u{7}", &long, &long]
            .map(|id| aged(id, 1))
            .into();
        let mut all = names(&followed(of, naming).snapshot());
        all.sort();
        let count = all.len();
        all.dedup();
        assert_eq!((all.len(), count), (7, 7), "{all:?}");
    }
}

#[test]
fn hashed_names_show_nothing_and_stay_the_same() {
    let salt = Salt::random();
    let naming = || Naming {
        salt: Some(salt.clone()),
        ..IDS
    };
    let of = |naming| followed(vec![session("5e55", "m")], naming).snapshot();
    let (one, again) = (of(naming()), of(naming()));
    assert_eq!(names(&one), names(&again));
    let text = text_of(&one);
    for secret in ["5e55", "mend", "shop", "/logs"] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    assert_ne!(
        names(&of(Naming {
            salt: Some(Salt::random()),
            ..IDS
        })),
        names(&one)
    );
}

#[test]
fn counts_are_there_once_the_log_was_read_whole() {
    let mut tail = session("5e55", "m");
    tail.coverage = Coverage::Tail;
    let followed = followed(vec![tail], IDS);
    let has = |name: &str| {
        let text = text_of(&followed.snapshot());
        samples(&text).iter().any(|sample| sample.name == name)
    };
    let counts = [
        "ctxgauge_requests_total",
        "ctxgauge_compactions_total",
        "ctxgauge_dropped_tokens_total",
        "ctxgauge_usage_tokens_total",
        "ctxgauge_unreadable_records_total",
        "ctxgauge_lost_fields_total",
    ];
    assert!(has("ctxgauge_context_tokens"));
    assert!(counts.iter().all(|name| !has(name)));
    add(&followed, 0, session("5e55", "m"));
    assert!(counts.iter().all(|name| has(name)));
}

#[test]
fn roles_sum_to_the_context_and_causes_to_the_compactions() {
    let text = text_of(&followed(vec![session("5e55", "m")], IDS).snapshot());
    let mut sums = BTreeMap::<String, f64>::new();
    for sample in samples(&text) {
        *sums.entry(sample.name).or_default() += sample.value;
    }
    let of = |name: &str| sums[&format!("ctxgauge_{name}")];
    assert_eq!(of("role_tokens"), of("context_tokens"));
    assert_eq!(
        of("context_known_tokens") + of("context_estimated_tokens"),
        of("context_tokens")
    );
    assert_eq!(
        of("headroom_tokens"),
        of("trigger_tokens") - of("own_count_tokens")
    );
    assert_eq!(of("compactions_total"), 1.0);
    assert_eq!(of("requests_total"), 3.0);
}

#[test]
fn what_waits_is_woken_by_the_end() {
    let followed = Arc::new(followed(Vec::new(), IDS));
    let waits = Arc::clone(&followed);
    let waiting = thread::spawn(move || {
        waits.wait_until_read(Duration::from_secs(600));
        waits.wait(Duration::from_secs(600));
    });
    followed.end();
    waiting.join().unwrap();
    let update = IngestEvent::Update(Update::CaughtUp);
    assert!(followed.take(update).is_break());
}

#[test]
fn a_log_that_is_gone_has_no_series() {
    let followed = followed(vec![session("5e55", "m")], IDS);
    take(&followed, Update::Vanished(FileId(0)));
    assert_eq!(names(&followed.snapshot()), [""; 0]);
    assert_eq!(value(""), "");
}
