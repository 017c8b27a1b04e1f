//! The items of a session: which of them are listed, in which order.

use super::Direction;
use crate::model::calls::Calls;
use crate::model::carried::Carried;
use crate::model::repeats::Repeats;
use crate::model::session::SizedItem;
use crate::model::session::{Item, ItemIx, Session};
use crate::model::threshold::{Threshold, parse_tokens};
use crate::model::{Role, Source};
use std::borrow::Cow;
use std::cmp::Reverse;

/// What the items are ordered by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ItemSort {
    /// The largest first.
    #[default]
    Tokens,
    /// The newest first.
    Newest,
    /// What cost most so far first: tokens × requests that took it along.
    Carried,
}

impl ItemSort {
    /// All orders.
    pub const ALL: [ItemSort; 3] = [ItemSort::Tokens, ItemSort::Newest, ItemSort::Carried];

    /// The order's word on screen.
    pub const fn name(self) -> &'static str {
        match self {
            ItemSort::Tokens => "tokens",
            ItemSort::Newest => "newest",
            ItemSort::Carried => "carried",
        }
    }

    /// The order after this one.
    #[must_use]
    pub const fn next(self) -> ItemSort {
        match self {
            ItemSort::Tokens => ItemSort::Newest,
            ItemSort::Newest => ItemSort::Carried,
            ItemSort::Carried => ItemSort::Tokens,
        }
    }
}

/// Which items a session's screen lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ShownItems {
    /// Those in the context.
    #[default]
    InContext,
    /// All, those that have left too.
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

/// What is typed to filter items, word by word: `role:tool`, `tool:Bash`, `source:estimated`, `in`, `out`,
/// `>5k`, `oversized`, `again`, `marked`, or any text of the item's tool, kind or beginning. All words
/// must hold.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ItemFilter(Vec<Condition>);

impl ItemFilter {
    /// Reads what was typed. A word that is no condition is text.
    pub fn parse(typed: &str) -> ItemFilter {
        ItemFilter(typed.split_whitespace().map(condition).collect())
    }

    /// Whether an item passes.
    fn passes(&self, item: &Item, tokens: u64, source: Source, about: &About<'_>) -> bool {
        self.0.iter().all(|condition| match condition {
            Condition::Role(role) => item.role == *role,
            Condition::Tool(tool) => contains(item.tool.as_deref().unwrap_or(""), tool),
            Condition::Source(wanted) => source == *wanted,
            Condition::InContext => about.in_context,
            Condition::Left => !about.in_context,
            Condition::Over(least) => tokens >= *least,
            Condition::Oversized => about.oversized,
            Condition::Repeated => about.repeated,
            Condition::Marked => about.marked,
            Condition::Text(text) => {
                contains(&(about.subject)(), text)
                    || contains(item.tool.as_deref().unwrap_or(""), text)
                    || contains(item.kind.name(), text)
                    || contains(&item.preview, text)
            }
        })
    }
}

/// What of an item its session tells.
struct About<'a> {
    /// What a result's call was about; looked for where somebody asks.
    subject: &'a dyn Fn() -> Cow<'a, str>,
    in_context: bool,
    oversized: bool,
    repeated: bool,
    marked: bool,
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

/// Whether a text contains another that is in lower case, whatever its own case.
pub(super) fn contains(text: &str, lower: &str) -> bool {
    lower.is_empty() || text.to_lowercase().contains(lower)
}

/// What decides on the list of items.
pub(super) struct Choice<'a> {
    pub shown: ShownItems,
    pub filter: &'a ItemFilter,
    pub sort: ItemSort,
    pub direction: Direction,
    pub oversized: Threshold,
    pub window: u64,
    pub repeats: &'a Repeats,
    pub calls: &'a Calls,
    pub is_marked: &'a dyn Fn(&Item) -> bool,
}

/// An item that is listed: which, its tokens and how they are known, what it has cost so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ListedItem {
    /// Its place in the session.
    pub ix: ItemIx,
    /// Its tokens, as of the moment on screen.
    pub tokens: u64,
    /// How they are known.
    pub source: Source,
    /// Tokens × requests that took it along.
    pub carried: u64,
    /// The least that this can have cost, in US dollars; `None`: the table has no price.
    pub usd: Option<f64>,
    /// Whether it is in the context.
    pub in_context: bool,
}

/// The items to list, in order. `items` are all there are as of the moment: those in the context first
/// told as `true`.
pub(super) fn list(
    session: &Session,
    requests: usize,
    items: impl Iterator<Item = (SizedItem, bool)>,
    choice: &Choice<'_>,
) -> Vec<ListedItem> {
    let carried = Carried::by(session, requests);
    let mut listed: Vec<ListedItem> = items
        .filter_map(|((ix, tokens, source), in_context)| {
            let item = session.items().get(ix)?;
            let about = About {
                subject: &|| choice.calls.subject(session, item).unwrap_or_default(),
                in_context,
                oversized: choice.oversized.is_reached(tokens, choice.window),
                repeated: choice.repeats.of.contains_key(&ix),
                marked: (choice.is_marked)(item),
            };
            let wanted =
                choice.shown == ShownItems::All || in_context || asks_for_left(choice.filter);
            (wanted && choice.filter.passes(item, tokens, source, &about)).then(|| ListedItem {
                ix,
                tokens,
                source,
                carried: carried.tokens(ix, tokens),
                usd: carried.usd(ix, tokens),
                in_context,
            })
        })
        .collect();
    match choice.sort {
        ItemSort::Tokens => listed.sort_by_key(|item| (Reverse(item.tokens), Reverse(item.ix))),
        ItemSort::Newest => listed.sort_by_key(|item| Reverse(item.ix)),
        ItemSort::Carried => listed.sort_by_key(|item| (Reverse(item.carried), Reverse(item.ix))),
    }
    if choice.direction == Direction::Reversed {
        listed.reverse();
    }
    listed
}

/// `out` asks for what is not in the context, whatever else is listed.
fn asks_for_left(filter: &ItemFilter) -> bool {
    filter.0.contains(&Condition::Left)
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
