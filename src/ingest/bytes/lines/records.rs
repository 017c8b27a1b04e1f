//! Records in lines. A line is a record, unless two were written at the same time, or one after another that was cut off.

use decode::damage::Records;
use model::event::{Entry, Event, EventSink};

/// Decodes the records of a line, which has begun in `out`. What is whole is read, what is not is counted. Only a line that
/// the decoder cannot read is looked at again.
pub(crate) fn each_record(
    line: &[u8],
    out: &mut EventSink<'_>,
    decode: &mut dyn FnMut(&[u8], &mut EventSink<'_>),
) {
    let before = out.entries.len();
    decode(line, out);
    let is_unreadable = |entry: &Entry| matches!(entry.event, Event::Unreadable(_));
    if !out.entries[before..].iter().any(is_unreadable) {
        return;
    }
    let Some(records) = Records::of(line) else {
        return;
    };
    out.entries.truncate(before);
    for record in records.whole() {
        let place = out.place();
        out.begin(place);
        decode(record.as_bytes(), out);
    }
    if records.is_cut {
        out.unreadable("a record that was cut off, in the line of another one");
    }
}

/// Returns true if a line is cut off, by its end alone: records are objects, or arrays.
pub(crate) fn is_cut_off(line: &[u8]) -> bool {
    let last = line.iter().rfind(|byte| **byte > b' ');
    !matches!(last, Some(b'}' | b']'))
}
