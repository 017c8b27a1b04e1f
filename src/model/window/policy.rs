//! Defines when agents compact, from their documentation or their source code.

use super::LimitInputs;
use super::overrides::{Compaction, Overrides};
use super::pattern::{ModelId, matches};
use crate::values::version;
use crate::window::count_rule::{Base, CountRule};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// The rule by which an agent compacts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Policy {
    /// The agent's id.
    pub agent: String,
    /// The policy's name, as reports write it.
    pub name: String,
    /// The newest version it holds for; none: any.
    pub up_to: Option<String>,
    /// The last moment it holds for, for logs without a version; none: until today.
    pub until: Option<Timestamp>,
    /// Patterns of the models it holds for; none: all.
    #[serde(default)]
    pub models: Vec<String>,
    /// Patterns of the ids of the sessions it holds for; none: all.
    #[serde(default)]
    pub sessions: Vec<String>,
    /// The smallest window it holds for.
    #[serde(default)]
    pub window_from: u64,
    /// The window that the agent assumes until its log has another, in tokens.
    pub window: Option<u64>,
    /// The trigger as a share of the window; none: the whole window.
    pub share: Option<f64>,
    /// True if the share is one of what the output leaves of the window. A setting then replaces `output`.
    #[serde(default)]
    pub share_of_usable: bool,
    /// No setting makes the share smaller than this.
    #[serde(default)]
    pub least_share: f64,
    /// The distance below the share at which it fires, in tokens.
    #[serde(default)]
    pub below_share: u64,
    /// The distance below the window at which it fires, in tokens, in addition to `output`. With `share`, the smaller
    /// trigger holds.
    #[serde(default)]
    pub reserve: u64,
    /// The most that the reserve can be, as a share of the window.
    pub reserve_share: Option<f64>,
    /// Tokens of the window that are kept for the output, at most; a setting can lower them.
    #[serde(default)]
    pub output: u64,
    /// The window that compaction uses unless another is configured, in tokens; none: the model's.
    pub compact_window: Option<u64>,
    /// It fires at this many tokens, whatever the window.
    pub budget: Option<u64>,
    /// The smallest trigger, where the output leaves more than that of the window.
    #[serde(default)]
    pub least: u64,
    /// True if nothing fires at a size, unless a window is configured for compaction: it compacts when the provider
    /// refuses a prompt as too long.
    #[serde(default)]
    pub at_limit: bool,
    /// True if it may go on above the trigger, until it finds something to take away.
    #[serde(default)]
    pub late: bool,
    /// The rule of the count that the agent compares with the trigger; none: it is the size of the context.
    pub count: Option<CountRule>,
    /// True if it compacts before the window is full at all.
    #[serde(default = "yes")]
    pub proactive: bool,
    /// True if its session ends with its first answer, so that nothing follows from how full it is.
    #[serde(default)]
    pub ends: bool,
    /// The unlogged prefix that is usual with this agent: system prompt and tool schemas, in tokens.
    /// Holds until a session's own reports show it.
    #[serde(default)]
    pub prefix: u64,
    /// True if `prefix` also counts the parts of it that some logs show: a system prompt, a tool list.
    #[serde(default)]
    pub prefix_whole: bool,
    /// The newest share of the history, which it keeps unchanged: 0 to 1.
    #[serde(default)]
    pub keep_share: f64,
    /// Tokens of the newest history that it keeps as they were.
    #[serde(default)]
    pub keep_recent: u64,
    /// Tokens of user messages that it keeps, at most.
    #[serde(default)]
    pub keep_user: u64,
    /// Tokens that it puts back in: files read lately, invoked skills.
    #[serde(default)]
    pub restored: u64,
    /// Its summary's size in tokens; none: the usual one.
    pub summary: Option<u64>,
    /// A description of what survives.
    #[serde(default)]
    pub keeps: String,
    /// The source of these numbers.
    #[serde(default)]
    pub source: String,
}

fn yes() -> bool {
    true
}

