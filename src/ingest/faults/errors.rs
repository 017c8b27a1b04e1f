//! Reads that fail, or return less than was wanted.

use super::{assert_same_as_fresh, follow, more};
use crate::log::Reading;
use crate::log::reader::read_whole;
use crate::testing::followed::tail;
use crate::testing::made::{Fault, MadeLog};
use model::event::ByLength;
use std::io::ErrorKind;
use std::sync::Arc;

fn log() -> MadeLog {
    let made = MadeLog::new("{\"cwd\":\"/p\"}\n");
    made.append_many("{\"toy\":7}\n{\"say\":\"größer\"}\n{\"reset\":1}\n", 300);
    made.append_long_line(5 << 20);
    made.append("{\"toy\":2000}\n");
    made
}

#[test]
fn short_reads_and_interrupted_ones_change_nothing() {
    let made = log();
    let (whole, _) = follow(&made);
    for most in [1 << 10, 4099, 100_000] {
        let mut n = 0;
        made.fail(move || {
            n += 1;
            match n % 3 {
                0 => Fault::Error(ErrorKind::Interrupted),
                1 => Fault::Short(most),
                _ => Fault::None,
            }
        });
        assert_same_as_fresh(&whole, &made);
        let (mut sessions, mut cursor) = follow(&made);
        made.append("{\"toy\":3000}\n{\"toy\"");
        assert_eq!(more(&mut sessions, &mut cursor), Some(2));
        made.append(":4000}\n");
        assert_eq!(more(&mut sessions, &mut cursor), Some(2));
        assert_same_as_fresh(&sessions, &made);
        let log = made.log();
        let tail = tail(&log);
        assert_eq!(super::of(&tail.finish().0).context().known, 4001);
        made.take_back("{\"toy\":3000}\n{\"toy\":4000}\n");
    }
}

#[test]
fn a_read_error_midway_is_an_error_and_nothing_is_counted_twice_after_it() {
    let made = log();
    let (whole, _) = follow(&made);
    for last in 1.. {
        let mut n = 0;
        made.fail(move || {
            n += 1;
            if n == last {
                Fault::Error(ErrorKind::Other)
            } else {
                Fault::None
            }
        });
        let read = read_whole(&made.log(), &ByLength, &Arc::default());
        let is_over = read.is_ok();
        if let Ok(sessions) = read {
            assert_eq!(super::of(&sessions).context(), super::of(&whole).context());
        }
        // A cursor that failed goes on where it was.
        let mut reading = Reading::whole(&made.log(), &Arc::default());
        let mut n = 0;
        made.fail(move || {
            n += 1;
            Fault::Short(if n < last { 1 << 20 } else { 1 << 18 })
        });
        reading.step(&ByLength, &mut || false).unwrap();
        assert_same_as_fresh(&reading.finish().0, &made);
        if is_over {
            assert!(last > 20, "only {last} reads");
            break;
        }
    }
}

#[test]
fn a_read_error_in_what_is_appended_loses_nothing_of_it() {
    let made = log();
    let (mut sessions, mut cursor) = follow(&made);
    made.append("{\"toy\":3000}\n");
    for last in 1..9 {
        let mut n = 0;
        made.fail(move || {
            n += 1;
            if n == last {
                Fault::Error(ErrorKind::Other)
            } else {
                Fault::None
            }
        });
        if cursor.more(&ByLength).is_ok() {
            panic!("read {last} did not fail");
        }
        made.fail(|| Fault::None);
        // What was read before is still the same log.
        if last == 8 {
            assert_eq!(more(&mut sessions, &mut cursor), Some(2));
        }
    }
    assert_same_as_fresh(&sessions, &made);
}
