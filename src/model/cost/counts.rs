//! Counts what a session has done so far: numbers that only grow, for programs that compare them over time.

use crate::LeaveReason;
use crate::cost::rebuilds::rebuilds;
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

/// The names of the causes of rebuilt caches, and one name for all others: logs name them.
pub const REBUILD_CAUSES: [&str; 9] = [
    "expired",
    "model_switched",
    "tools_changed",
    "system_changed",
    "messages_changed",
    "previous_message_not_found",
    "unavailable",
    "not_stated",
    "other",
];

/// The counts of a session whose log was read whole. Each may become smaller only if the log is rewritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SessionCounts {
    /// Compactions, in the order of [`CAUSES`].
    compactions: [u32; CAUSES.len()],
    /// The tokens that rebuilt caches read anew, in the order of [`REBUILD_CAUSES`].
    rebuilt: [u64; REBUILD_CAUSES.len()],
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

    /// Returns the tokens that rebuilt caches read anew, by the name of the cause, where there was one.
    pub fn rebuilt(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = REBUILD_CAUSES.into_iter().zip(self.rebuilt);
        all.filter(|(_, tokens)| *tokens > 0)
    }
}

/// Returns the name of a cause among [`CAUSES`].
pub fn cause_name(cause: &Cause) -> &'static str {
    CAUSES[place(&CAUSES, cause.name())]
}

/// Returns the place of a name among these; of one that is not among them, the last.
fn place(names: &[&str], name: &str) -> usize {
    let known = names.iter().position(|known| *known == name);
    known.unwrap_or(names.len() - 1)
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
            let at = place(&CAUSES, reset.cause.name());
            counts.compactions[at] = counts.compactions[at].saturating_add(1);
            let dropped = reset.dropped.iter().copied().fold(0, u64::saturating_add);
            counts.dropped = counts.dropped.saturating_add(dropped);
        }
        for rebuild in rebuilds(self) {
            let sum = &mut counts.rebuilt[place(&REBUILD_CAUSES, rebuild.cause_name())];
            *sum = sum.saturating_add(rebuild.tokens);
        }
        Some(counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{CacheMiss, Event, Key, MissCause, Usage};
    use crate::testing::Log;
    use crate::testing::timed::{self, five};
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
    fn rebuilt_tokens_are_counted_by_the_known_causes_and_one_other() {
        let log = timed::Log::of("five").asks(0, 5, 100_000, five(0, 100_000));
        let mut log = log.asks(20, 5, 101_000, five(0, 101_000));
        for name in ["tools_changed", "\u{1b}[2J"] {
            let usage = Usage {
                billed: five(0, 102_000),
                miss: Some(Box::new(CacheMiss {
                    cause: MissCause::named(name),
                    tokens: Some(7_000),
                })),
                ..Usage::reported(Key::of(name), 102_000)
            };
            log = log.event(20, Event::Usage(Box::new(usage)));
        }
        log.0.coverage = Coverage::Whole;
        let rebuilt: Vec<_> = log.0.counts().unwrap().rebuilt().collect();
        let expected = [
            ("tools_changed", 7_000),
            ("not_stated", 100_000),
            ("other", 7_000),
        ];
        assert_eq!(rebuilt, expected);
        for name in &REBUILD_CAUSES[2..7] {
            assert!(
                !matches!(MissCause::named(name), MissCause::Other(_)),
                "{name}"
            );
        }
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
