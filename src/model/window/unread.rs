//! Windows and triggers of a log that was read from its end.

use super::{TriggerSource, WindowSource};
use serde::{Deserialize, Serialize};

/// The unread parts of a log on which its window and its trigger depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UnreadFacts {
    /// Earlier prompts, which may be larger than those that were read.
    pub prompts: bool,
    /// The newest compaction that the agent made by itself, or its size.
    pub compaction: bool,
    /// A record that may name another model.
    pub model: bool,
    /// A record that may name another window.
    pub window: bool,
    /// A record that may name another trigger.
    pub trigger: bool,
}

impl UnreadFacts {
    /// Returns true if a window that is known in this way depends on records that were not read.
    pub(super) fn concerns_window(self, source: WindowSource) -> bool {
        match source {
            WindowSource::Here | WindowSource::Config => false,
            WindowSource::Log => self.window,
            // A larger prompt refutes it, or shows that the model has the larger one of its windows.
            WindowSource::Client
            | WindowSource::Settings
            | WindowSource::ModelTable
            | WindowSource::SmallerOfTwo
            | WindowSource::Guessed => self.prompts || self.model,
        }
    }

    /// Returns true if a trigger that is known in this way depends on records that were not read, for a window that
    /// does not.
    pub(super) fn concerns_trigger(self, source: TriggerSource) -> bool {
        match source {
            TriggerSource::Log => self.trigger,
            TriggerSource::Config => false,
            // The smallest of them counts.
            TriggerSource::Past => self.model || self.prompts || self.compaction,
            // A compaction elsewhere refutes it.
            TriggerSource::Client
            | TriggerSource::Settings
            | TriggerSource::Policy
            | TriggerSource::Refused
            | TriggerSource::Contradicted
            | TriggerSource::None => self.model || self.compaction,
        }
    }
}
