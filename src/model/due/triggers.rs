//! Finds all that can compact a session next: its size, the clock, another model, and what the agent prepares or leaves
//! out.
//!
//! It cannot be known whether somebody types, or what a server decides: such a trigger is one that may fire.

use crate::Role;
use crate::due::prompt_cache::CacheState;
use crate::history::PastReset;
use crate::lists::gauge::SessionGauge;
use crate::outlook::forecast::{Forecast, NoForecast};
use crate::session::Session;
use crate::window::Limits;
use crate::window::other::of_model;
use crate::window::{
    Compaction, LimitInputs, OtherSettings, OtherTrigger, TriggerKind, TriggerSource,
};
use jiff::{SignedDuration, Timestamp};

/// Something that can compact a session next, or take something out of its context.
#[derive(Debug, Clone, PartialEq)]
pub struct NextTrigger {
    /// The kind of trigger.
    pub kind: TriggerKind,
    /// The size at which it fires, in the agent's own count; of [`TriggerKind::ModelChange`], with the next model.
    pub tokens: Option<u64>,
    /// Tokens until then.
    pub left: Option<u64>,
    /// The time at which it fires; of [`TriggerKind::Clearing`], with a prompt after this time, or with the next.
    pub at: Option<Timestamp>,
    /// True if it fires for sure, once its size or time is reached.
    pub is_sure: bool,
    /// Of [`TriggerKind::Background`]: the summary is ready, and was made at this size. Of [`TriggerKind::Clearing`]: the tokens
    /// that leave.
    pub size: Option<u64>,
    /// Of [`TriggerKind::Background`] with a summary that is ready: the tokens that will be left.
    pub after: Option<u64>,
    /// Of [`TriggerKind::ModelChange`]: the next model.
    pub model: Option<String>,
    /// The way in which it is known.
    pub source: TriggerSource,
    /// The file or variable of the settings that it is from; empty: none, or the usual one.
    pub setting: &'static str,
}

impl NextTrigger {
    fn new(kind: TriggerKind, source: TriggerSource) -> NextTrigger {
        NextTrigger {
            kind,
            tokens: None,
            left: None,
            at: None,
            is_sure: true,
            size: None,
            after: None,
            model: None,
            source,
            setting: "",
        }
    }

    /// Returns true if it ends in a compaction by itself.
    pub fn compacts(&self) -> bool {
        !matches!(self.kind, TriggerKind::Background | TriggerKind::Clearing)
    }

    /// Returns the minutes from `now` until it fires, to compare triggers; `None`: that depends on what is done.
    fn minutes(&self, forecast: &Result<Forecast, NoForecast>, now: Timestamp) -> Option<f64> {
        match (self.kind, self.at, self.left) {
            (TriggerKind::ModelChange, ..) | (_, _, Some(0)) => Some(0.0),
            (_, Some(at), _) => Some(at.duration_since(now).as_secs_f64() / 60.0),
            (TriggerKind::Size | TriggerKind::TurnEnd, ..) => {
                let forecast = forecast.as_ref().ok()?;
                Some(forecast.minutes?.p50)
            }
            _ => None,
        }
    }
}

/// Returns all that can compact a session next, the nearest first.
pub fn next(
    of: &SessionGauge,
    forecast: &Result<Forecast, NoForecast>,
    now: Timestamp,
) -> Vec<NextTrigger> {
    let mut all = other(of, now);
    let is_smaller = |next: &&NextTrigger| next.kind == TriggerKind::TurnEnd && next.is_sure;
    let size_at = all.iter().take_while(is_smaller).count();
    all.splice(size_at..size_at, by_size(of));
    let minutes = |next: &NextTrigger| next.minutes(forecast, now).unwrap_or(f64::INFINITY);
    // Of equal ones, those that compact come first, the sizes before all others.
    all.sort_by(|a, b| {
        let by_time = minutes(a).total_cmp(&minutes(b));
        by_time.then(b.compacts().cmp(&a.compacts()))
    });
    all
}

/// Returns the triggers other than the size that can compact a session next.
pub fn other(of: &SessionGauge, now: Timestamp) -> Vec<NextTrigger> {
    let overrides = of.overrides();
    if overrides.compaction == Compaction::Off {
        return Vec::new();
    }
    let rows = of.rules().others(of.agent, of.meta.version.as_deref());
    let set = &overrides.others;
    let by_row = rows
        .into_iter()
        .filter_map(|row| TriggerQuery { of, set, now }.other(row));
    let mut found: Vec<NextTrigger> = turn_end(of).into_iter().chain(by_row).collect();
    // The user's own rule is all that there is.
    let is_excluded =
        |limits: &Limits| limits.trigger_source == TriggerSource::Config || limits.ends;
    if !found.is_empty() && is_excluded(of.limits()) {
        found.clear();
    }
    found
}

