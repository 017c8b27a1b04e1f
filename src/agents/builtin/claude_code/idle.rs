//! Compactions of Claude Code because nobody typed, as 2.1.332 logs them: the boundary says `auto` for these too.
//!
//! In a terminal it compacts 54 minutes after the last request, before anything else is logged; a notice follows. In an editor
//! the summary takes the place of the history at the next prompt, whatever the size is then.

use super::wire::CompactMetadata;
use jiff::{SignedDuration, Timestamp};
use model::event::{Cause, Part};

/// The pause after which a summary was made because nobody typed. The 54 minutes count from the start of the last request,
/// which is logged when it ends.
const PAUSE: SignedDuration = SignedDuration::from_mins(45);
/// The pause after which none is made any more: a timer that is a minute late is not served.
const LONGEST_PAUSE: SignedDuration = SignedDuration::from_mins(56);

/// Keeps track of who is waited for: the user, or the agent.
#[derive(Debug, Default)]
pub(super) struct IdleTracker {
    /// The time of the response after which nobody has typed and no tool has run.
    waits_since: Option<Timestamp>,
    /// True if the newest prompt came after a pause.
    is_back: bool,
}

impl IdleTracker {
    /// Takes in a record of the conversation.
    pub(super) fn add(&mut self, part: Part, at: Option<Timestamp>) {
        match part {
            Part::Output => (self.waits_since, self.is_back) = (at, false),
            Part::Input => {
                self.is_back = self.pause(at) >= PAUSE;
                self.waits_since = None;
            }
            Part::Result => self.waits_since = None,
            _ => {}
        }
    }

    /// Returns the cause of a compaction at this time.
    pub(super) fn cause(&self, metadata: &CompactMetadata<'_>, at: Option<Timestamp>) -> Cause {
        let cause = Cause::named(metadata.trigger.or_empty());
        if cause != Cause::Automatic {
            return cause;
        }
        let was_ready = metadata.precomputed == Some(true);
        let is_timely = (PAUSE..=LONGEST_PAUSE).contains(&self.pause(at));
        match was_ready {
            _ if is_timely => Cause::Idle,
            true if self.is_back => Cause::Idle,
            true => Cause::Beforehand,
            false => Cause::Automatic,
        }
    }

    fn pause(&self, until: Option<Timestamp>) -> SignedDuration {
        let pause = until
            .zip(self.waits_since)
            .map(|(at, since)| at.duration_since(since));
        pause.unwrap_or_default()
    }
}
