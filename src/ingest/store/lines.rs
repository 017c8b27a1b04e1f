//! Logs of lines that grow at their end: a file, or a folder of numbered files.

use super::backwards;
use super::line_cursor::LineCursor;
use super::usage;
use crate::bytes::lines::position::Position;
use crate::bytes::source::{Open, Stamp, head};
use crate::bytes::text;
use crate::log::reach::Reach;
use crate::log::{Cursor, LogFile, OnEntry, Reading, Recent, Store};
use model::event::{EventSink, Measure, Unmeasured};
use model::lists::text::TextRequest;
use model::window::Rules;
use std::io;
use std::sync::Arc;

/// A log of lines.
pub struct LineLog {
    source: Arc<dyn Open>,
}

impl LineLog {
    /// Returns the log with these bytes.
    pub fn new(source: Arc<dyn Open>) -> LineLog {
        LineLog { source }
    }
}

impl Store for LineLog {
    fn stamp(&self) -> io::Result<Stamp> {
        self.source.stamp()
    }

    fn is_stamped_whole(&self) -> bool {
        self.source.is_one_file()
    }

    fn head(&self) -> io::Result<Vec<u8>> {
        head(&*self.source)
    }

    fn cursor(&self, log: &LogFile, _: &Arc<Rules>) -> Box<dyn Cursor> {
        Box::new(LineCursor::new(
            &self.source,
            Position::start(),
            log.decoder(),
        ))
    }

    fn text(&self, log: &LogFile, wanted: TextRequest) -> io::Result<String> {
        let (bytes, _) = self.source.open()?;
        let decoder = || {
            let mut decoder = log.format.decoder();
            log.states()
                .give(decoder.as_mut(), &mut EventSink::new(&Unmeasured));
            decoder
        };
        text::in_line(bytes, decoder, wanted, wanted.place.offset())
    }

    fn tail(
        &self,
        log: &LogFile,
        measure: &dyn Measure,
        rules: &Arc<Rules>,
        reach: Reach,
    ) -> io::Result<Reading> {
        backwards::tail(&self.source, log, measure, rules, reach)
    }

    fn usage(&self, log: &LogFile, give: &mut OnEntry<'_>) -> io::Result<()> {
        // A sidecar may say of any line what it cost.
        match log.sidecar {
            Some(_) => log.usage_of_all(give),
            None => usage::of_lines(&*self.source, log, give),
        }
    }

    fn epoch(&self, log: &LogFile, rules: &Arc<Rules>) -> io::Result<Reading> {
        backwards::epoch(&self.source, log, rules)
    }

    fn epochs_within(
        &self,
        log: &LogFile,
        rules: &Arc<Rules>,
        recent: Recent,
    ) -> io::Result<Option<Reading>> {
        backwards::epochs_within(&self.source, log, rules, recent)
    }
}
