//! Rebuilt caches in words.

use super::number::{counted, short, tokens, usd};
use super::text::inert;
use model::cost::rebuilds::{Rebuild, RebuildCause};
use model::event::MissCause;
use std::borrow::Cow;

/// Returns the cause: `tools changed`.
pub fn cause(rebuild: &Rebuild) -> Cow<'_, str> {
    let words = match &rebuild.cause {
        RebuildCause::Logged(MissCause::Other(name)) => return inert(name),
        RebuildCause::Logged(MissCause::NotFound) if !rebuild.is_expired => {
            "previous message not found"
        }
        RebuildCause::Logged(MissCause::NotFound) | RebuildCause::Expired => "expired",
        RebuildCause::Logged(MissCause::Tools) => "tools changed",
        RebuildCause::Logged(MissCause::System) => "system prompt changed",
        RebuildCause::Logged(MissCause::Messages) => "messages changed",
        RebuildCause::Logged(MissCause::Model) | RebuildCause::ModelSwitched => "model switched",
        RebuildCause::Logged(MissCause::Unavailable) => "cause unavailable",
        RebuildCause::NotStated => "cause not stated",
    };
    words.into()
}

/// Describes one: `cache rebuilt: tools changed, 211k, $4.02`.
pub fn one(rebuild: &Rebuild) -> String {
    one_of(rebuild, &cause(rebuild))
}

/// Describes one whose cause has these words.
pub fn one_of(rebuild: &Rebuild, cause: &str) -> String {
    let cost = rebuild.usd.map(|cost| format!(", {}", usd(cost)));
    let size = short(rebuild.tokens);
    let changed = match rebuild.tools {
        [0, 0] => String::new(),
        [added, removed] => format!(" (+{added} -{removed})"),
    };
    format!(
        "cache rebuilt: {cause}{changed}, {size}{}",
        cost.unwrap_or_default()
    )
}

/// Describes those of a session, with how often each cause was; `None`: there are none.
pub fn all(rebuilds: &[Rebuild]) -> Option<String> {
    if rebuilds.is_empty() {
        return None;
    }
    let mut causes: Vec<(Cow<'_, str>, u64)> = Vec::new();
    for cause in rebuilds.iter().map(cause) {
        match causes.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, times)) => *times += 1,
            None => causes.push((cause, 1)),
        }
    }
    causes.sort_by_key(|(_, times)| std::cmp::Reverse(*times));
    let others = causes.len().saturating_sub(MOST_CAUSES);
    let listed = causes.iter().take(MOST_CAUSES);
    let mut causes: Vec<String> = listed.map(|(cause, n)| format!("{cause} {n}")).collect();
    if others > 0 {
        causes.push(counted(others as u64, "other cause"));
    }
    let sum = rebuilds.iter().map(|it| it.tokens);
    let cost: Option<f64> = rebuilds.iter().map(|it| it.usd).sum();
    let cost = cost.map(|cost| format!(", {} more than from the cache", usd(cost)));
    Some(format!(
        "rebuilt its prompt cache {}: {} tokens read anew{} ({})",
        counted(rebuilds.len() as u64, "time"),
        tokens(sum.fold(0, u64::saturating_add)),
        cost.unwrap_or_default(),
        causes.join(", ")
    ))
}

/// The most causes that are listed: a log may name any number.
const MOST_CAUSES: usize = 6;