/// Returns the time at which a session compacts if nobody types.
pub fn idle_at(of: &SessionGauge, now: Timestamp) -> Option<Timestamp> {
    let all = other(of, now).into_iter();
    all.filter(|next| next.kind == TriggerKind::Idle)
        .find_map(|next| next.at)
}

fn by_size(of: &SessionGauge) -> Option<NextTrigger> {
    let limits = of.limits();
    let trigger = limits.trigger.filter(|_| !limits.ends)?;
    Some(NextTrigger {
        tokens: Some(trigger),
        left: Some(of.context.headroom(trigger)),
        setting: limits.trigger_setting,
        ..NextTrigger::new(TriggerKind::Size, limits.trigger_source)
    })
}

/// Returns the size at the end of a turn: by the settings or, where none that could be read have one, the one at which it
/// last compacted then.
fn turn_end(of: &SessionGauge) -> Option<NextTrigger> {
    let set = of.limits().turn_end;
    let tokens = set.or(of.turn_end)?;
    let (source, setting) = match set {
        Some(_) => (TriggerSource::Settings, of.overrides().trigger_from),
        None => (TriggerSource::Past, ""),
    };
    Some(NextTrigger {
        tokens: Some(tokens),
        left: Some(of.context.headroom(tokens)),
        is_sure: set.is_some(),
        setting,
        ..NextTrigger::new(TriggerKind::TurnEnd, source)
    })
}

/// The session, its settings and the time for which triggers are computed.
#[derive(Clone, Copy)]
struct TriggerQuery<'s> {
    of: &'s SessionGauge,
    set: &'s OtherSettings,
    now: Timestamp,
}

