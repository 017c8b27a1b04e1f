//! Describes in words the next trigger of a session's compaction and the state of its prompt cache.

use super::clock::Clock;
use super::number::{short, tokens, usd};
use model::due::prompt_cache::{CacheState, MissReason, NextPrompt, PromptCache};
use model::due::triggers::{ChangedRule, NextTrigger, changed_rule};
use model::session::Session;
use model::window::{CacheMisses, TriggerKind};

/// Said before a turn that would [begin late](model::due::late_turn).
pub const COMPACT_FIRST: &str = "compact before you ask";

/// Returns the words after `compacts` for a trigger: `at 14:52 if nobody types`. `None`: it does not compact by itself.
pub fn when(next: &NextTrigger, clock: &Clock) -> Option<String> {
    Some(match next.kind {
        TriggerKind::Size => format!("at {}", short(next.tokens?)),
        TriggerKind::TurnEnd => format!("at {} at the end of a turn", short(next.tokens?)),
        TriggerKind::Idle => format!("at {} if nobody types", clock.time(next.at?)),
        TriggerKind::ModelChange => "before the next turn if its model is used".to_owned(),
        TriggerKind::Background | TriggerKind::Clearing => return None,
    })
}

/// Returns the first that compacts by itself and is not a matter of size: `at 14:52 if nobody types`.
pub fn beside_size(all: &[NextTrigger], clock: &Clock) -> Option<String> {
    let is_other = |next: &&NextTrigger| next.kind != TriggerKind::Size;
    let mut others = all.iter().filter(is_other);
    others.find_map(|next| when(next, clock))
}

/// Describes the change of a session's rule since its last compaction: `compacted at 967k before (line 12), now at 167k
/// (window 200k since 11:40)`. `None`: it has not changed.
pub fn changed(session: &Session, clock: &Clock) -> Option<String> {
    let ChangedRule {
        last,
        trigger,
        since,
    } = changed_rule(session)?;
    let since = since.map(|at| format!(" since {}", clock.time(at)));
    Some(format!(
        "compacted at {} before (line {}), now at {} (window {}{})",
        short(last.before),
        last.place.line(),
        short(trigger),
        short(session.limits().window),
        since.unwrap_or_default()
    ))
}

/// Returns a sentence on a trigger, with its source; `None`: it is the size.
pub fn sentence(next: &NextTrigger, clock: &Clock) -> Option<String> {
    let words = match (next.kind, next.size) {
        (TriggerKind::TurnEnd, _) if !next.is_sure => format!("may compact {}", when(next, clock)?),
        (TriggerKind::Size, _) => return None,
        (TriggerKind::Idle | TriggerKind::TurnEnd, _) => format!("compacts {}", when(next, clock)?),
        (TriggerKind::ModelChange, _) => {
            let model = next.model.as_deref().unwrap_or("its model");
            let why = match next.tokens {
                Some(size) => format!("with {model} at {}", short(size)),
                None => format!("{model} has another hash than the last turn"),
            };
            format!("may compact before the next turn: {why}")
        }
        (TriggerKind::Background, Some(size)) => format!(
            "a summary made at {} is ready: with it about {} will be left",
            short(size),
            short(next.after?)
        ),
        (TriggerKind::Background, None) => {
            format!(
                "begins a summary in the background at {}",
                short(next.tokens?)
            )
        }
        (TriggerKind::Clearing, size) => format!(
            "old tool results, about {}, {} left out of {}",
            short(size?),
            if next.is_sure { "are" } else { "may be" },
            match next.at {
                Some(at) => format!("a prompt after {}", clock.time(at)),
                None => "the next prompt".to_owned(),
            }
        ),
    };
    let source = next.source.name();
    let from = match next.setting {
        "" => source.to_owned(),
        setting => format!("{source}, {setting}"),
    };
    Some(format!("{words} ({from})"))
}

/// Describes the state of the prompt in the cache: `cache warm until 14:58`.
pub fn cache(state: CacheState, clock: &Clock) -> String {
    match state {
        CacheState::Warm(until) => format!("cache warm until {}", clock.time(until)),
        CacheState::Open(_) => "cache warm or cold".to_owned(),
        CacheState::Cold(since, MissReason::Expired) => {
            format!("cache cold since {}", clock.time(since))
        }
        CacheState::Cold(_, MissReason::Compacted) => "cache cold after the compaction".to_owned(),
        CacheState::Cold(_, MissReason::ModelChange) => "cache cold: another model".to_owned(),
    }
}

/// Returns how often a prompt was predicted to be in the cache and was not: `failed 1 of 38 here, 0.6 % with this agent`.
/// `None`: it is not predicted to be there, or nothing is known of it.
pub fn cache_failures(cache: &PromptCache, state: CacheState) -> Option<String> {
    let (here, elsewhere) = (cache.here, cache.elsewhere);
    let here = (here.predicted > 0).then(|| format!("{} of {} here", here.lost, here.predicted));
    let elsewhere = elsewhere.filter(|elsewhere| elsewhere.predicted > 0);
    let elsewhere = elsewhere.map(|CacheMisses { predicted, lost }| {
        let share = f64::from(lost) / f64::from(predicted);
        format!("{:.1} % with this agent", share * 100.0)
    });
    let known: Vec<String> = here.into_iter().chain(elsewhere).collect();
    let is_predicted = !matches!(state, CacheState::Cold(..)) && !known.is_empty();
    is_predicted.then(|| format!("failed {}", known.join(", ")))
}

/// Describes the state of the prompt in the cache for a line that may be shown for long before it is written again:
/// `cache until 14:58`, `cache cold`. Failures are part of it only where there were some in this session.
pub fn cache_in_short(cache: &PromptCache, state: CacheState, clock: &Clock) -> String {
    let CacheMisses { predicted, lost } = cache.here;
    match state {
        CacheState::Warm(until) if lost > 0 => {
            let until = clock.time(until);
            format!("cache until {until}, failed {lost} of {predicted}")
        }
        CacheState::Warm(until) => format!("cache until {}", clock.time(until)),
        CacheState::Open(_) => "cache ?".to_owned(),
        CacheState::Cold(..) => "cache cold".to_owned(),
    }
}

/// Returns the state of the prompt in the cache for a column: the minutes that are left, `cold`, or `?` where it may be
/// either.
pub fn cache_cell(state: CacheState, clock: &Clock) -> String {
    match state {
        CacheState::Warm(until) => clock.until(until),
        CacheState::Open(_) => "?".to_owned(),
        CacheState::Cold(..) => "cold".to_owned(),
    }
}

/// Describes the cost of the next request: `next request $0.24, cold $2.31`.
pub fn next_prompt(next: &NextPrompt, state: CacheState) -> String {
    let cost = |prompt: &model::due::prompt_cache::Prompt| match prompt.usd {
        Some(cost) => usd(cost),
        None => format!("{} uncached tokens", tokens(prompt.written)),
    };
    match state {
        CacheState::Cold(..) => format!("next request {}", cost(&next.cold)),
        _ => format!(
            "next request {}, cold {}",
            cost(&next.warm),
            cost(&next.cold)
        ),
    }
}
