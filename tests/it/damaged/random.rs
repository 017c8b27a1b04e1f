//! Damaged at random, whatever comes of a log, the sums hold and the work has a bound. `PROPTEST_CASES` sets how often
//! each log is damaged.

use crate::fuzzed::targets::damage::random::{DAMAGES, Random};
use crate::fuzzed::targets::decoders::named;
use crate::fuzzed::targets::sessions::{self, RULES};
use crate::fuzzed::targets::{lines, seeds};
use ctxgauge::decode::text;
use ctxgauge::formats::Format;
use ctxgauge::model::event::{Entry, Event};
use std::env;
use std::panic::{self, AssertUnwindSafe};

/// Logs beyond this length add time and no kinds of records.
const LARGE: usize = 30_000;

/// All that one entry brings: the work of a session grows with it.
fn work(entries: &[Entry]) -> usize {
    let of = |entry: &Entry| match &entry.event {
        Event::Node(node) => 1 + node.items.len(),
        _ => 1,
    };
    entries.iter().map(of).sum()
}

fn decoded(format: &Format, log: &[u8]) {
    let lines = sessions::read_lines(format.decoder().as_mut(), log);
    let document = sessions::read_document(format, log);
    for entries in [lines, document] {
        let work = work(&entries);
        assert!(work <= log.len() + 100, "{work} of {} bytes", log.len());
        sessions::check(&sessions::fold(format, &RULES, entries));
    }
}

#[test]
fn damaged_logs_break_no_sums_and_make_no_more_work_than_they_are_long() {
    let rounds = env::var("PROPTEST_CASES").ok();
    let rounds = rounds.and_then(|n| n.parse().ok()).unwrap_or(4);
    let mut logs = seeds::of("decoders");
    logs.retain(|(_, log)| log.len() < LARGE);
    for round in 0..rounds {
        for (nth, (name, seed)) in logs.iter().enumerate() {
            let mut random = Random((round * logs.len() + nth) as u64);
            let (format, log) = named(seed);
            let mut log = log.to_vec();
            let other = random.of(&logs).unwrap();
            // Each kind in turn, and another one on top of it.
            DAMAGES[(round + nth) % DAMAGES.len()](&mut random, &mut log, named(&other.1).1);
            if let Some(damage) = random.of(&DAMAGES).filter(|_| nth % 2 == 0) {
                damage(&mut random, &mut log, named(&other.1).1);
            }
            let pieces = [&[random.below(256) as u8][..], &log].concat();
            let holds = || {
                decoded(format, &log);
                lines::check(&pieces);
            };
            if panic::catch_unwind(AssertUnwindSafe(holds)).is_err() {
                panic!("{name}, damaged, round {round}:\n{}", text(&log));
            }
        }
    }
}
