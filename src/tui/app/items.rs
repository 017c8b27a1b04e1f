//! Which items of a session are listed: the filter and the sort.

use model::session::Item;
use model::threshold::parse_tokens;
use model::{Role, Source};
use std::borrow::Cow;
use strum::{EnumIter, EnumString, IntoStaticStr};

/// What the items are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ItemSort {
    /// The largest first.
    #[default]
    Tokens,
    /// The newest first.
    Newest,
    /// The most expensive so far first: tokens × requests that included it.
    Carried,
}

impl ItemSort {
    /// Its name on screen.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Which items are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumIter, EnumString, IntoStaticStr)]
pub enum ShownItems {
    /// Those in the context.
    #[default]
    #[strum(serialize = "")]
    InContext,
    /// Those that have left it too.
    #[strum(serialize = "all")]
    All,
}

/// One condition of a filter.
#[derive(Debug, Clone, PartialEq)]
enum Condition {
    Role(Role),
    Tool(String),
    Source(Source),
    InContext,
    Left,
    Over(u64),
    Oversized,
    Repeated,
    Marked,
    Text(String),
}

/// A filter of items, word by word: `role:tool`, `tool:Bash`, `source:estimated`, `in`, `out`, `>5k`,
/// `oversized`, `again`, `marked`, or any text of the item's tool, kind or preview. All words must match.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct ItemFilter(Vec<Condition>);

/// What a filter tests, in addition to the item itself.
pub(super) struct Facts<'a> {
    /// What a result's call was about; computed on demand.
    pub(super) subject: &'a dyn Fn() -> Cow<'a, str>,
    pub(super) tokens: u64,
    pub(super) source: Source,
    pub(super) in_context: bool,
    pub(super) oversized: bool,
    pub(super) repeated: bool,
    pub(super) marked: bool,
}

impl ItemFilter {
    /// Reads what was typed. A word that is no condition is text.
    pub(super) fn parse(typed: &str) -> ItemFilter {
        ItemFilter(typed.split_whitespace().map(condition).collect())
    }

    /// Whether an item passes.
    pub(super) fn passes(&self, item: &Item, facts: &Facts<'_>) -> bool {
        let tool = item.tool.as_deref().unwrap_or("");
        self.0.iter().all(|condition| match condition {
            Condition::Role(role) => item.role == *role,
            Condition::Tool(name) => contains(tool, name),
            Condition::Source(source) => facts.source == *source,
            Condition::InContext => facts.in_context,
            Condition::Left => !facts.in_context,
            Condition::Over(least) => facts.tokens >= *least,
            Condition::Oversized => facts.oversized,
            Condition::Repeated => facts.repeated,
            Condition::Marked => facts.marked,
            Condition::Text(text) => {
                contains(&(facts.subject)(), text)
                    || contains(tool, text)
                    || contains(item.kind.name(), text)
                    || contains(&item.preview, text)
            }
        })
    }

    /// Whether it selects items that have left the context.
    pub(super) fn asks_for_left(&self) -> bool {
        self.0.contains(&Condition::Left)
    }
}

fn condition(word: &str) -> Condition {
    let lower = word.to_lowercase();
    let named = match lower.split_once(':') {
        Some(("role", name)) => Role::ALL
            .into_iter()
            .find(|role| !name.is_empty() && role.name().starts_with(name))
            .map(Condition::Role),
        Some(("tool", name)) => Some(Condition::Tool(name.to_owned())),
        Some(("source", name)) => source(name).map(Condition::Source),
        Some(("in", "context")) => Some(Condition::InContext),
        Some(_) => None,
        None => match lower.as_str() {
            "in" => Some(Condition::InContext),
            "out" | "left" => Some(Condition::Left),
            "oversized" => Some(Condition::Oversized),
            "again" => Some(Condition::Repeated),
            "marked" => Some(Condition::Marked),
            _ => lower
                .strip_prefix('>')
                .and_then(parse_tokens)
                .map(Condition::Over),
        },
    };
    named.unwrap_or(Condition::Text(lower))
}

fn source(name: &str) -> Option<Source> {
    let all = [
        Source::Reported,
        Source::Derived,
        Source::Shared,
        Source::Agent,
        Source::Estimated,
    ];
    all.into_iter()
        .find(|source| !name.is_empty() && source.name().starts_with(name))
}

/// Whether a text contains another, which is in lower case; ignores case.
pub(super) fn contains(text: &str, lower: &str) -> bool {
    lower.is_empty() || text.to_lowercase().contains(lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_conditions() {
        let filter =
            ItemFilter::parse("role:tool tool:Bash >5k again needle source:est out role:x");
        assert_eq!(
            filter.0,
            [
                Condition::Role(Role::Tool),
                Condition::Tool("bash".into()),
                Condition::Over(5_000),
                Condition::Repeated,
                Condition::Text("needle".into()),
                Condition::Source(Source::Estimated),
                Condition::Left,
                Condition::Text("role:x".into()),
            ]
        );
        assert_eq!(ItemFilter::parse("  "), ItemFilter::default());
    }
}
