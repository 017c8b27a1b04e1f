//! Compactions of Claude Code because nobody typed, as 2.1.332 logs them: the boundary says `auto` for these too.
//!
//! In a terminal it compacts 54 minutes after the last request, and adds a notice. In an editor the summary takes the place of
//! the history at the next prompt, whatever the size is then.

use super::wire::{CompactMetadata, Record};
use jiff::{SignedDuration, Timestamp};
use kit::lenient::Raw;
use model::event::{Cause, Part};

/// The pause after which a prompt may find a summary that was made meanwhile. The 54 minutes count from the start of the last
/// request, which is logged when it ends.
const PAUSE: SignedDuration = SignedDuration::from_mins(45);

/// Who was waited for.
#[derive(Debug, Default)]
pub(super) struct Idle {
    /// When the newest response was logged.
    answered: Option<Timestamp>,
    /// Whether the newest prompt came after a pause.
    is_back: bool,
}

impl Idle {
    /// Takes in a record of the conversation.
    pub(super) fn add(&mut self, part: Part, at: Option<Timestamp>) {
        match part {
            Part::Output => (self.answered, self.is_back) = (at, false),
            Part::Input => {
                let pause = at
                    .zip(self.answered)
                    .map(|(at, since)| at.duration_since(since));
                self.is_back = pause.is_some_and(|pause| pause >= PAUSE);
            }
            _ => {}
        }
    }

    /// The cause of a compaction.
    pub(super) fn cause(&self, metadata: &CompactMetadata<'_>) -> Cause {
        if metadata.precomputed == Some(true) && self.is_back {
            return Cause::Idle;
        }
        Cause::named(metadata.trigger.or_empty())
    }
}

/// Whether this is the notice after a compaction while nobody typed.
pub(super) fn is_notice(record: &Record<'_>) -> bool {
    let content = record.content.map_or("", Raw::get);
    content.starts_with("\"Compacted while idle")
}
