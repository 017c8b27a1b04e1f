//! The text of one item, read when somebody looks at it.

use super::discover::LogFile;
use super::elide::Elider;
use super::reader::{Unmeasured, document_bytes};
use crate::agents::{Input, Shape};
use crate::model::event::{Event, Place, Sink};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Longer lines are elided rather than held, as when they were first read.
const LONG: u64 = 32 << 20;

/// The text of an item: the `nth` of those its line holds, as in the session's items. At most `limit`
/// bytes of it.
pub fn item_text(log: &LogFile, place: Place, nth: u32, limit: usize) -> io::Result<String> {
    let mut file = File::open(log.facts.path.as_path())?;
    let mut decoder = log.format.decoder();
    let nth = usize::try_from(nth).unwrap_or(usize::MAX);
    let text = match log.shape {
        Shape::Lines => {
            let line = line(&mut file, place, limit)?;
            let mut out = Sink::capturing(&Unmeasured, nth);
            decoder.read(Input::Line(place, &line), &mut out);
            out.captured()
        }
        Shape::Document => {
            let len = file.metadata()?.len();
            let bytes = document_bytes(&mut file, len)?;
            let mut out = Sink::new(&Unmeasured);
            decoder.read(Input::Document(&bytes), &mut out);
            // A sink counts the items of the whole document.
            let before = items_before(&out, place);
            let mut out = Sink::capturing(&Unmeasured, before.saturating_add(nth));
            log.format.decoder().read(Input::Document(&bytes), &mut out);
            out.captured()
        }
    };
    let mut text = text.ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::NotFound,
            "the log was rewritten: the text is no longer where it was",
        )
    })?;
    let end = (0..=limit.min(text.len()))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    text.truncate(end.unwrap_or(0));
    Ok(text)
}

fn items_before(out: &Sink<'_>, place: Place) -> usize {
    let before = out.entries.iter().take_while(|entry| entry.place != place);
    let items = before.map(|entry| match &entry.event {
        Event::Node(node) => node.items.len(),
        _ => 0,
    });
    items.sum()
}

fn line(file: &mut File, place: Place, limit: usize) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(place.offset))?;
    let mut source = file.take(place.len);
    let mut bytes = Vec::new();
    if place.len <= LONG {
        source.read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    let keep = limit.clamp(super::elide::KEPT_STRING, 1 << 20);
    let mut elider = Elider::new(super::elide::LONG_STRING.max(2 * keep), keep);
    let mut chunk = vec![0; super::lines::CHUNK];
    loop {
        match source.read(&mut chunk)? {
            0 => break,
            n => elider.feed(&chunk[..n]),
        }
    }
    Ok(elider.line().unwrap_or_default().to_vec())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
mod tests {
    use super::super::reader::read_whole;
    use super::super::testing::toy_log;
    use super::*;
    use crate::model::event::ByLength;
    use std::sync::Arc;

    fn texts(name: &str, content: &str) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        let log = toy_log(&path);
        let sessions = read_whole(&log, &ByLength, &Arc::default()).unwrap();
        let items = &sessions[0].1.items;
        let text = |at: &crate::model::session::Item| item_text(&log, at.place, at.nth, 6).unwrap();
        items.iter().map(text).collect()
    }

    #[test]
    fn an_items_text_is_read_where_it_stands() {
        assert_eq!(
            texts(
                "a.toy",
                "{\"say\":\"eins\"}\r\n\n{\"toy\":9}\n{\"say\":\"größer\"}"
            ),
            ["eins", "answer", "größ"]
        );
        assert_eq!(
            texts(
                "a.toys",
                "[{\"say\":\"eins\"},\n{\"toy\":9},{\"say\":\"zwei\"}]"
            ),
            ["eins", "answer", "zwei"]
        );
    }

    #[test]
    fn what_was_rewritten_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.toy");
        std::fs::write(&path, "{}\n").unwrap();
        let place = Place {
            line: 1,
            offset: 7,
            len: 3,
        };
        assert!(item_text(&toy_log(&path), place, 0, 100).is_err());
    }
}
