//! The size of a context just before a reset.

use super::Session;
use crate::Source;
use crate::event::{Cause, CauseSource, Place, Reset};
use crate::history::PastReset;
use jiff::Timestamp;

impl Session {
    /// A reset as it will be noted, but for what it drops; nothing has changed yet.
    pub(super) fn before_reset(
        &self,
        reset: &Reset,
        place: Place,
        at: Option<Timestamp>,
    ) -> PastReset {
        let used = self.calibrated_context();
        let (before, before_source) = match reset.before {
            Some(size) => (size, Source::Agent),
            None if used.estimated == 0 => (used.used, Source::Reported),
            None => (used.used, Source::Estimated),
        };
        let counted = self.counted_at_reset(reset);
        PastReset {
            place,
            at,
            gone: reset.gone,
            cause: self.cause_of(reset, counted, before, || self.limits()),
            cause_source: match reset.cause {
                Cause::Unlogged => CauseSource::Inferred,
                _ => CauseSource::Log,
            },
            model: self.model_shared().cloned(),
            before,
            before_source,
            ours: used.used,
            counted,
            after: reset.after,
            after_source: Source::Agent,
            request: self.requests().len(),
            record: self.ledger().items().record(),
            dropped: [0; 5],
        }
    }
}
