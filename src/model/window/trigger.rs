//! The size at which an agent compacts: its policy's, as settings change it and past compactions refute it.

use super::client_status::ClientCompaction;
use super::overrides::{Compaction, Overrides};
use super::policy::{Policy, part};
use super::{LimitInputs, TriggerSource};
use crate::history::CompactionCounts;
use serde::{Deserialize, Serialize};

/// The factor above the policy's trigger at which an automatic compaction may start: the last step's results come on
/// top. 167,038 to 174,247 were measured for a trigger of 167,000.
const OVERSHOOT: f64 = 1.06;

/// The largest error of our version of an agent's own count, as a share. Codex's, in logs without its encrypted
/// reasoning: 0.2 % to 3 % in 8 compactions of 9; nothing in 32 of logs with it.
const COUNT_ERROR: f64 = 0.03;

/// A compaction that took place, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PastSize {
    /// The size of the context, where the agent's own count is not known.
    Context(u64),
    /// The agent's own counts.
    Counted(CompactionCounts),
}

impl PastSize {
    /// Returns the size at which the agent compacted.
    pub(crate) fn at(self) -> u64 {
        match self {
            PastSize::Context(size) => size,
            PastSize::Counted(counted) => counted.at,
        }
    }

    /// Returns true if it took place so far below this window that no prompt can have been refused for it.
    fn is_below_limit(self, window: u64) -> bool {
        self.at() as f64 * OVERSHOOT < window as f64
    }

    /// Returns true if an agent with this trigger would not have compacted there, or would have done so before.
    /// `is_late`: it need not have.
    fn contradicts(self, trigger: u64, is_late: bool) -> bool {
        let trigger = trigger as f64;
        match self {
            PastSize::Context(at) | PastSize::Counted(CompactionCounts { at, .. }) if is_late => {
                (at as f64) < trigger * (1.0 - COUNT_ERROR)
            }
            PastSize::Context(at) => (at as f64) < trigger || at as f64 > trigger * OVERSHOOT,
            PastSize::Counted(CompactionCounts { at, not_at, .. }) => {
                (at as f64) < trigger * (1.0 - COUNT_ERROR)
                    || not_at as f64 > trigger * (1.0 + COUNT_ERROR)
            }
        }
    }
}

/// Returns the size at which the rule of an agent with this policy and window fires.
fn rule(seen: &LimitInputs<'_>, policy: Option<&Policy>, window: u64) -> Option<u64> {
    let rule = policy?.trigger(window, seen.overrides)?;
    Some(if seen.overrides.from_first_prompt {
        rule.saturating_add(seen.first.unwrap_or(0)).min(window)
    } else {
        rule
    })
}

/// Returns the size from which on the agent compacts at the end of a turn, where that is below its rule.
pub(super) fn at_turn_end(
    seen: &LimitInputs<'_>,
    policy: Option<&Policy>,
    window: u64,
) -> Option<u64> {
    let share = seen.overrides.turn_end_share?;
    let rule = rule(seen, policy, window)?;
    Some(part(window, share)).filter(|turn_end| *turn_end < rule)
}

/// Returns the smallest size at which the agent compacted because a prompt was refused for this window.
pub(super) fn refused_at(seen: &LimitInputs<'_>, window: u64) -> Option<u64> {
    let refused = seen.past.iter().filter(|past| !past.is_below_limit(window));
    refused.map(|past| past.at().min(window)).min()
}

/// Returns true if the newest compaction shows that the agent compacts by the rule of this window.
pub(super) fn is_confirmed(seen: &LimitInputs<'_>, policy: Option<&Policy>, window: u64) -> bool {
    let is_late = policy.is_some_and(|policy| policy.late);
    let newest = seen.past.last().zip(rule(seen, policy, window));
    newest.is_some_and(|(past, rule)| !past.contradicts(rule, is_late))
}

/// Returns true if the agent did not compact at the rule of this window, though a prompt was larger.
pub(super) fn is_refuted(seen: &LimitInputs<'_>, policy: Option<&Policy>, window: u64) -> bool {
    rule(seen, policy, window).is_some_and(|rule| is_passed(seen, policy, rule))
}

/// Returns true if a prompt was sent after one that is larger than this trigger.
fn is_passed(seen: &LimitInputs<'_>, policy: Option<&Policy>, trigger: u64) -> bool {
    policy.is_some_and(|policy| !policy.late && policy.counts_prompts())
        && seen.passed as f64 > trigger as f64 * OVERSHOOT
}

/// Returns the size at which an agent with this policy and window compacts: so much less as the provider leaves out of each
/// prompt. It is never 0.
pub(super) fn of(
    seen: &LimitInputs<'_>,
    policy: Option<&Policy>,
    window: u64,
) -> (Option<u64>, TriggerSource) {
    let (counted, source) = of_counted(seen, policy, window);
    let trigger = counted.map(|counted| counted.saturating_sub(seen.left_out));
    match trigger {
        Some(0) => (None, TriggerSource::None),
        trigger => (trigger, source),
    }
}

/// Returns the agent's own count at which it compacts.
fn of_counted(
    seen: &LimitInputs<'_>,
    policy: Option<&Policy>,
    window: u64,
) -> (Option<u64>, TriggerSource) {
    let set = seen.overrides;
    let usual = policy.and_then(|p| p.trigger(window, &Overrides::default()));
    let rule = rule(seen, policy, window);
    let rule_source = if rule == usual {
        TriggerSource::Policy
    } else {
        TriggerSource::Settings
    };
    let newest = seen.past.last();
    let is_late = policy.is_some_and(|policy| policy.late);
    // What took place in a larger window than the user has set says nothing of that one.
    let is_smaller = seen.set_window.is_some_and(|set| set < seen.largest);
    let is_passed = |rule| !is_smaller && is_passed(seen, policy, rule);
    let contradicted =
        |rule| !is_smaller && newest.is_some_and(|past| past.contradicts(rule, is_late));
    let refuted = |rule| contradicted(rule) || is_passed(rule);
    let past = seen.past.iter().map(|past| past.at()).min();
    let past = past.filter(|past| *past <= window || seen.set_window.is_none());
    let said = seen.overrides.said.as_ref();
    let said = said.filter(|said| said.is_of(seen.model));
    let said = said.map_or(ClientCompaction::Unsaid, |said| said.compaction);
    match (seen.logged_trigger, rule, past) {
        (Some(logged), _, _) => (Some(logged), TriggerSource::Log),
        // It reads its own settings, and what its provider sends it.
        _ if said == ClientCompaction::Off => (None, TriggerSource::Client),
        _ if said == ClientCompaction::Refused && past.is_none() => (None, TriggerSource::Refused),
        _ if said.at().is_some_and(|at| !refuted(at)) => (said.at(), TriggerSource::Client),
        // It compacted by itself before that was switched off.
        (None, None, _) if set.compaction == Compaction::Off => (None, TriggerSource::Settings),
        // A rule outranks what took place, unless the newest of that refutes it: each compaction starts
        // up to a step too late.
        (None, Some(rule), _) if !refuted(rule) => (Some(rule), rule_source),
        (None, None, _)
            if policy.is_some_and(|policy| policy.at_limit)
                && newest.is_none_or(|past| !past.is_below_limit(window)) =>
        {
            (None, TriggerSource::Refused)
        }
        (None, _, Some(past)) => (Some(past), TriggerSource::Past),
        (None, Some(rule), None) if is_passed(rule) => (None, TriggerSource::Contradicted),
        (None, _, None) => (None, TriggerSource::None),
    }
}
