//! Chooses the items of a session that are listed: the filter and the sort.

use super::App;
use super::filter::{Condition, Fact, Name};
use model::cost::tools::server_of;
use model::lists::sessions::contains;
use model::session::Item;
use model::{Kind, Role, Source};
use std::borrow::Cow;
use std::collections::BTreeSet;
use strum::{EnumIter, EnumString, IntoStaticStr};

/// An item, across rereads of its log: offset of its line, place among the line's items, kind.
pub type ItemId = (u64, u32, Kind);

/// Returns an item's identity.
pub(super) fn item_id(item: &Item) -> ItemId {
    (item.place.id(), item.nth, item.kind)
}

/// The order of the items.
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
    /// Returns its name on screen.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The items that are listed.
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

/// An item and the other facts that a filter tests.
pub(super) struct Facts<'a> {
    pub(super) item: &'a Item,
    /// The subject of a result's call; it is computed on demand.
    pub(super) subject: &'a dyn Fn() -> Cow<'a, str>,
    pub(super) tokens: u64,
    /// The trigger or, where none is known, the window, in tokens.
    pub(super) end: u64,
    pub(super) source: Source,
    pub(super) in_context: bool,
    pub(super) oversized: bool,
    pub(super) marked: bool,
}

impl Facts<'_> {
    /// Returns true if they meet these conditions.
    pub(super) fn meet(&self, conditions: &[Condition]) -> bool {
        let (item, tool) = (self.item, self.item.tool.as_deref().unwrap_or(""));
        conditions.iter().all(|condition| match condition {
            Condition::Named(name, value) => self.are_named(*name, value, tool),
            Condition::Is(fact) => self.are(*fact),
            Condition::Size(order, size) => size.compares(*order, self.tokens, self.end),
            Condition::Text(text) => {
                contains(&(self.subject)(), text)
                    || contains(tool, text)
                    || contains(item.kind.name(), text)
                    || contains(&item.preview, text)
            }
        })
    }

    fn are(&self, fact: Fact) -> bool {
        match fact {
            Fact::InContext => self.in_context,
            Fact::Left => !self.in_context,
            Fact::Oversized => self.oversized,
            Fact::Marked => self.marked,
            Fact::Estimated => self.source == Source::Estimated,
            Fact::Live | Fact::Needs | Fact::Near | Fact::Compacted => true,
        }
    }

    fn are_named(&self, name: Name, value: &str, tool: &str) -> bool {
        match name {
            Name::Role => self.item.role.name().starts_with(value),
            Name::Tool => contains(tool, value),
            Name::Server => server_of(tool).is_some_and(|server| contains(server, value)),
            Name::Source => self.source.name().starts_with(value),
            Name::Kind => contains(self.item.kind.name(), value),
            Name::In => self.in_context || value != "context",
            Name::Agent | Name::Model | Name::Project | Name::Host | Name::Title => true,
        }
    }
}

impl App {
    /// Returns the values that the items of the session on screen have of a name, to complete it.
    pub(super) fn values_of_items(&self, name: Name) -> Vec<String> {
        let names: Vec<&str> = match name {
            Name::Role => Role::ALL.into_iter().map(Role::name).collect(),
            Name::Source => Source::ALL.iter().copied().map(Source::name).collect(),
            Name::In => vec!["context"],
            _ => {
                let session = self.page().and_then(|page| self.sessions.get(page.key));
                let items = session.into_iter().flat_map(|session| session.items());
                let value = |item: &Item| match name {
                    Name::Tool => item.tool.as_deref().map(str::to_owned),
                    Name::Server => item.tool.as_deref().and_then(server_of).map(str::to_owned),
                    Name::Kind => Some(item.kind.name().to_owned()),
                    _ => None,
                };
                let values: BTreeSet<String> = items.filter_map(value).collect();
                return values.into_iter().collect();
            }
        };
        names.into_iter().map(str::to_owned).collect()
    }
}
