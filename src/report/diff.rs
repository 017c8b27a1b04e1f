//! Compares two sessions, or two moments of one.

mod document;
mod json;
mod parts;
mod side;

use crate::output::json::document;
use crate::output::redact::OmittedCounts;
use crate::session::SessionRequest;
use crate::{Document, Output, ReportContext, Style};
use anyhow::Result;
pub use parts::{Amount, Part, Row};
pub use side::Side;
use std::collections::BTreeMap;
use std::io::Write;

/// A session, and the moment of it that is compared.
#[derive(Debug, Clone, Copy)]
pub struct SessionMoment<'a> {
    /// The session.
    pub asked: SessionRequest<'a>,
    /// The session as of the report of this request, counted from 1; `None`: as it is now.
    pub request: Option<usize>,
}

/// The subject of the first line, which is compared first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffSubject {
    /// The first requests of two sessions.
    FirstRequest,
    /// The contexts.
    Context,
}

/// The differences. The texts are those of the logs: not safe to print.
pub struct Diff {
    /// The one that is compared with.
    pub before: Side,
    /// The other one.
    pub after: Side,
    /// The subject of the first line.
    pub about: DiffSubject,
    /// True if one side is of a moment. The first requests are then not compared.
    pub is_of_moment: bool,
    /// The parts of the first prompt.
    pub first: Vec<Row>,
    /// The parts of the context by role.
    pub roles: Vec<Row>,
    /// The results of each tool, in the context or not.
    pub tools: Vec<Row>,
    /// The size of each MCP server in the context: definitions and results.
    pub servers: Vec<Row>,
    /// The items in the context that differ.
    pub items: Vec<Row>,
    /// The most items of each kind of change that people see.
    pub most_items: usize,
    /// The counts of what was left out; `None`: texts are shown.
    pub left_out: Option<OmittedCounts>,
}

impl Diff {
    fn of(before: Side, after: Side, most_items: usize, left_out: Option<OmittedCounts>) -> Diff {
        let rows = |of: fn(&Side) -> &BTreeMap<Part, Amount>| parts::rows(&before, &after, of);
        let mut items = rows(|side| &side.items);
        items.retain(|row| row.change() != 0);
        let is_of_moment = before.request.or(after.request).is_some();
        let about = match (before.first, after.first) {
            (Some(was), Some(is)) if was != is && !is_of_moment => DiffSubject::FirstRequest,
            _ => DiffSubject::Context,
        };
        Diff {
            about,
            is_of_moment,
            first: rows(|side| &side.first_parts),
            roles: rows(|side| &side.roles),
            tools: rows(|side| &side.tools),
            servers: rows(|side| &side.servers),
            items,
            most_items,
            left_out,
            before,
            after,
        }
    }

    /// Returns the row that explains most of the change in the first line: the largest change in the same direction.
    pub fn cause(&self) -> Option<&Row> {
        let (change, rows): (i64, Vec<&Row>) = match self.about {
            DiffSubject::FirstRequest => {
                let size = |side: &Side| side.first.unwrap_or_default();
                let change = parts::change(size(&self.before), size(&self.after));
                (change, self.first.iter().collect())
            }
            DiffSubject::Context => {
                let change = parts::change(self.before.context.used, self.after.context.used);
                // Results of tools are named by their tool.
                let others = self.roles.iter().filter(|row| row.part.name != "tool");
                let tools = self.tools.iter().filter(|row| row.part.server.is_none());
                (change, others.chain(tools).chain(&self.servers).collect())
            }
        };
        let of_direction = rows
            .into_iter()
            .filter(|row| row.change() != 0 && (change == 0 || (row.change() < 0) == (change < 0)));
        of_direction.max_by_key(|row| row.change().unsigned_abs())
    }
}

impl Output for Diff {
    fn document(&self) -> Option<Document> {
        Some(document::document(self))
    }

    fn json(&self, out: &mut dyn Write) -> Result<()> {
        document(out, "ctxgauge.diff/1", json::Body::new(self))
    }
}

/// Compares two sessions, or two moments of one.
///
/// # Errors
///
/// If one of them is not found or cannot be read, has no such request, or `out` cannot be written to.
pub fn run(
    context: &ReportContext,
    [before, after]: [SessionMoment<'_>; 2],
    most_items: usize,
    style: Style,
    out: &mut dyn Write,
) -> Result<()> {
    let before = Side::read(context, before)?;
    let after = Side::read(context, after)?;
    let diff = Diff::of(before, after, most_items, context.left_out());
    style.print(&diff, out)
}