impl TriggerQuery<'_> {
    fn other(self, row: &OtherTrigger) -> Option<NextTrigger> {
        match row.kind {
            TriggerKind::Size | TriggerKind::TurnEnd => None,
            TriggerKind::Idle => self.idle(row),
            TriggerKind::Background => self.background(row),
            TriggerKind::ModelChange => self.model_change(row),
            TriggerKind::Clearing => self.clearing(row),
        }
    }

    fn next(self, kind: TriggerKind, set: bool) -> NextTrigger {
        let source = if set {
            TriggerSource::Settings
        } else {
            TriggerSource::Policy
        };
        NextTrigger {
            setting: if set { self.set.from } else { "" },
            ..NextTrigger::new(kind, source)
        }
    }

    /// Returns the trigger while nobody types, at a time of day.
    fn idle(self, row: &OtherTrigger) -> Option<NextTrigger> {
        let size = self.set.idle_size.unwrap_or(row.size).max(row.least);
        let cache = self.of.prompt_cache()?;
        let is_kept = row
            .cache_seconds
            .is_none_or(|seconds| seconds == cache.life.seconds);
        let is_attended = self.of.meta.attended != Some(false);
        let is_on = self.set.idle.unwrap_or(row.usual);
        let is_warm = matches!(cache.state(self.now), CacheState::Warm(_));
        if !(is_on && is_kept && is_attended && is_warm) || self.of.context.counted() < size {
            return None;
        }
        let pause = f64::from(cache.life.seconds) * row.share.clamp(0.0, 1.0);
        let pause = SignedDuration::try_from_secs_f64(pause).ok()?;
        let at = cache.sent.checked_add(pause).ok()?;
        // A timer that is late is not served.
        (at > self.now).then(|| NextTrigger {
            at: Some(at),
            is_sure: false,
            setting: self.set.idle_from,
            ..self.next(TriggerKind::Idle, self.set.idle_size.is_some())
        })
    }

    /// Returns the trigger of a summary that is made from a size on; it takes the place of the history at the trigger.
    fn background(self, row: &OtherTrigger) -> Option<NextTrigger> {
        let is_set = self.set.background.is_some() || self.set.background_share.is_some();
        let size = self.set.ready.map(|ready| ready.before);
        let next = NextTrigger {
            is_sure: false,
            size,
            after: size.map(|before| self.after_swap(before)),
            ..self.next(TriggerKind::Background, is_set)
        };
        if size.is_some() {
            return Some(next);
        }
        let usual = (row.share > 0.0).then_some(row.share);
        let share = self.set.background_share.or(usual)?;
        if !self.set.background.unwrap_or(row.usual) {
            return None;
        }
        let limits = self.of.limits();
        let window = limits.window.saturating_sub(row.reserve);
        let tokens = (window as f64 * share).round() as u64;
        let tokens = tokens.min(limits.end());
        Some(NextTrigger {
            tokens: Some(tokens),
            left: Some(tokens.saturating_sub(self.of.context.counted())),
            ..next
        })
    }

    /// Returns the tokens that are left when a summary takes the place of the history from which it was made: the
    /// prefix, the summary, and all that came since.
    fn after_swap(self, before: u64) -> u64 {
        let (of, rules) = (self.of, self.of.rules());
        let usual = rules.usual_prefix(of.agent, of.model(), 0);
        let prefix = of.context.role(Role::System).tokens.max(usual);
        let since = of.context.counted().saturating_sub(before);
        prefix.saturating_add(rules.summary).saturating_add(since)
    }

    /// Returns the trigger before the next turn, where its model has another hash or compacts at less than the context in a
    /// smaller window, with that size.
    fn model_change(self, row: &OtherTrigger) -> Option<NextTrigger> {
        let last = self.of.meta.model_hash.as_deref();
        let model = self.set.model.as_deref().or(self.of.model())?;
        let hash = of_model(&self.set.hashes, model).or_else(|| of_model(&row.hashes, model));
        let is_other_hash = hash.zip(last).is_some_and(|(next, last)| next != last);
        let size = self.size_with(model).filter(|_| !is_other_hash);
        let is_due = is_other_hash || size.is_some();
        (is_due && self.of.context.used > 0).then(|| NextTrigger {
            is_sure: false,
            tokens: size,
            model: Some(model.to_owned()),
            ..self.next(TriggerKind::ModelChange, true)
        })
    }

    /// Returns the size at which the agent compacts with another model, if its window is smaller and the context has reached
    /// that size.
    fn size_with(self, model: &str) -> Option<u64> {
        let of = self.of;
        let limits = of.rules().limits(&LimitInputs {
            version: of.meta.version.as_deref(),
            ..LimitInputs::new(of.agent, Some(model), of.overrides())
        });
        let is_smaller = of.model() != Some(model) && limits.window < of.limits().window;
        let trigger = limits.trigger.filter(|_| is_smaller)?;
        (of.context.counted() > trigger).then_some(trigger)
    }

    /// Returns the trigger of results that are left out: the oldest of the next prompt, where all are too long, else all but
    /// the newest of a prompt after a pause.
    fn clearing(self, row: &OtherTrigger) -> Option<NextTrigger> {
        let is_set = self.set.clearing.is_some() || self.set.clearing_pause.is_some();
        let next = |tokens| NextTrigger {
            is_sure: row.usual,
            size: Some(tokens),
            ..self.next(TriggerKind::Clearing, is_set)
        };
        if let Some(tokens) = self.of.excess {
            return Some(NextTrigger {
                left: Some(0),
                ..next(tokens)
            });
        }
        let of = self.of;
        let is_for = row.is_for(of.model(), of.context.used, of.limits().window);
        if !(is_for && self.set.clearing.unwrap_or(row.usual)) {
            return None;
        }
        let pause = self.set.clearing_pause.unwrap_or(row.pause);
        let pause = SignedDuration::from_secs(pause.into());
        let at = self.of.prompt_cache()?.sent.checked_add(pause).ok()?;
        Some(NextTrigger {
            at: Some(at),
            ..next(self.of.clearable?)
        })
    }
}

/// The change of the rule of a session's agent between its last compaction by size and now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangedRule<'s> {
    /// The last compaction by size.
    pub last: &'s PastReset,
    /// The size at which the agent compacts now, in tokens.
    pub trigger: u64,
    /// The time at which the model that it goes by was first used; `None`: it is the same, and something else changed.
    pub since: Option<Timestamp>,
}

/// Returns the change of the rule of a session's agent since its last compaction by size; `None`: it has not changed,
/// or nothing is known of it.
pub fn changed_rule(session: &Session) -> Option<ChangedRule<'_>> {
    let trigger = session.limits().trigger?;
    let resets = session.resets().iter().rev();
    let mut compactions = resets.filter(|reset| reset.is_automatic());
    let last = compactions.next()?;
    let at = last.size();
    let (less, more) = (at.min(trigger), at.max(trigger));
    let model = session.model();
    let since = || {
        let requests = session.requests().iter().skip(last.request);
        let first = requests
            .rev()
            .take_while(|r| r.model.as_deref() == model)
            .last()?;
        first.at.filter(|_| last.model.as_deref() != model)
    };
    (more as f64 > less as f64 * LIKE).then(|| ChangedRule {
        last,
        trigger,
        since: since(),
    })
}

/// Sizes that differ by no more than this factor follow from one rule: each compaction starts up to a step too late.
const LIKE: f64 = 1.15;

#[cfg(test)]
mod tests;
