//! Records that are written in pieces, and what does not look like lines.

use super::{assert_same_as_fresh, follow, more};
use crate::testing::made::MadeLog;
use model::event::Event;
use std::time::{Duration, SystemTime};

#[test]
fn a_line_torn_anywhere_is_read_once_and_whole() {
    let line = "{\"say\":\"größer 漢\"}\r\n{\"toy\":5}\n";
    for tear in (0..line.len()).filter(|at| line.is_char_boundary(*at)) {
        let made = MadeLog::new("{\"toy\":1}\n");
        let (mut sessions, mut cursor) = follow(&made);
        let (head, tail) = line.split_at(tear);
        made.append(head);
        more(&mut sessions, &mut cursor).unwrap();
        made.append(tail);
        more(&mut sessions, &mut cursor).unwrap();
        assert_eq!(super::of(&sessions).unreadable, 0, "{tear}");
        assert_eq!(super::of(&sessions).context().known, 6);
        assert_same_as_fresh(&sessions, &made);
    }
}

#[test]
fn no_newline_at_the_end_crlf_and_empty_lines() {
    let plain = MadeLog::new("{\"say\":\"x\"}\n{\"toy\":5}\n");
    let (plain, _) = follow(&plain);
    for text in [
        "{\"say\":\"x\"}\r\n{\"toy\":5}\r\n",
        "\n\n{\"say\":\"x\"}\n\r\n{\"toy\":5}",
        "{\"say\":\"x\"}\r\n{\"toy\":5}",
    ] {
        let made = MadeLog::new(text);
        let log = made.log();
        let all =
            crate::log::reader::read_whole(&log, &model::event::ByLength, &Default::default());
        let all = all.unwrap();
        let (a, b) = (super::of(&all), super::of(&plain));
        assert_eq!(a.context(), b.context(), "{text:?}");
        assert_eq!(a.items().len(), b.items().len());
    }
}

#[test]
fn a_million_tiny_records_take_one_read_of_the_file() {
    let made = MadeLog::new("{\"toy\":1}\n");
    made.append_many("{}\n", 100_000);
    let log = made.log();
    let mut entries = 0;
    let mut most = 0;
    let store = &log.store;
    store
        .entries(&log, &model::event::ByLength, &mut |batch| {
            let unreadable = |event: &Event| matches!(event, Event::Unreadable(_));
            entries += batch
                .iter()
                .filter(|entry| unreadable(&entry.event))
                .count();
            most = most.max(batch.len());
            std::ops::ControlFlow::Continue(())
        })
        .unwrap();
    assert_eq!(entries, 100_000);
    let (read, len) = (made.read(), log.facts.len);
    assert!(read < len * 2, "{read} of {len}");
}

#[test]
fn a_line_in_many_pieces_is_read_a_few_times_however_long_it_is() {
    const PIECES: u64 = 500;
    let piece = "a piece of it, ".repeat(600);
    let len = PIECES * piece.len() as u64;
    // Whether a write may follow that its stamp does not show, and whether a write shows in the time first.
    for (may_follow, is_early) in [(false, false), (true, false), (false, true)] {
        let made = MadeLog::new("{\"toy\":1}\n");
        made.append_many("{\"say\":\"what was said before\"}\n", 10_000);
        if may_follow {
            made.date(SystemTime::now() + Duration::from_secs(300));
        }
        let (mut sessions, mut cursor) = follow(&made);
        let before = made.read();
        made.append("{\"say\":\"");
        for _ in 0..PIECES {
            made.append(&piece);
            for _ in 0..2 {
                assert_eq!(more(&mut sessions, &mut cursor), Some(0));
                if is_early {
                    made.touch();
                }
            }
        }
        made.append("\"}\n");
        assert_eq!(more(&mut sessions, &mut cursor), Some(1));
        let read = made.read() - before;
        assert!(read < 3 * len + (2 << 20), "{read} of {len}");
        assert_same_as_fresh(&sessions, &made);
    }
}

#[test]
fn what_was_rewritten_before_a_line_in_many_pieces_is_seen_when_that_ends() {
    let made = MadeLog::new("{\"toy\":1}\n{\"say\":\"before\"}\n");
    let (mut sessions, mut cursor) = follow(&made);
    made.append("{\"say\":\"");
    // Many pieces, after which a look compares nothing.
    let mut read = 1;
    while read > 0 {
        made.append("x");
        let before = made.read();
        assert_eq!(more(&mut sessions, &mut cursor), Some(0));
        read = made.read() - before - 1;
    }
    made.rewrite("before", "behind");
    made.append("x");
    assert_eq!(more(&mut sessions, &mut cursor), Some(0));
    made.append("\"}\n");
    assert_eq!(more(&mut sessions, &mut cursor), None);
}
