//! The first records of a log as they are decoded: to try a mapping, or to see why a log is read as it is.

mod text;

use crate::output::json::document;
use crate::output::json::part::part;
use crate::session::{find_one, unreadable};
use crate::{Output, Page, ReportContext, Style};
use anyhow::{Context, Result};
use ingest::log::reader::first_records;
use model::Role;
use model::event::{Conversation, Entry, Event, Meta, NewItem, Usage};
use render::number::{tokens, usd};
use render::plan;
use serde::Serialize;
use std::collections::HashMap;
use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;
use tokens::Counter;

/// The records of a log as they were decoded.
#[derive(Default, Serialize)]
struct Records<'a> {
    /// The agent's id.
    agent: &'static str,
    /// The log's path.
    path: String,
    /// The content of the records, in the order of the log.
    records: Vec<Row<'a>>,
    /// The number of items.
    items: u64,
    /// The number of usage reports.
    usage_reports: u64,
    /// The number of records that were skipped.
    skipped: u64,
    /// The number of records of an unknown type.
    unknown: u64,
    /// The number of lines that could not be read.
    unreadable: u64,
    /// The number of sessions that the records belong to.
    sessions: usize,
}

/// One item or event of a record.
#[derive(Serialize)]
struct Row<'a> {
    /// The first line of the record, 1-based.
    line: u64,
    /// The kind of its event: `item`, `usage`, `compaction`.
    event: &'static str,
    /// More about it, in words.
    #[serde(skip_serializing_if = "String::is_empty")]
    detail: String,
    /// The item, if it is one.
    #[serde(flatten)]
    item: Option<ItemPart<'a>>,
}

part! { ItemPart<'a>(item: &'a NewItem) {
    role: Role = item.role,
    kind: &'static str = item.kind.name(),
    tool: Option<&'a str> = item.tool.as_deref(),
    // As counted here.
    tokens: u64 = u64::from(item.size.local) + u64::from(item.size.fixed),
    preview: &'a str = &item.preview,
}}

impl Output for Records<'_> {
    fn text(&self, page: &mut Page<'_>) -> io::Result<()> {
        text::write(page, self)
    }

    fn json(&self, out: &mut dyn Write) -> Result<()> {
        document(out, "ctxgauge.check/1", self)
    }
}

/// Prints how the first records of a log, at most `limit`, are decoded.
///
/// # Errors
///
/// If the file cannot be read or is no log of a known format, or `out` cannot be written to.
pub fn run(
    context: &ReportContext,
    path: &Path,
    limit: usize,
    style: Style,
    out: &mut dyn Write,
) -> Result<()> {
    let log = find_one(context, path, None)?;
    let entries = first_records(&log, &Counter::new(), limit).with_context(|| unreadable(&log))?;
    let mut records = Records {
        agent: log.format.id,
        path: log.facts.path.display().to_string(),
        ..Records::default()
    };
    let mut ids: HashMap<Conversation, String> = HashMap::new();
    let mut conversation = Conversation::Main;
    for entry in &entries {
        let line = entry.place.line();
        if let Event::Meta(meta) = &entry.event {
            ids.extend(
                meta.id
                    .as_deref()
                    .map(|id| (entry.conversation, id.to_owned())),
            );
        } else if conversation != entry.conversation {
            let id = ids
                .get(&entry.conversation)
                .map_or("another", String::as_str);
            records.push(line, "continues session", id.to_owned());
        }
        conversation = entry.conversation;
        records.add(line, entry);
    }
    records.sessions = ids.len();
    style.print(&records, out)
}

impl<'a> Records<'a> {
    fn push(&mut self, line: u64, event: &'static str, detail: String) {
        self.records.push(Row {
            line,
            event,
            detail,
            item: None,
        });
    }

