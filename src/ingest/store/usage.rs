//! A reading for what concerns usage, of a log of lines: only the lines that can matter are decoded.

use crate::bytes::lines::marks::Marks;
use crate::bytes::lines::records::{each_record, is_cut_off};
use crate::bytes::lines::{Line, Lines, OnLine};
use crate::bytes::source::Open;
use crate::log::{LogFile, OnEntry};
use model::event::EventSink;
use std::io::{self, Read};
use std::ops::ControlFlow;

/// Passes on the entries of a log that concern usage.
pub(super) fn of_lines(source: &dyn Open, log: &LogFile, give: &mut OnEntry<'_>) -> io::Result<()> {
    let (mut file, stamp) = source.open()?;
    let mut decoder = log.format.decoder();
    let mut out = EventSink::for_usage();
    log.states().give(decoder.as_mut(), &mut out);
    let marks = Marks::new(log.format.usage_marks);
    let mut lines = Lines::at(0, 1, stamp.len);
    let deliver: &mut OnLine<'_> = &mut |place, line| {
        out.begin(place);
        match line {
            Line::Bytes(bytes) if marks.are_in(bytes) || decoder.needs(bytes) => {
                each_record(bytes, &mut out, &mut |record, out| {
                    decoder.read_usage(record, out);
                });
            }
            // Its content is not known.
            Line::Bytes(bytes) if is_cut_off(bytes) => out.unreadable("a line that was cut off"),
            Line::TooLarge(_) => out.unreadable("line too large"),
            Line::Bytes(_) | Line::Unfinished => {}
        }
        out.entries.drain(..).for_each(&mut *give);
        ControlFlow::Continue(())
    };
    lines.read_all(&mut (&mut file).take(stamp.len), deliver)?;
    lines.finish(deliver);
    decoder.read_end(&mut out);
    out.entries.drain(..).for_each(&mut *give);
    Ok(())
}
