//! The user's own windows and policies. They outrank everything else.

use super::policy::part;
use super::{LimitInputs, matches};
use crate::values::threshold::Tokens;
use serde::Deserialize;

/// The largest accepted number of tokens: no window is larger.
const MOST_TOKENS: u64 = 1_000_000_000;

/// The user's windows and policies; the first that matches a session holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Custom {
    /// Windows.
    pub windows: Vec<CustomWindow>,
    /// Policies.
    pub policies: Vec<CustomPolicy>,
}

/// The sessions that a row is for; a missing field matches all. `*` matches any text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowSelector {
    /// The agent's id.
    pub agent: Option<String>,
    /// The model's id.
    pub model: Option<String>,
    /// The session's id.
    pub session: Option<String>,
}

/// A window that the user has set.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Row")]
pub struct CustomWindow {
    /// The sessions it is for.
    pub which: RowSelector,
    /// The window, in tokens.
    pub tokens: u64,
}

/// A compaction rule that the user has set.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Row")]
pub struct CustomPolicy {
    /// The sessions it is for.
    pub which: RowSelector,
    /// The rule.
    pub rule: Rule,
}

/// A rule for agents and frameworks that have none in the models table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rule {
    /// It compacts at a share of the window, above 0 and up to 1.
    Share(f64),
    /// It compacts at this many tokens, or at the window where that is smaller.
    Budget(u64),
    /// By the number of messages: at more than `keep` + `over`, all but `keep` are summarised. It has no
    /// trigger in tokens.
    Messages {
        /// Messages that stay.
        keep: u64,
        /// The number of messages that may come before it fires.
        over: u64,
    },
    /// The oldest messages are dropped until the context fits this many tokens, or the window.
    DropOldest(Option<u64>),
    /// It never compacts by itself.
    Never,
}

impl RowSelector {
    fn fits(&self, seen: &LimitInputs<'_>) -> bool {
        let fits = |pattern: &Option<String>, id: Option<&str>| {
            pattern
                .as_deref()
                .is_none_or(|pattern| id.is_some_and(|id| matches(pattern, id)))
        };
        fits(&self.agent, Some(seen.agent))
            && fits(&self.model, seen.model)
            && fits(&self.session, seen.session)
    }
}

impl Custom {
    pub(super) fn window(&self, seen: &LimitInputs<'_>) -> Option<u64> {
        let row = self.windows.iter().find(|row| row.which.fits(seen));
        row.map(|row| row.tokens)
    }

    /// Returns the agents that rows name, without patterns.
    pub fn agents_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let windows = self.windows.iter_mut().map(|row| &mut row.which);
        let all = windows.chain(self.policies.iter_mut().map(|row| &mut row.which));
        all.filter_map(|which| which.agent.as_mut())
            .filter(|agent| !agent.contains('*'))
    }

    /// Returns the rule of a session.
    pub(crate) fn rule(&self, seen: &LimitInputs<'_>) -> Option<Rule> {
        let row = self.policies.iter().find(|row| row.which.fits(seen));
        row.map(|row| row.rule)
    }
}

impl Rule {
    /// Returns the size at which it fires; `None`: it does not depend on the size.
    pub fn trigger(self, window: u64) -> Option<u64> {
        match self {
            Rule::Share(share) => Some(part(window, share)),
            Rule::Budget(tokens) => Some(tokens.min(window)),
            Rule::DropOldest(tokens) => Some(tokens.unwrap_or(window).min(window)),
            Rule::Messages { .. } | Rule::Never => None,
        }
    }

    /// Returns the rule's name, as reports write it.
    pub fn name(self) -> String {
        match self {
            Rule::Share(share) if share >= 1.0 => "at the limit".to_owned(),
            Rule::Share(share) => format!("{share} of the window"),
            Rule::Budget(tokens) => format!("at {tokens} tokens"),
            Rule::Messages { keep, over } => {
                format!(
                    "at more than {} messages, keeps {keep}",
                    keep.saturating_add(over)
                )
            }
            Rule::DropOldest(_) => "drops the oldest until it fits".to_owned(),
            Rule::Never => "never by itself".to_owned(),
        }
    }
}

/// A row of either table in the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    agent: Option<String>,
    model: Option<String>,
    session: Option<String>,
    tokens: Option<Tokens>,
    share: Option<f64>,
    messages: Option<Messages>,
    drop_oldest: Option<bool>,
    never: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Messages {
    keep: u64,
    over: u64,
}

impl TryFrom<Row> for CustomWindow {
    type Error = &'static str;

    fn try_from(row: Row) -> Result<CustomWindow, Self::Error> {
        match row {
            Row {
                tokens: Some(Tokens(tokens @ 1..=MOST_TOKENS)),
                share: None,
                messages: None,
                drop_oldest: None,
                never: None,
                ..
            } => Ok(CustomWindow {
                which: row.which(),
                tokens,
            }),
            _ => Err(
                "a [[window]] has `tokens`, above 0 and up to 1,000,000,000, and beside it only `agent`, `model`, `session`",
            ),
        }
    }
}

impl TryFrom<Row> for CustomPolicy {
    type Error = &'static str;

    fn try_from(row: Row) -> Result<CustomPolicy, Self::Error> {
        let drops = row.drop_oldest == Some(true);
        let never = row.never == Some(true);
        let tokens = row.tokens.map(|tokens| tokens.0);
        let rule = match (row.share, tokens, &row.messages, drops, never) {
            (Some(share), None, None, false, false) if share > 0.0 && share <= 1.0 => {
                Rule::Share(share)
            }
            (Some(_), None, None, false, false) => {
                return Err(
                    "the `share` of a [[policy]] is above 0 and up to 1: 0.8 is 80 % of the window",
                );
            }
            (None, Some(0), ..) => return Err("the `tokens` of a [[policy]] are above 0"),
            (None, Some(tokens), None, false, false) => Rule::Budget(tokens),
            (None, None, Some(messages), false, false) => Rule::Messages {
                keep: messages.keep,
                over: messages.over,
            },
            (None, tokens, None, true, false) => Rule::DropOldest(tokens),
            (None, None, None, false, true) => Rule::Never,
            _ => {
                return Err(
                    "a [[policy]] has one rule: `share`, `tokens`, `messages`, `never = true`, \
                     or `drop_oldest = true` with or without `tokens`",
                );
            }
        };
        let which = row.which();
        Ok(CustomPolicy { which, rule })
    }
}

impl Row {
    fn which(self) -> RowSelector {
        RowSelector {
            agent: self.agent,
            model: self.model,
            session: self.session,
        }
    }
}
