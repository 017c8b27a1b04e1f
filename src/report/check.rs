//! What is understood of a log's first records, one by one: to try a mapping, or to see why a log
//! reads as it does.

use super::text::{clean, counted, tokens};
use super::{Ground, find_one};
use crate::ingest::reader::first_records;
use crate::model::event::{Entry, Event, Lane, Meta, Usage};
use crate::tokens::Counter;
use anyhow::{Context, Result};
use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;

/// What was told, by kind.
#[derive(Default)]
struct Sums {
    items: usize,
    usages: usize,
    skipped: usize,
    unreadable: usize,
}

/// Prints what the first `most` records of a log are understood to be.
///
/// # Errors
///
/// Where the file cannot be read or is no log of the formats that count, or `out` cannot be written to.
pub fn run(ground: &Ground, path: &Path, most: usize, out: &mut dyn Write) -> Result<()> {
    let log = find_one(ground, path)?;
    let entries = first_records(&log, &Counter::new(), most).with_context(|| {
        format!(
            "cannot read '{}'; check that it is still there and may be read",
            log.facts.path.display()
        )
    })?;
    writeln!(
        out,
        "{} · {}",
        clean(log.format.id),
        clean(&log.facts.path.display().to_string())
    )?;
    let mut sums = Sums::default();
    let mut last = None;
    let mut ids: HashMap<Lane, String> = HashMap::new();
    let mut lane = Lane::Main;
    for entry in &entries {
        if let Event::Meta(meta) = &entry.event {
            ids.extend(meta.id.as_deref().map(|id| (entry.lane, clean(id))));
        } else if lane != entry.lane {
            let id = ids.get(&entry.lane).map_or("another", String::as_str);
            writeln!(out, "        session goes on: {id}")?;
        }
        lane = entry.lane;
        let line = match last.replace(entry.place) {
            Some(place) if place == entry.place => String::new(),
            _ => entry.place.line.to_string(),
        };
        sums.tell(&line, entry, out)?;
    }
    let Sums {
        items,
        usages,
        skipped,
        unreadable,
    } = sums;
    writeln!(
        out,
        "{}, {}, {} passed over, {unreadable} not readable",
        counted(items as u64, "item"),
        counted(usages as u64, "usage report"),
        counted(skipped as u64, "record"),
    )?;
    if ids.len() > 1 {
        writeln!(out, "{} sessions, told apart by their ids", ids.len())?;
    }
    if items == 0 {
        writeln!(out, "no item: look at where roles and texts are said to be")?;
    }
    if usages == 0 {
        writeln!(out, "no usage report: all of it would be estimated")?;
    }
    Ok(())
}

impl Sums {
    fn tell(&mut self, line: &str, entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
        match &entry.event {
            Event::Meta(meta) => writeln!(out, "{line:>6}  session: {}", clean(&facts(meta))),
            Event::Node(node) => {
                for (n, item) in node.items.iter().enumerate() {
                    self.items += 1;
                    let line = if n == 0 { line } else { "" };
                    let size = item.size.local + item.size.fixed;
                    let tool = item.tool.as_deref().unwrap_or_default();
                    writeln!(
                        out,
                        "{line:>6}  {:<9} {:<11} {:<12} {:>6}  {}",
                        item.role.name(),
                        item.kind.name(),
                        clean(tool),
                        tokens(size),
                        clean(&item.preview)
                    )?;
                }
                Ok(())
            }
            Event::Usage(usage) => {
                self.usages += 1;
                writeln!(out, "{line:>6}  usage: {}", clean(&numbers(usage)))
            }
            Event::Reset(_) => writeln!(out, "{line:>6}  compaction: all before it leaves"),
            Event::Retain { .. } => {
                writeln!(out, "{line:>6}  history: what is not in it leaves")
            }
            Event::TurnEnded => writeln!(out, "{line:>6}  turn: what lives only so long leaves"),
            Event::Leaf { .. } | Event::RewindTo(_) | Event::Rollback { .. } => {
                writeln!(
                    out,
                    "{line:>6}  branch: the conversation goes on from before"
                )
            }
            Event::Cleared { .. } => writeln!(out, "{line:>6}  cleared: contents leave"),
            Event::Skipped(why) => {
                self.skipped += 1;
                writeln!(out, "{line:>6}  passed over: {}", clean(why))
            }
            Event::Lost(name) => {
                writeln!(
                    out,
                    "{line:>6}  field of another type than expected: {name}"
                )
            }
            Event::Unreadable(why) => {
                self.unreadable += 1;
                writeln!(out, "{line:>6}  not readable: {}", clean(why))
            }
        }
    }
}

fn facts(meta: &Meta) -> String {
    let texts = [
        ("id", &meta.id),
        ("parent", &meta.parent),
        ("title", &meta.title),
        ("cwd", &meta.cwd),
        ("model", &meta.model),
        ("version", &meta.version),
    ];
    let numbers = [("window", meta.window), ("trigger", meta.trigger)];
    let texts = texts
        .into_iter()
        .filter_map(|(name, text)| Some(format!("{name} {}", text.as_deref()?)));
    let numbers = numbers
        .into_iter()
        .filter_map(|(name, number)| Some(format!("{name} {}", tokens(number?))));
    texts.chain(numbers).collect::<Vec<_>>().join(", ")
}

fn numbers(usage: &Usage) -> String {
    let numbers = [
        ("prompt", Some(usage.prompt)),
        ("cached", Some(usage.cached)),
        ("output", usage.output),
        ("reasoning", usage.reasoning),
    ];
    let told = numbers
        .into_iter()
        .filter_map(|(name, number)| Some(format!("{name} {}", number?)));
    told.collect::<Vec<_>>().join(", ")
}
