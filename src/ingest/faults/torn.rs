//! Records that are written in pieces, and what does not look like lines.

use super::{assert_same_as_fresh, follow, more};
use crate::ingest::testing::made::Made;
use crate::model::event::Event;

#[test]
fn a_line_torn_anywhere_is_read_once_and_whole() {
    let line = "{\"say\":\"größer 漢\"}\r\n{\"toy\":5}\n";
    for tear in (0..line.len()).filter(|at| line.is_char_boundary(*at)) {
        let made = Made::new("{\"toy\":1}\n");
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
    let plain = Made::new("{\"say\":\"x\"}\n{\"toy\":5}\n");
    let (plain, _) = follow(&plain);
    for text in [
        "{\"say\":\"x\"}\r\n{\"toy\":5}\r\n",
        "\n\n{\"say\":\"x\"}\n\r\n{\"toy\":5}",
        "{\"say\":\"x\"}\r\n{\"toy\":5}",
    ] {
        let made = Made::new(text);
        let log = made.log();
        let all = crate::ingest::reader::read_whole(
            &log,
            &crate::model::event::ByLength,
            &Default::default(),
        );
        let all = all.unwrap();
        let (a, b) = (super::of(&all), super::of(&plain));
        assert_eq!(a.context(), b.context(), "{text:?}");
        assert_eq!(a.items().len(), b.items().len());
    }
}

#[test]
fn a_million_tiny_records_take_one_read_of_the_file() {
    let made = Made::new("{\"toy\":1}\n");
    made.append_many("{}\n", 100_000);
    let log = made.log();
    let mut entries = 0;
    let mut most = 0;
    let store = &log.store;
    store
        .entries(&log, &crate::model::event::ByLength, &mut |batch| {
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
