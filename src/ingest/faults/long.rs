//! Lines that are far too long.

use crate::log::conversations::main_of;
use crate::log::reader::tail_only;
use crate::testing::followed::{open, tail};
use crate::testing::made::MadeLog;
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
    let reading = tail(&log);
    assert_eq!(reading.conversations.coverage, Coverage::Tail);
    let (sessions, _) = open(&log, &Arc::default());
    assert_eq!(main_of(&sessions).unwrap().context().known, 4001);
}
