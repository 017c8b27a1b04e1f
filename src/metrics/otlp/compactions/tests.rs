use super::*;
use crate::testing::{IDS, read};
use jiff::SignedDuration;
use model::event::Meta;
use model::testing::{Log, time_of};
use model::window::Rules;
use model::{Kind, Role};
use std::sync::Arc;

/// The sessions, and those of their compactions that are new.
struct Watched {
    sessions: Sessions,
    all: Compactions,
    clock: Duration,
    /// The time by which the clock here is before that of the logs.
    ahead: SignedDuration,
}

fn time(line: u64) -> Timestamp {
    time_of(line).unwrap()
}

impl Watched {
    /// Begins at the time of the fourth record of a log.
    fn by(ahead: SignedDuration) -> Watched {
        Watched {
            sessions: Sessions::new(Arc::new(Rules::default())),
            all: Compactions::new(IDS, time(4) + ahead),
            clock: Duration::ZERO,
            ahead,
        }
    }

    fn new() -> Watched {
        Watched::by(SignedDuration::ZERO)
    }

    /// Reads a log anew, at the time of its newest record.
    fn read(&mut self, file: u64, log: Log) -> bool {
        let mut session = log.session;
        session.meta = Meta {
            id: Some(format!("5e55-{file}").into()),
            ..session.meta.clone()
        };
        let now = session.updated_at.unwrap_or(time(2)) + self.ahead;
        for update in read(file, session) {
            self.sessions.apply(update);
        }
        let clock = self.clock;
        self.all.look(&self.sessions, FileId(file), now, clock)
    }

    /// The sizes after those that wait.
    fn after(&self) -> Vec<Option<(u64, Source)>> {
        let next = self.all.next().into_iter();
        next.map(|compacted| compacted.after).collect()
    }
}

/// A log before its compaction, with two records.
fn before() -> Log {
    let log = Log::of("counter").timed();
    log.item("1", Role::User, Kind::Text, 30_000).report(30_000)
}

/// It has compacted.
fn compacted() -> Log {
    before().compact(50_000)
}

/// The size after it was reported.
fn reported() -> Log {
    compacted().report(5_000)
}

/// It has compacted again.
fn again() -> Log {
    let log = reported().item("2", Role::Tool, Kind::ToolResult, 40_000);
    log.report(45_000).compact(60_000).report(6_000)
}

const REPORTED: Option<(u64, Source)> = Some((5_000, Source::Reported));

#[test]
fn what_was_there_is_not_new_and_what_comes_is_there_once() {
    let mut watched = Watched::new();
    assert!(!watched.read(0, reported()));
    assert!(watched.after().is_empty());
    assert!(watched.read(0, again()));
    assert!(!watched.read(0, again()));
    let all = watched.all.next();
    assert_eq!(all.len(), 1);
    let Compacted {
        at,
        cause,
        before,
        after,
        dropped,
        window,
        ..
    } = all[0].clone();
    assert_eq!((at, cause, before.0), (Some(time(7)), "auto", 60_000));
    assert_eq!(after, Some((6_000, Source::Reported)));
    assert_eq!((dropped, window), (40_000, 200_000));
    watched.all.remove(1);
    assert!(!watched.read(0, again()));
    assert_eq!(watched.all.counts(), (0, 0));
}

#[test]
fn the_size_after_is_waited_for_a_while() {
    let mut watched = Watched::new();
    watched.read(0, before());
    assert!(watched.read(0, compacted()));
    assert!(watched.after().is_empty());
    assert_eq!(watched.all.counts(), (1, 0));
    let until = watched.all.settles_at().unwrap();
    assert_eq!(until, watched.clock + SETTLES_AFTER);
    watched.clock += SETTLES_AFTER / 2;
    assert!(watched.read(0, reported()));
    assert_eq!(
        (watched.after(), watched.all.settles_at()),
        (vec![REPORTED], None)
    );

    let mut watched = Watched::new();
    watched.read(0, before());
    watched.read(0, compacted());
    watched.all.settle(Some(watched.clock));
    assert!(watched.after().is_empty());
    watched.all.settle(Some(watched.clock + SETTLES_AFTER));
    let after = watched.after();
    assert!(
        matches!(after[..], [Some((_, Source::Estimated))]),
        "{after:?}"
    );
    // A report that comes late changes nothing any more.
    watched.read(0, reported());
    assert_eq!(watched.after(), after);
    // The end waits for nothing.
    let mut watched = Watched::new();
    watched.read(0, before());
    watched.read(0, compacted());
    watched.all.settle(None);
    assert_eq!(watched.after().len(), 1);
}

#[test]
fn a_clock_that_differs_by_an_hour_makes_none_new_and_loses_none() {
    for hours in [-1, 1] {
        let mut watched = Watched::by(SignedDuration::from_hours(hours));
        watched.read(0, reported());
        assert!(watched.after().is_empty(), "{hours}");
        watched.read(0, again());
        assert_eq!(watched.after().len(), 1, "{hours}");
    }
}

#[test]
fn what_came_between_the_start_and_the_first_look_is_new() {
    let mut watched = Watched::new();
    watched.all.begun = time(1);
    assert!(watched.read(0, reported()));
    assert_eq!(watched.after(), [REPORTED]);
}

#[test]
fn a_copy_of_a_log_and_a_log_that_comes_back_have_nothing_new() {
    let mut watched = Watched::new();
    watched.all.begun = time(1);
    watched.read(0, before());
    watched.read(0, reported());
    assert_eq!(watched.after(), [REPORTED]);
    // A fork begins with what its parent has.
    assert!(!watched.read(1, reported()));
    watched
        .sessions
        .apply(model::sessions::Update::Vanished(FileId(0)));
    assert!(!watched.read(0, reported()));
    assert_eq!(watched.after(), [REPORTED]);
}

#[test]
fn without_times_the_order_of_records_tells_what_is_new() {
    let untimed = || {
        Log::of("counter")
            .item("1", Role::User, Kind::Text, 30_000)
            .report(30_000)
    };
    let once = || untimed().compact(50_000).report(5_000);
    let mut watched = Watched::new();
    watched.read(0, once());
    assert!(watched.after().is_empty());
    watched.read(0, once().compact(60_000).report(5_000));
    watched.read(0, once().compact(60_000).report(5_000));
    assert_eq!(watched.after(), [REPORTED]);
}

#[test]
fn those_that_wait_are_bounded_and_the_others_counted() {
    let mut watched = Watched::new();
    watched.read(0, before());
    let mut log = before();
    for _ in 0..MOST_WAITING + 7 {
        log = log.compact(50_000).report(5_000);
    }
    watched.read(0, log);
    assert_eq!(watched.all.counts(), (MOST_WAITING as u64, 7));
    assert_eq!(watched.all.counts(), (MOST_WAITING as u64, 0));
    let first = watched.all.next();
    assert_eq!(first.len(), MOST_AT_ONCE);
    let ids: HashSet<&String> = first.iter().map(|of| &of.id).collect();
    assert_eq!(ids.len(), MOST_AT_ONCE);
    watched.all.remove(MOST_AT_ONCE);
    assert_eq!(watched.all.counts().0, (MOST_WAITING - MOST_AT_ONCE) as u64);
    assert_ne!(watched.all.next()[0].id, first[0].id);
    watched.all.remove(usize::MAX);
    assert!(watched.all.next().is_empty());
}