    fn add(&mut self, line: u64, entry: &'a Entry) {
        let (event, detail) = match &entry.event {
            Event::Node(node) => {
                self.items += node.items.len() as u64;
                self.records.extend(node.items.iter().map(|item| Row {
                    line,
                    event: "item",
                    detail: String::new(),
                    item: Some(ItemPart::new(item)),
                }));
                return;
            }
            Event::Meta(meta) => ("session", facts(meta)),
            Event::Usage(usage) => {
                self.usage_reports += 1;
                ("usage", numbers(usage))
            }
            Event::Billed { .. } => ("cost", "of a response outside the conversation".to_owned()),
            Event::OwnCost { nanodollars, .. } => {
                ("the agent's own cost", usd(*nanodollars as f64 / 1e9))
            }
            Event::PlanLimits(limits) => {
                let limits: Vec<String> = limits.iter().map(plan::one).collect();
                ("limits of the plan", limits.join(", "))
            }
            Event::Reset(_) => ("compaction", "earlier items removed".to_owned()),
            Event::ResetPostponed => (
                "compaction",
                "takes effect after the next request".to_owned(),
            ),
            Event::LeftOut(left_out) => (
                "history",
                format!("{} left out of each prompt", tokens(*left_out)),
            ),
            Event::ResetCause(cause) => ("compaction", format!("its cause: {}", cause.name())),
            Event::Retain { .. } => ("history", "items that are not in it removed".to_owned()),
            Event::BeginningMissing => ("history", "its beginning is in another log".to_owned()),
            Event::Requested { cache_minutes } => (
                "request",
                match cache_minutes {
                    Some(minutes) => format!("kept in the cache for {minutes} min"),
                    None => "sent".to_owned(),
                },
            ),
            Event::TurnOver => ("turn", "over: it waits for the user".to_owned()),
            Event::CacheRenewed => ("request", "renewed the cache".to_owned()),
            Event::PromptsLogged => ("prompts", "the log has all of them from here on".to_owned()),
            Event::Leaf { .. } | Event::Rollback { .. } => {
                ("branch", "continues from an earlier record".to_owned())
            }
            Event::Sent { .. } => ("request", "holds other items than the records".to_owned()),
            Event::Cleared { .. } => ("cleared", "contents removed".to_owned()),
            Event::Skipped(why) => {
                self.skipped += 1;
                ("skipped", why.to_string())
            }
            Event::Unknown(kind) => {
                self.unknown += 1;
                ("unknown type", kind.to_string())
            }
            Event::Lost(field) => ("field of an unexpected type", (*field).to_owned()),
            Event::UnreadableUsage => ("unreadable usage", "not all of it used".to_owned()),
            Event::Damaged => ("damaged line", "some bytes are no text".to_owned()),
            Event::Unreadable(why) => {
                self.unreadable += 1;
                ("unreadable", why.to_string())
            }
        };
        self.push(line, event, detail);
    }
}

fn facts(meta: &Meta) -> String {
    let size = |n: Option<u64>| n.map(|n| tokens(n).into_boxed_str());
    named([
        ("id", meta.id.clone()),
        ("parent", meta.parent.clone()),
        ("title", meta.title.clone()),
        ("cwd", meta.cwd.clone()),
        ("model", meta.model.clone()),
        ("provider", meta.provider.clone()),
        ("version", meta.version.clone()),
        ("window", size(meta.window)),
        ("trigger", size(meta.trigger)),
    ])
}

fn numbers(usage: &Usage) -> String {
    named([
        ("prompt", Some(usage.prompt)),
        ("cached", Some(usage.cached)),
        ("output", usage.output),
        ("reasoning", usage.reasoning),
    ])
}

/// Returns the values that are known, each after its name.
fn named<V: Display, const N: usize>(values: [(&str, Option<V>); N]) -> String {
    let known: Vec<String> = values
        .into_iter()
        .filter_map(|(name, value)| Some(format!("{name} {}", value?)))
        .collect();
    known.join(", ")
}
