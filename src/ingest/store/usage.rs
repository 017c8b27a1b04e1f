//! A reading for what concerns usage, of a log of lines: only the lines that can matter are decoded.

use crate::lines::{Line, Lines, OnLine};
use crate::log::{LogFile, OnEvent};
use crate::source::Open;
use memchr::memmem::Finder;
use model::event::Sink;
use std::io::{self, Read};
use std::ops::ControlFlow;

/// Passes on the events of a log that concern usage.
pub(super) fn of_lines(source: &dyn Open, log: &LogFile, give: &mut OnEvent<'_>) -> io::Result<()> {
    let (mut file, stamp) = source.open()?;
    let mut decoder = log.format.decoder();
    let mut out = Sink::for_usage();
    log.states().give(decoder.as_mut(), &mut out);
    let marks = log.format.usage_marks.iter();
    let marks: Vec<Finder<'_>> = marks.map(|mark| Finder::new(*mark)).collect();
    let mut lines = Lines::at(0, 1, stamp.bytes());
    let deliver: &mut OnLine<'_> = &mut |place, line| {
        if let Line::Bytes(bytes) = line
            && is_relevant(&marks, bytes)
        {
            out.begin(place);
            decoder.read_usage(bytes, &mut out);
            out.entries.drain(..).for_each(|entry| give(entry.event));
        }
        ControlFlow::Continue(())
    };
    lines.read_all(&mut (&mut file).take(stamp.bytes()), deliver)?;
    let _ = lines.finish(deliver);
    decoder.read_end(&mut out);
    out.entries.drain(..).for_each(|entry| give(entry.event));
    Ok(())
}

/// Whether a line can concern usage.
fn is_relevant(marks: &[Finder<'_>], line: &[u8]) -> bool {
    let is_marked = |mark: &Finder<'_>| mark.find(line).is_some();
    marks.is_empty() || marks.iter().any(is_marked)
}
