//! A reading for what concerns usage, of a log of lines: only the lines that can matter are decoded.

use crate::lines::{Line, Lines, OnLine};
use crate::log::{LogFile, OnEntry};
use crate::source::Open;
use memchr::memmem::Finder;
use model::event::Sink;
use std::io::{self, Read};
use std::ops::ControlFlow;

/// Passes on the entries of a log that concern usage.
pub(super) fn of_lines(source: &dyn Open, log: &LogFile, give: &mut OnEntry<'_>) -> io::Result<()> {
    let (mut file, stamp) = source.open()?;
    let mut decoder = log.format.decoder();
    let mut out = Sink::for_usage();
    log.states().give(decoder.as_mut(), &mut out);
    let marks = Marks::new(log.format.usage_marks);
    let mut lines = Lines::at(0, 1, stamp.bytes());
    let deliver: &mut OnLine<'_> = &mut |place, line| {
        if let Line::Bytes(bytes) = line
            && (marks.are_in(bytes) || decoder.needs(bytes))
        {
            out.begin(place);
            decoder.read_usage(bytes, &mut out);
            out.entries.drain(..).for_each(&mut *give);
        }
        ControlFlow::Continue(())
    };
    lines.read_all(&mut (&mut file).take(stamp.bytes()), deliver)?;
    let _ = lines.finish(deliver);
    decoder.read_end(&mut out);
    out.entries.drain(..).for_each(&mut *give);
    Ok(())
}

/// The marks of lines that can concern usage.
pub(super) struct Marks(Vec<Finder<'static>>);

impl Marks {
    /// The marks of a format.
    pub(super) fn new(marks: &'static [&'static str]) -> Marks {
        Marks(marks.iter().map(|mark| Finder::new(*mark)).collect())
    }

    /// Whether one of them is in these bytes. Any bytes will do where there are no marks.
    pub(super) fn are_in(&self, bytes: &[u8]) -> bool {
        let is_in = |mark: &Finder<'_>| mark.find(bytes).is_some();
        self.0.is_empty() || self.0.iter().any(is_in)
    }
}
