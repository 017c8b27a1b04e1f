//! Counts what a session has done so far: numbers that only grow, for programs that compare them over time.

use crate::LeaveReason;
use crate::event::Cause;
use crate::history::Coverage;
use crate::session::Session;
use serde::{Deserialize, Serialize};

/// The names of the causes of compactions that have a meaning here, as reports write them, and one name for all others:
/// what decoders and agents name is text of a log.
pub const CAUSES: [&str; 9] = [
    "auto",
    "idle",
    "model change",
    "background",
    "beforehand",
    "end of turn",
    "manual",
    "unknown",
    "other",
];

/// The counts of a session whose log was read whole. Each may become smaller only if the log is rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionCounts {
    /// Compactions, in the order of [`CAUSES`].
    compactions: [u32; CAUSES.len()],
    /// The tokens that left the context by compactions.
    pub dropped: u64,
    /// Fields of its records that had another type or number than they can have.
    pub lost_fields: u64,
}

impl SessionCounts {
    /// Returns the compactions by the name of their cause, also where there was none.
    pub fn compactions(&self) -> impl Iterator<Item = (&'static str, u32)> {
        CAUSES.into_iter().zip(self.compactions)
    }
}

/// Returns the name of a cause among [`CAUSES`].
pub fn cause_name(cause: &Cause) -> &'static str {
    let name = cause.name();
    let known = CAUSES.into_iter().find(|known| *known == name);
    known.unwrap_or(CAUSES[CAUSES.len() - 1])
}

impl Session {
    /// Returns its counts; `None`: not all of its log was read.
    pub fn counts(&self) -> Option<SessionCounts> {
        if self.coverage != Coverage::Whole {
            return None;
        }
        let mut counts = SessionCounts {
            lost_fields: self.lost_fields.values().sum(),
            ..SessionCounts::default()
        };
        let resets = self.resets().iter();
        for reset in resets.filter(|reset| reset.gone == LeaveReason::Compaction) {
            let name = cause_name(&reset.cause);
            let known = CAUSES.iter().position(|cause| *cause == name);
            let at = known.unwrap_or(CAUSES.len() - 1);
            counts.compactions[at] = counts.compactions[at].saturating_add(1);
            let dropped = reset.dropped.iter().copied().fold(0, u64::saturating_add);
            counts.dropped = counts.dropped.saturating_add(dropped);
        }
        Some(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Log;
    use crate::{Kind, Role};

    #[test]
    fn compactions_are_counted_by_their_cause_where_the_log_was_read_whole() {
        let log = Log::new()
            .item("1", Role::User, Kind::Text, 900)
            .report(1_000);
        let log = log.compact(1_000).report(100);
        let mut session = log.report(400).session;
        session.coverage = Coverage::Whole;
        let counts = session.counts().unwrap();
        let all: u32 = counts.compactions().map(|(_, n)| n).sum();
        assert_eq!(all as usize, session.compactions());
        assert_eq!(all, 1);
        assert!(counts.dropped > 0, "{counts:?}");
        session.coverage = Coverage::Tail;
        assert_eq!(session.counts(), None);
    }

    #[test]
    fn each_cause_has_its_name() {
        for name in &CAUSES[..CAUSES.len() - 1] {
            let cause = Cause::named(name);
            assert_eq!(cause.name(), *name);
            assert!(!matches!(cause, Cause::Other(_)), "{name}");
        }
    }
}
