//! Logs that are written to where they were read already.

use super::{assert_same_as_fresh, follow, more};
use crate::testing::followed::tail;
use crate::testing::made::MadeLog;

/// A log of several hundred kilobytes, and a line in its middle.
const MIDDLE: &str = "{\"toy\":111}\n";

fn long_log() -> MadeLog {
    let made = MadeLog::new("{\"toy\":1}\n");
    made.append_many("{\"say\":\"some words before the middle\"}\n", 20_000);
    made.append(MIDDLE);
    made.append_many("{\"say\":\"and some more words after it\"}\n", 20_000);
    made
}

#[test]
fn a_rewrite_of_the_same_length_in_the_middle_is_seen() {
    let made = long_log();
    let (mut sessions, mut cursor) = follow(&made);
    made.rewrite(MIDDLE, "{\"toy\":999}\n");
    assert_eq!(more(&mut sessions, &mut cursor), None);
    let (sessions, _) = follow(&made);
    assert_eq!(super::of(&sessions).context().known, 1000);
}

#[test]
fn a_rewrite_of_the_same_length_in_the_middle_of_a_long_epoch_or_tail_is_seen() {
    let made = long_log();
    let log = made.log();
    let (_, mut cursor) = tail(&log).finish();
    made.rewrite(MIDDLE, "{\"toy\":999}\n");
    assert_eq!(more(&mut Vec::new(), &mut cursor), None);
}

#[test]
fn a_touched_log_is_compared_but_not_read_again() {
    let made = long_log();
    let (mut sessions, mut cursor) = follow(&made);
    let before = made.read();
    made.touch();
    assert_eq!(more(&mut sessions, &mut cursor), Some(0));
    let len = made.log().facts.len;
    let read = made.read() - before;
    assert!(read >= len && read < len + (64 << 10), "{read} of {len}");
    // Nothing has happened: nothing is read.
    assert_eq!(more(&mut sessions, &mut cursor), Some(0));
    assert!(made.read() - before < len + (256 << 10));
    assert_same_as_fresh(&sessions, &made);
}

#[test]
fn a_rewrite_in_the_middle_of_a_log_that_grows_is_seen_when_it_is_its_turn() {
    let made = long_log();
    let (mut sessions, mut cursor) = follow(&made);
    made.rewrite(MIDDLE, "{\"toy\":999}\n");
    // Three blocks of 16 KiB of more than a megabyte are compared each time.
    let turns = made.log().facts.len / (48 << 10) + 1;
    let seen = (0..=turns).find(|_| {
        made.append("{\"say\":\"x\"}\n");
        more(&mut sessions, &mut cursor).is_none()
    });
    assert!(seen.is_some());
}

#[test]
fn what_is_appended_to_a_large_log_costs_the_same_as_to_a_small_one() {
    let cost = |lines| {
        let made = MadeLog::new("{\"toy\":1}\n");
        made.append_many("{\"say\":\"some words before the middle\"}\n", lines);
        let (mut sessions, mut cursor) = follow(&made);
        let before = made.read();
        made.append("{\"toy\":2}\n");
        assert_eq!(more(&mut sessions, &mut cursor), Some(2));
        made.read() - before
    };
    assert!(cost(10_000) < 128 << 10);
    assert!(cost(40_000) < 128 << 10);
}