impl Policy {
    /// Returns true if it is the rule of a session with this window.
    pub(super) fn holds(&self, seen: &LimitInputs<'_>, window: u64) -> bool {
        let of = |id| {
            let id = ModelId::new(id);
            self.models.iter().any(|pattern| id.matches(pattern))
        };
        let is_named = |id| self.sessions.iter().any(|pattern| matches(pattern, id));
        self.agent == seen.agent
            && window >= self.window_from
            && (self.models.is_empty() || seen.model.is_some_and(of))
            && (self.sessions.is_empty() || seen.session.is_some_and(is_named))
            && version::is_up_to(seen.version, self.up_to.as_deref())
            && self
                .until
                .is_none_or(|last| seen.at.is_some_and(|at| at <= last))
    }

    /// Returns the size at which an agent with this window and these settings compacts. With
    /// [`Overrides::from_first_prompt`], what has to come after that prompt.
    pub fn trigger(&self, window: u64, set: &Overrides) -> Option<u64> {
        let proactive = (self.proactive && !self.at_limit) || set.compact_window.is_some();
        if !proactive || set.compaction == Compaction::Off {
            return None;
        }
        let compact_window = set.compact_window.or(self.compact_window);
        let window = window.min(compact_window.unwrap_or(u64::MAX));
        let usable = window.saturating_sub(self.output_kept(set));
        // A window no larger than the reserve leaves nothing.
        let reserve = self.reserve_of(window, set);
        let rest = usable.checked_sub(reserve).filter(|rest| *rest > 0);
        let trigger = match (self.share_of(window, usable, set), rest) {
            (Some(share), Some(rest)) => share.min(rest),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => window,
        };
        if set.from_first_prompt {
            return Some(set.limit.unwrap_or(trigger));
        }
        let budget = set.budget.or(self.budget).unwrap_or(u64::MAX);
        let trigger = trigger.min(budget);
        let trigger = match self.least {
            least if least < usable => trigger.max(least),
            _ => trigger,
        };
        let lowered = set
            .percent
            .map(|percent| (usable as f64 * percent / 100.0) as u64);
        let limits = [lowered, set.limit];
        Some(limits.into_iter().flatten().fold(trigger, u64::min))
    }

    /// Returns the tokens of the window that are kept for the output.
    fn output_kept(&self, set: &Overrides) -> u64 {
        match set.output {
            Some(output) if self.share_of_usable => output,
            output => self.output.min(output.unwrap_or(u64::MAX)),
        }
    }

    /// Returns the reserve with this window.
    fn reserve_of(&self, window: u64, set: &Overrides) -> u64 {
        let most = self.reserve_share.map(|share| part(window, share));
        let reserve = set.reserve.unwrap_or(self.reserve);
        reserve.min(most.unwrap_or(u64::MAX))
    }

    /// Returns the size that the share gives of a window, of which the output leaves `usable` tokens.
    fn share_of(&self, window: u64, usable: u64, set: &Overrides) -> Option<u64> {
        let set = set.share.map(|share| share.max(self.least_share));
        let of = if self.share_of_usable { usable } else { window };
        let share = part(of, set.or(self.share)?);
        Some(share.saturating_sub(self.below_share))
    }

    /// Returns true if the agent compares its trigger with what the provider reports of its prompts.
    pub(super) fn counts_prompts(&self) -> bool {
        self.count
            .is_none_or(|count| matches!(count.base, Base::Prompt | Base::Total))
    }

    /// Returns the tokens that survive its compaction in addition to prefix and summary, from a history of `history`
    /// tokens, `user` of them the user's.
    pub fn kept(&self, history: u64, user: u64) -> u64 {
        let parts = [
            part(history, self.keep_share.clamp(0.0, 1.0)),
            self.keep_recent,
            self.keep_user.min(user),
            self.restored,
        ];
        parts.into_iter().fold(0, u64::saturating_add).min(history)
    }
}

/// Returns a share of a window, to the next token.
pub(super) fn part(window: u64, share: f64) -> u64 {
    (window as f64 * share).round() as u64
}
