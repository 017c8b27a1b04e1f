//! Sums in the place of items, where only a list is wanted of a log that has no usage report.
//!
//! Nothing of such a log is attributed: a million messages are a million items in the context, of which a list shows the
//! sum. A session that folds replaces its items by their sum, again and again, when a user turn begins. It keeps the
//! first ones, which may name it. What a later record says of a forgotten one cannot be applied; then the session
//! is misfolded, and its log is read again without folding.

use super::content::ContextSums;
use super::event::{Event, Key, Parent, Part};
use super::record_tree::NodeIx;
use std::collections::HashSet;

/// The items in the context that were forgotten.
#[derive(Debug, Clone, Default)]
pub(super) struct ForgottenItems {
    /// Their sums.
    pub(super) sums: ContextSums,
    /// The keys of forgotten records and of their requests.
    pub(super) keys: HashSet<Key>,
    /// The first nodes, which are kept.
    pub(super) front: usize,
    /// The node that was the last one when this was folded; `None`: nothing was.
    pub(super) last: Option<NodeIx>,
    /// True if nothing more can be folded.
    pub(super) is_over: bool,
    /// True if something that was forgotten is needed.
    pub(super) is_wrong: bool,
}

impl ForgottenItems {
    /// Returns true if an event may be about something that was forgotten.
    pub(super) fn concerns(&self, event: &Event, model: Option<&str>) -> bool {
        let is_forgotten = |key: &Key| self.keys.contains(key);
        match event {
            Event::Node(node) => {
                let is_beside = matches!(node.part, Part::Front | Part::Beside);
                let is_below = match &node.parent {
                    Parent::Previous => false,
                    Parent::Root => !is_beside,
                    Parent::Key(key) => is_forgotten(key),
                };
                let mut keys = node.key.iter().chain(&node.request);
                is_below || keys.any(is_forgotten)
            }
            Event::Leaf { key, .. } => is_forgotten(key),
            Event::Meta(meta) => meta.model.is_some() && meta.model.as_deref() != model,
            Event::Usage(_)
            | Event::Reset(_)
            | Event::Retain { .. }
            | Event::Cleared { .. }
            | Event::Sent { .. }
            | Event::Summarised
            | Event::ResetPostponed
            | Event::ResetCause(_)
            | Event::PromptsLogged => true,
            Event::Rollback { .. }
            | Event::BeginningMissing
            | Event::Requested { .. }
            | Event::Billed { .. }
            | Event::OwnCost { .. }
            | Event::TurnEnded
            | Event::LeftOut(_)
            | Event::Skipped(_)
            | Event::Unknown(_)
            | Event::Lost(_)
            | Event::UnreadableUsage
            | Event::Damaged
            | Event::Unreadable(_) => false,
        }
    }
}
