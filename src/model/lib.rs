//! The domain, without I/O: what a context window is made of and how each number is known.
//!
//! Nothing here reads a file, a clock or the terminal. Decoders (`agents`) turn log bytes
//! into [`event::Entry`]s; a [`session::Session`] applies them. Each folder imports those above it:
//!
//! | folder | what is in it |
//! |---|---|
//! | [`event`] | what a log says |
//! | [`values`] | plain values: names, versions, projects, thresholds, usage, what earlier sessions have shown |
//! | `history` | the items, requests and resets of a session, and the tree of its records |
//! | [`sizes`] | the size of each item and its error: attribution, calibration, pictures, thinking |
//! | [`window`] | windows, policies, triggers, prices: the rules |
//! | [`state`] | what is applied of a log, with its earlier states. It answers nothing |
//! | [`session`] | a state and its answers, now or as of a record: context, limits, the agent's own count, replay |
//! | [`cost`] | what was sent again, by call, tool and item, and the money |
//! | [`outlook`] | forecasts, compactions, other policies, other estimators |
//! | [`lists`] | all sessions together: summaries, gauges, children |
//! | [`due`] | what is due next: triggers, the prompt cache, alerts, bounds |
//! | [`why`] | findings: where tokens and money went, and what to change |
//! | `testing` | sessions for tests, and the properties |
//!
//! One word per idea: an *item* is one piece of context, a *request* one call to the model, a *usage
//! report* the provider's numbers for it, the *anchor* the newest report that still holds, a *reset*
//! a compaction, clear or rewind.

pub mod cost;
pub mod due;
pub mod event;
mod history;
pub mod lists;
pub mod outlook;
pub mod session;
pub mod sizes;
pub mod state;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod values;
pub mod why;
pub mod window;

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

/// The role that put an item into the context.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Role {
    /// The unlogged prefix: system prompt, tool schemas, and text that no log shows.
    System,
    /// Added by the harness: skills, plugins, tool lists, memory files, reminders, summaries.
    Container,
    /// Typed by a person.
    User,
    /// Text, thinking and tool calls of the model.
    Assistant,
    /// The result of a tool.
    Tool,
}

impl Role {
    /// All roles, in the order of a gauge: those that change least come first.
    pub const ALL: [Role; 5] = [
        Role::System,
        Role::Container,
        Role::User,
        Role::Assistant,
        Role::Tool,
    ];

    /// Returns the role's name, as screens and reports write it.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the role's index in [`Role::ALL`].
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// The way in which a number is known.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Source {
    /// The provider reported this number for this item or request.
    Reported,
    /// The rest of a delta in which one item was unknown.
    Derived,
    /// A part of a known sum, shared out by local counts.
    Shared,
    /// The agent's own estimate.
    Agent,
    /// Counted here.
    Estimated,
}

impl Source {
    /// All sources, those that are known first.
    pub const ALL: &'static [Source] = Source::VARIANTS;

    /// Returns true if the number, or the sum that it is part of, came from the provider.
    pub const fn is_known(self) -> bool {
        matches!(self, Source::Reported | Source::Derived | Source::Shared)
    }

    /// Returns the source's name, as screens and reports write it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The kind of content that an item is.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Kind {
    /// Plain text of a user or the assistant.
    Text,
    /// Thinking or reasoning of the model, readable or encrypted.
    Thinking,
    /// A tool call as the model wrote it.
    ToolCall,
    /// The result of a tool.
    ToolResult,
    /// A compaction's summary.
    Summary,
    /// A reminder or other note of the harness.
    Reminder,
    /// A skill's or a slash command's body.
    Skill,
    /// A list of tools, agents or skills on offer.
    ToolList,
    /// A memory or instruction file.
    Memory,
    /// A system prompt that the log contains.
    Prompt,
    /// A reported output whose text is not in the log.
    Unlogged,
}

impl Kind {
    /// Returns true if it precedes the conversation: the system prompt, the tools.
    pub(crate) fn is_prefix(self) -> bool {
        matches!(self, Kind::Prompt | Kind::ToolList)
    }

    /// Returns the kind's name, as screens and reports write it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The reason for which an item is no longer in the context.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum LeaveReason {
    /// A compaction replaced it by a summary.
    Compaction,
    /// The conversation was cleared.
    Clear,
    /// It is on a branch that was left.
    Rewind,
    /// Its content was cleared or masked, though no compaction took place.
    Cleared,
    /// Thinking that the provider strips when a new turn begins.
    Stripped,
    /// A later record of the same id took its place.
    Replaced,
    /// It lived only until the end of its turn.
    TurnEnd,
}

impl LeaveReason {
    /// Returns true if the item is not on the branch any more: it may come back with the branch.
    pub(crate) fn is_of_branch(self) -> bool {
        matches!(
            self,
            LeaveReason::Rewind | LeaveReason::Compaction | LeaveReason::Clear
        )
    }

    /// Returns the reason's name, as screens and reports write it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
