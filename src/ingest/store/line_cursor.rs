//! Keeps the place at which the reading of a log of lines continues.

use crate::bytes::lines::position::Position;
use crate::bytes::lines::{OnLine, Progress};
use crate::bytes::source::{Open, StreamCache};
use crate::log::conversations::decode;
use crate::log::{Cursor, LogEnd, NewEntries};
use crate::sidecar::DecoderWithSidecar;
use formats::StateUpdate;
use model::event::{EventSink, Measure};
use std::cell::Cell;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

/// A place in a log of lines, with a decoder that has read everything before it.
pub struct LineCursor {
    source: StreamCache,
    position: Position,
    decoder: DecoderWithSidecar,
}

impl LineCursor {
    /// Returns a cursor at a position in these bytes.
    pub(super) fn new(
        source: &Arc<dyn Open>,
        position: Position,
        decoder: DecoderWithSidecar,
    ) -> LineCursor {
        LineCursor {
            source: StreamCache::new(Arc::clone(source)),
            position,
            decoder,
        }
    }
}

impl Cursor for LineCursor {
    fn read(
        &mut self,
        measure: &dyn Measure,
        end: LogEnd,
        pause: &mut dyn FnMut(u64) -> bool,
    ) -> io::Result<NewEntries> {
        let mut out = EventSink::new(measure);
        if self.decoder.read_beside(&mut out) == StateUpdate::RereadLog {
            return Ok(NewEntries::Restart);
        }
        let decoder = self.decoder.decoder.as_mut();
        let is_enough = Cell::new(false);
        let deliver: &mut OnLine<'_> = &mut |place, line| {
            decode(decoder, place, line, &mut out);
            is_enough.set(is_enough.get() || pause(place.length()));
            ControlFlow::Continue(())
        };
        let outcome = match end {
            LogEnd::Open => self
                .position
                .read_until(&self.source, deliver, &|| is_enough.get()),
            LogEnd::Complete => self.position.finish(&self.source, deliver),
        };
        if !matches!(outcome, Ok(Progress::More)) {
            self.source.close();
        }
        let outcome = outcome?;
        if outcome == Progress::Done && !self.position.is_inside_line() {
            self.decoder.decoder.read_end(&mut out);
        }
        Ok(match outcome {
            Progress::Done => NewEntries::Entries(out.entries),
            Progress::More => NewEntries::Batch(out.entries),
            Progress::Restart => NewEntries::Restart,
        })
    }

    fn is_incomplete(&self) -> bool {
        self.position.is_inside_line()
    }

    fn has_sidecar_changes(&self) -> bool {
        self.decoder.has_news()
    }
}
