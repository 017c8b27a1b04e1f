//! The tables: their columns, and the rows of a session.

mod compactions;
mod items;
mod requests;
mod sessions;

use super::cell::{Cell, Column};
use super::once::{Once, everywhere};
use crate::ls::{Cost, PriceList, Responses, Spending};
use crate::output::names::joined_by;
use anyhow::Result;
use ingest::log::LogFile;
use jiff::Timestamp;
use model::cost::texts::Texts;
use model::event::{Conversation, Key};
use model::lists::sessions::{SessionKey, Sessions};
use model::session::Session;
use model::values::project::Projects;
use model::window::ModelAt;
use std::borrow::Cow;
use std::collections::HashMap;
use strum::{IntoStaticStr, VariantArray};

/// Defines a table by its columns, each with its type, its value and what it is: `COLUMNS`, and `cells` that gives the
/// cells of a row.
macro_rules! table {
    (($($arg:ident: $type:ty),* $(,)?) { $($name:ident: $kind:ident = $value:expr, $about:literal;)* }) => {
        /// Its columns.
        pub(super) const COLUMNS: &[$crate::export::cell::Column] = &[$($crate::export::cell::Column {
            name: stringify!($name),
            kind: $crate::export::cell::Kind::$kind,
            about: $about,
        },)*];

        fn cells<'a>($($arg: $type),*) -> Vec<$crate::export::cell::Cell<'a>> {
            vec![$($value.into(),)*]
        }
    };
}
use table;

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Table {
    /// A row for each session.
    Sessions,
    /// A row for each request.
    Requests,
    /// A row for each item.
    Items,
    /// A row for each compaction or clear.
    Compactions,
}

/// Returns the names of the surcharges that a price does not contain; `None`: it contains all.
fn lacking(of: &Spending) -> Option<Cow<'static, str>> {
    (!of.lacking.is_empty()).then(|| of.lacking.names().join(", ").into())
}

/// Takes a row: its time, and its cells.
pub(super) type Take<'t> = dyn FnMut(Option<Timestamp>, &[Cell<'_>]) -> Result<()> + 't;

impl Table {
    /// All tables.
    pub const ALL: &'static [Table] = Table::VARIANTS;

    /// Returns its name.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns its name with the version of its columns. The version changes when a column is removed or gets another
    /// meaning.
    pub fn schema(self) -> String {
        format!("ctxgauge.{}/1", self.name())
    }

    /// Returns its columns, in order. New columns may be added at the end.
    pub fn columns(self) -> &'static [Column] {
        match self {
            Table::Sessions => sessions::COLUMNS,
            Table::Requests => requests::COLUMNS,
            Table::Items => items::COLUMNS,
            Table::Compactions => compactions::COLUMNS,
        }
    }

    /// Returns true if its rows need the costs of responses.
    pub(super) fn needs_responses(self) -> bool {
        matches!(self, Table::Sessions | Table::Requests)
    }

    /// Gives the rows of a session.
    pub(super) fn rows(self, of: &SessionRows<'_>, take: &mut Take<'_>) -> Result<()> {
        match self {
            Table::Sessions => sessions::rows(of, take),
            Table::Requests => requests::rows(of, take),
            Table::Items => items::rows(of, take),
            Table::Compactions => compactions::rows(of, take),
        }
    }
}

/// The source of the rows of a log's sessions.
pub(super) struct LogRows<'a> {
    log: &'a LogFile,
    sessions: &'a Sessions,
    /// The projects of all logs.
    projects: &'a Projects,
    /// The responses of each session, with what they cost: in the order of their times.
    responses: HashMap<Conversation, Vec<Response<'a>>>,
    /// The agent's own count of the cost of each session, in billionths of a US dollar.
    own_costs: HashMap<Conversation, u64>,
    texts: Option<&'a Texts>,
}

/// A response of a session.
pub(super) struct Response<'a> {
    request: Key,
    /// Its key, which is equal in all logs that have it.
    everywhere: Key,
    cost: Cost,
    model: Option<ModelAt<'a>>,
    spending: Spending,
    /// True if an earlier log has it too.
    is_repeated: bool,
}

impl<'a> LogRows<'a> {
    pub(super) fn new(
        log: &'a LogFile,
        (sessions, projects): (&'a Sessions, &'a Projects),
        (responses, texts): (&'a Responses, Option<&'a Texts>),
        once: &'a Once,
        prices: &mut PriceList<'_>,
    ) -> LogRows<'a> {
        let mut by_conversation: HashMap<Conversation, Vec<Response<'a>>> = HashMap::new();
        for (request, cost) in responses.costs() {
            let everywhere = everywhere(log, request, &cost);
            let own = (cost, responses.model(&cost));
            let counted = once.of(log, everywhere, own);
            let conversation = cost.conversation;
            let (cost, model) = counted.unwrap_or(own);
            by_conversation
                .entry(conversation)
                .or_default()
                .push(Response {
                    request,
                    everywhere,
                    cost,
                    model,
                    spending: cost.spending(prices, log.format, model),
                    is_repeated: counted.is_none(),
                });
        }
        for responses in by_conversation.values_mut() {
            responses.sort_unstable_by_key(|response| (response.cost.at, response.request));
        }
        LogRows {
            log,
            sessions,
            projects,
            responses: by_conversation,
            own_costs: responses.own.iter().copied().collect(),
            texts,
        }
    }
}

/// The source of the rows of a session.
pub(super) struct SessionRows<'a> {
    log: &'a LogRows<'a>,
    session: &'a Session,
    key: SessionKey,
    /// The name by which the rows of all tables are joined.
    name: String,
}

impl<'a> SessionRows<'a> {
    pub(super) fn new(
        log: &'a LogRows<'a>,
        key: SessionKey,
        session: &'a Session,
    ) -> SessionRows<'a> {
        SessionRows {
            log,
            session,
            key,
            name: joined_by(&log.log.facts, key.conversation),
        }
    }

    /// Returns its responses.
    fn responses(&self) -> &'a [Response<'a>] {
        self.log
            .responses
            .get(&self.key.conversation)
            .map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn columns_have_names_that_every_program_takes() {
        for &table in Table::ALL {
            let mut names = BTreeSet::new();
            for column in table.columns() {
                let is_plain = |c: char| c.is_ascii_lowercase() || c == '_';
                assert!(column.name.chars().all(is_plain), "{}", column.name);
                assert!(names.insert(column.name), "{} twice", column.name);
                assert!(
                    column.about.ends_with('.'),
                    "{}: {}",
                    column.name,
                    column.about
                );
            }
            assert!(names.contains("session") && names.contains("agent"));
        }
    }
}
