//! Describes the triggers of an agent other than the size, by agent and version, and the settings about them.

use super::Rules;
use crate::values::version;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// The kind of event that makes an agent compact, or take something out of its context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum TriggerKind {
    /// The size of the context.
    Size,
    /// The size of the context when a turn has ended.
    TurnEnd,
    /// Nobody types until the prompt cache is about to go cold.
    Idle,
    /// From a size on, it makes a summary that later takes the place of the history: beside the running turn, and nothing
    /// stops.
    Background,
    /// Another model, or another version of it, answers next.
    ModelChange,
    /// After a pause, or where there is too much of them, old tool results are left out of the next prompt.
    Clearing,
}

impl TriggerKind {
    /// Returns its name, as reports write it.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A trigger of an agent other than the size.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherTrigger {
    /// The agent's id.
    pub agent: String,
    /// The kind of trigger.
    pub kind: TriggerKind,
    /// The first version that has it; none: any.
    pub from: Option<String>,
    /// True if the agent does it unless settings say otherwise.
    #[serde(default)]
    pub usual: bool,
    /// The smallest context, in tokens; a setting may change it.
    #[serde(default)]
    pub size: u64,
    /// No setting makes `size` smaller than this, in tokens.
    #[serde(default)]
    pub least: u64,
    /// Of `idle`: the share of the cache's life after which it comes. Of `background`: the share of the window, without
    /// `reserve`, from which on the summary is made. Of `clearing`: the share of the window that is in use at least.
    #[serde(default)]
    pub share: f64,
    /// Tokens of the window that do not count, for `background`.
    #[serde(default)]
    pub reserve: u64,
    /// Only with caches that keep a prompt for so many seconds; none: any.
    pub cache_seconds: Option<u32>,
    /// The pause after which results are left out, in seconds.
    #[serde(default)]
    pub pause: u32,
    /// Tools whose results are left out; `*` means all.
    #[serde(default)]
    pub tools: Vec<String>,
    /// Patterns of the models with which they are left out; empty: all.
    #[serde(default)]
    pub ids: Vec<String>,
    /// The characters that stay of each of them.
    #[serde(default)]
    pub stays: u64,
    /// The characters of the shortest of them.
    #[serde(default)]
    pub shortest: u64,
    /// The least number of their results.
    #[serde(default)]
    pub results: usize,
    /// The number of the newest of them that stay.
    #[serde(default)]
    pub kept: usize,
    /// The number of the newest answers of which all results stay.
    #[serde(default)]
    pub answers: usize,
    /// The characters of all their results above which the oldest are left out, until half of that is left; 0: any.
    #[serde(default)]
    pub characters: u64,
    /// True if no record says that results were left out.
    #[serde(default)]
    pub unlogged: bool,
    /// The hashes that the agent compares, by model, of which the first that matches holds: for `model-change`.
    #[serde(default)]
    pub hashes: Vec<(String, String)>,
    /// The source of these numbers; optional in the user's own table.
    #[serde(default)]
    pub source: String,
}

impl OtherTrigger {
    /// Returns true if results of a tool are left out.
    pub(crate) fn clears(&self, tool: &str) -> bool {
        self.tools.iter().any(|named| named == tool || named == "*")
    }

    /// Returns true if results are left out of a context of this size with this model.
    pub(crate) fn is_for(&self, model: Option<&str>, used: u64, window: u64) -> bool {
        let is_with = |model| self.ids.iter().any(|id| super::matches_model(id, model));
        (self.ids.is_empty() || model.is_some_and(is_with))
            && used as f64 >= self.share * window as f64
    }
}

/// The settings of an agent about compactions for other reasons than the size. `None`: as usual.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct OtherSettings {
    /// True if it compacts while nobody types.
    pub idle: Option<bool>,
    /// The smallest context for that, in tokens.
    pub idle_size: Option<u64>,
    /// The file or variable that it is from, to be shown.
    #[serde(skip)]
    pub idle_from: &'static str,
    /// True if it makes summaries beforehand.
    pub background: Option<bool>,
    /// The share of the window from which on it does: 0 to 1.
    pub background_share: Option<f64>,
    /// A summary that was made beforehand.
    pub ready: Option<ReadySummary>,
    /// True if it leaves tool results out after a pause.
    pub clearing: Option<bool>,
    /// The pause, in seconds.
    pub clearing_pause: Option<u32>,
    /// The number of the newest results that stay.
    pub clearing_kept: Option<usize>,
    /// The characters of all results above which it leaves some out; 0: any.
    pub clearing_characters: Option<u64>,
    /// The model that it is to begin with.
    pub model: Option<String>,
    /// The hashes that it compares, by model.
    pub hashes: Vec<(String, String)>,
    /// The file that all others are from, to be shown; empty: the usual settings, or none.
    #[serde(skip)]
    pub from: &'static str,
}

/// A summary that was made beforehand, and waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadySummary {
    /// The time at which it was made; `None`: not known.
    pub at: Option<Timestamp>,
    /// The size of the context then, in tokens.
    pub before: u64,
}

impl Rules {
    /// Returns the triggers of a version of an agent other than the size, one row of each kind.
    pub(crate) fn others(&self, agent: &str, version: Option<&str>) -> Vec<&OtherTrigger> {
        let mut kinds: Vec<TriggerKind> = Vec::new();
        let is_there = |row: &&OtherTrigger| {
            let from = row.from.as_deref();
            let is_since = from.is_none_or(|from| {
                let is_older = |version| version::is_newer(from, version);
                !version.is_some_and(is_older)
            });
            row.agent == agent && is_since
        };
        let mut is_first = |row: &&OtherTrigger| {
            let is_first = !kinds.contains(&row.kind);
            kinds.push(row.kind);
            is_first
        };
        let rows = self.trigger.iter().filter(is_there);
        rows.filter(|row| is_first(row)).collect()
    }
}

/// Returns the first value whose pattern a model matches.
pub(crate) fn of_model<'v>(rows: &'v [(String, String)], model: &str) -> Option<&'v str> {
    let row = rows
        .iter()
        .find(|(pattern, _)| super::matches_model(pattern, model));
    row.map(|(_, value)| value.as_str())
}
