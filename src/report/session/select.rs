//! Selects a session by a word: its id, the beginning of it, its name or its title.

use anyhow::{Result, bail};
use jiff::Timestamp;
use model::lists::sessions::{SessionKey, Sessions};
use render::number::age;
use render::text::{cut, inert, one_line};
use render::{NONE, or_none};
use std::collections::HashSet;

/// The most sessions that are listed where several match.
const LISTED_SESSIONS: usize = 8;
/// The most columns of a title in that list.
const TITLE_COLUMNS: usize = 48;

/// How well a word matches a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    /// A part of its name, title or id.
    Part,
    /// Its whole name or title.
    WholeName,
}

/// Returns the session with this id or, of the sessions that the word matches best, the only one that is no sub-agent.
/// A sub-agent has the name of its session as a rule, so a name means it only if no other session matches.
///
/// # Errors
///
/// If none matches, or several do: their titles, ages and ids.
pub(super) fn select(
    sessions: &Sessions,
    keys: impl Iterator<Item = SessionKey>,
    (place, wanted): (&str, &str),
    now: Timestamp,
) -> Result<SessionKey> {
    let word = wanted.trim().to_lowercase();
    let rows = sessions.recent().into_iter();
    let below: HashSet<SessionKey> = rows
        .filter(|row| row.depth > 0)
        .map(|row| row.key)
        .collect();
    let mut matching: Vec<((bool, Match), SessionKey)> = Vec::new();
    for key in keys {
        let meta = sessions.gauge(key).map(|gauge| &gauge.meta);
        let id = meta.and_then(|meta| meta.id.as_deref());
        if id.is_some_and(|id| id.to_lowercase() == word) {
            return Ok(key);
        }
        let has_parent = meta.is_some_and(|meta| meta.parent.is_some());
        let is_main = !has_parent && !below.contains(&key);
        matching.extend(matches(sessions, key, &word).map(|how| ((is_main, how), key)));
    }
    let best = matching.iter().map(|(how, _)| *how).max();
    let best = matching.iter().filter(|(how, _)| Some(*how) == best);
    let chosen: Vec<SessionKey> = best.map(|(_, key)| *key).collect();
    match chosen[..] {
        [key] => Ok(key),
        [] => bail!("{place} has no session '{wanted}'; `ctxgauge ls` lists titles and ids"),
        _ => bail!(
            "{} sessions of {place} match '{wanted}'; give more of the title, or an id:\n{}",
            chosen.len(),
            listed(sessions, chosen, now)
        ),
    }
}

/// Compares a word, in lower case, with a session. `None`: it matches nothing of it.
fn matches(sessions: &Sessions, key: SessionKey, word: &str) -> Option<Match> {
    let id = sessions.gauge(key)?.meta.id.as_deref().unwrap_or_default();
    let id = id.to_lowercase();
    let title = sessions.title(key).map(|title| title.to_lowercase());
    let names = [Some(sessions.name(key).to_lowercase()), title];
    let mut names = names.iter().flatten();
    if names.clone().any(|name| name.trim() == word) {
        return Some(Match::WholeName);
    }
    let is_part = id.starts_with(word) || id.ends_with(word) || names.any(|it| it.contains(word));
    is_part.then_some(Match::Part)
}

/// Returns a line for each of these sessions, the newest first: its title, its age and its id, whole to be copied.
fn listed(sessions: &Sessions, mut keys: Vec<SessionKey>, now: Timestamp) -> String {
    keys.sort_by_key(|key| std::cmp::Reverse(sessions.activity_of(*key)));
    let mut lines: Vec<String> = Vec::new();
    for key in keys.iter().take(LISTED_SESSIONS) {
        let title = sessions.title(*key);
        let title = title.map_or_else(|| sessions.name(*key), |title| title.into_owned());
        let title = cut(&one_line(&title), TITLE_COLUMNS);
        let at = sessions.activity_of(*key);
        let ago = at.map(|at| age(now.duration_since(at).as_secs()));
        let id = sessions
            .gauge(*key)
            .and_then(|gauge| gauge.meta.id.as_deref());
        let id = inert(id.unwrap_or(NONE)).into_owned();
        lines.push(format!("{:>4}  {id}  {title}", or_none(ago)));
    }
    let more = keys.len().saturating_sub(LISTED_SESSIONS);
    if more > 0 {
        lines.push(format!("      and {more} more"));
    }
    lines.join("\n")
}
