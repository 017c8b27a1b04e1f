//! Logs of lines that grow at their end: a file, or a folder of numbered files.

use super::backwards::{self, Reach};
use crate::lanes::decode;
use crate::lines::position::Position;
use crate::lines::{OnLine, Progress};
use crate::log::{Cursor, End, LogFile, News, Reading, Store};
use crate::sidecar::DecoderWithSidecar;
use crate::source::{Bytes, KeptOpen, Open, Stamp, head};
use crate::text::{self, Pieces};
use format::StateUpdate;
use model::event::{Measure, Sink, Unmeasured};
use model::text::TextRequest;
use model::window::Rules;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A log of lines.
pub struct LineLog {
    source: Arc<dyn Open>,
}

impl LineLog {
    /// The log with these bytes.
    pub fn new(source: Arc<dyn Open>) -> LineLog {
        LineLog { source }
    }

    pub(super) fn open(&self) -> io::Result<(Bytes, Stamp)> {
        self.source.open()
    }

    /// As [`Open::is_streamed`].
    pub(super) fn is_streamed(&self) -> bool {
        self.source.is_streamed()
    }

    /// A cursor at a position, with a decoder that has read everything before it.
    pub(super) fn cursor_at(
        &self,
        position: Position,
        decoder: DecoderWithSidecar,
    ) -> Box<dyn Cursor> {
        Box::new(LineCursor {
            source: KeptOpen::new(Arc::clone(&self.source)),
            position,
            decoder,
        })
    }
}

impl Store for LineLog {
    fn stamp(&self) -> io::Result<Stamp> {
        self.source.stamp()
    }

    fn is_one_file(&self) -> bool {
        self.source.is_one_file()
    }

    fn head(&self) -> io::Result<Vec<u8>> {
        head(&*self.source)
    }

    fn cursor(&self, log: &LogFile, _: &Arc<Rules>) -> Box<dyn Cursor> {
        self.cursor_at(Position::start(), log.decoder())
    }

    fn text(&self, log: &LogFile, wanted: TextRequest) -> io::Result<Pieces> {
        let (bytes, _) = self.open()?;
        let mut decoder = log.format.decoder();
        log.states()
            .give(decoder.as_mut(), &mut Sink::new(&Unmeasured));
        text::in_line(bytes, decoder, wanted, wanted.place.offset)
    }

    fn tail(
        &self,
        log: &LogFile,
        measure: &dyn Measure,
        rules: &Arc<Rules>,
    ) -> io::Result<Reading> {
        backwards::tail(self, log, measure, rules, Reach::SCREEN)
    }

    fn tail_to_report(
        &self,
        log: &LogFile,
        measure: &dyn Measure,
        rules: &Arc<Rules>,
    ) -> io::Result<Reading> {
        backwards::tail(self, log, measure, rules, Reach::ALL)
    }

    fn epoch(&self, log: &LogFile, rules: &Arc<Rules>) -> io::Result<Reading> {
        backwards::epoch(self, log, rules)
    }
}

struct LineCursor {
    source: KeptOpen,
    position: Position,
    decoder: DecoderWithSidecar,
}

impl Cursor for LineCursor {
    fn read(
        &mut self,
        measure: &dyn Measure,
        end: End,
        pause: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<News> {
        let mut out = Sink::new(measure);
        if self.decoder.read_beside(&mut out) == StateUpdate::RereadLog {
            return Ok(News::Restart);
        }
        let decoder = self.decoder.decoder.as_mut();
        let deliver: &mut OnLine<'_> = &mut |place, line| {
            decode(decoder, place, line, &mut out);
            match pause(place.len) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let outcome = match end {
            End::Open => self.position.read_more(&self.source, deliver),
            End::Settled => self.position.finish(&self.source, deliver),
        };
        if !matches!(outcome, Ok(Progress::More)) {
            self.source.close();
        }
        let outcome = outcome?;
        if outcome == Progress::Done && !self.position.is_inside_line() {
            self.decoder.decoder.read_end(&mut out);
        }
        Ok(match outcome {
            Progress::Done => News::Entries(out.entries),
            Progress::More => News::Batch(out.entries),
            Progress::Restart => News::Restart,
        })
    }

    fn is_incomplete(&self) -> bool {
        self.position.is_inside_line()
    }

    fn has_news_beside(&self) -> bool {
        self.decoder.has_news()
    }

    fn trim(&mut self) {
        self.position.forget();
    }
}
