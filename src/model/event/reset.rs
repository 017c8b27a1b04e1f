//! Compactions and clears: what leaves the context, why, and what stays.

use super::Key;
use crate::LeaveReason;
use serde::{Deserialize, Serialize};

/// A compaction or clear.
#[derive(Debug, Clone, PartialEq)]
pub struct Reset {
    /// The id of the reset's own record; later records hang below it.
    pub key: Option<Key>,
    /// Why: [`LeaveReason::Compaction`] or [`LeaveReason::Clear`].
    pub gone: LeaveReason,
    /// The cause of the reset.
    pub cause: Cause,
    /// The size before, as the agent logs it.
    pub before: Option<u64>,
    /// The size after, as the agent logs it. Not always comparable with a prompt.
    pub after: Option<u64>,
    /// The items that stay, verbatim.
    pub kept: RetainedItems,
}

impl Reset {
    /// Returns a compaction, without an id and without sizes.
    pub fn compaction(cause: Cause, kept: RetainedItems) -> Reset {
        Reset::new(LeaveReason::Compaction, cause, kept)
    }

    /// Returns a reset without an id and without sizes.
    pub fn new(gone: LeaveReason, cause: Cause, kept: RetainedItems) -> Reset {
        Reset {
            key: None,
            gone,
            cause,
            before: None,
            after: None,
            kept,
        }
    }
}

/// The cause of a compaction or clear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// The agent compacted by itself, at its trigger.
    Automatic,
    /// The agent compacted by itself because nobody typed, before its prompt cache went cold. The size says nothing of the
    /// trigger.
    Idle,
    /// The agent compacted by itself because another model, or another version of it, goes on. As for the size, likewise.
    ModelChange,
    /// The agent made the summary beside the running turn, from an earlier size than that at which it took the place of the
    /// history.
    Background,
    /// The agent compacted by itself, at its trigger. It had made the summary before that, and what came since stayed.
    Beforehand,
    /// The agent compacted by itself after a turn's answer, at a smaller size than within a turn.
    TurnEnd,
    /// The user asked for it.
    Manual,
    /// The log does not have it: the session decides by the agent's own count, see
    /// [`crate::session::own_count`].
    Unlogged,
    /// Anything else, as the log or its decoder names it.
    Other(Box<str>),
}

impl Cause {
    /// Returns the cause that a log or its decoder names so, which may be the name of an automatic or manual one.
    pub fn named(name: &str) -> Cause {
        match name {
            "auto" => Cause::Automatic,
            "idle" => Cause::Idle,
            "model change" => Cause::ModelChange,
            "background" => Cause::Background,
            "beforehand" => Cause::Beforehand,
            "end of turn" => Cause::TurnEnd,
            "manual" => Cause::Manual,
            "" | "unknown" => Cause::Unlogged,
            other => Cause::Other(other.into()),
        }
    }

    /// Returns true if the context had reached the agent's trigger, so that its size shows the trigger.
    pub fn is_by_size(&self) -> bool {
        matches!(self, Cause::Automatic | Cause::Beforehand)
    }

    /// Returns the cause's name, as reports write it.
    pub fn name(&self) -> &str {
        match self {
            Cause::Automatic => "auto",
            Cause::Idle => "idle",
            Cause::ModelChange => "model change",
            Cause::Background => "background",
            Cause::Beforehand => "beforehand",
            Cause::TurnEnd => "end of turn",
            Cause::Manual => "manual",
            Cause::Unlogged => "unknown",
            Cause::Other(name) => name,
        }
    }
}

/// The way in which the cause of a compaction is known.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum CauseSource {
    /// The log has it.
    Log,
    /// The agent passed it to a hook.
    Hook,
    /// It follows from the size at which the agent compacted.
    #[default]
    Inferred,
}

impl CauseSource {
    /// Returns the source's name, as reports write it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The most nodes that all resets of a log keep together: beyond them, no reset keeps any. A hundred compactions that
/// keep ten thousand records each are more than any conversation has. The context is counted at each reset, so a log in
/// which each of thousands keeps all others would be read in the square of the time.
pub const MOST_KEPT: usize = 1_000_000;

/// The items that a reset leaves in the context.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum RetainedItems {
    /// Nothing stays.
    #[default]
    Nothing,
    /// The items of these nodes stay.
    Nodes(Vec<Key>),
    /// The items from the first to the last of these nodes on the live branch stay; no `last`: to its end.
    Range {
        /// The first node that stays.
        first: Key,
        /// The last node that stays.
        last: Option<Key>,
    },
}

/// All items from this node on stay; without such a node, nothing stays.
impl From<Option<Key>> for RetainedItems {
    fn from(first: Option<Key>) -> RetainedItems {
        first.map_or(RetainedItems::Nothing, |first| RetainedItems::Range {
            first,
            last: None,
        })
    }
}
