//! The first records of a log for people.

use super::{Records, Row};
use crate::output::text::page::Page;
use render::number::{counted, tokens};
use render::text::inert;
use std::io;

pub(super) fn write(out: &mut Page<'_>, records: &Records<'_>) -> io::Result<()> {
    writeln!(out, "{} · {}", inert(records.agent), inert(&records.path))?;
    let mut last = 0;
    for row in &records.records {
        // The line's number is printed with its first row only.
        let line = match std::mem::replace(&mut last, row.line) {
            before if before == row.line => String::new(),
            _ => row.line.to_string(),
        };
        write_row(out, &line, row)?;
    }
    writeln!(
        out,
        "{}, {}, {} skipped, {} unknown, {} unreadable",
        counted(records.items, "item"),
        counted(records.usage_reports, "usage report"),
        counted(records.skipped, "record"),
        records.unknown,
        records.unreadable
    )?;
    if records.sessions > 1 {
        writeln!(out, "{} sessions, by their ids", records.sessions)?;
    }
    if records.items == 0 {
        writeln!(
            out,
            "no items matched: check `message.role` and `message.text` of the mapping"
        )?;
    }
    if records.usage_reports == 0 {
        writeln!(out, "no usage report: all sizes would be estimated")?;
    }
    Ok(())
}

fn write_row(out: &mut Page<'_>, line: &str, row: &Row<'_>) -> io::Result<()> {
    let Some(item) = &row.item else {
        return out.row(format_args!(
            "{line:>6}  {}: {}",
            row.event,
            inert(&row.detail)
        ));
    };
    let (role, kind, size) = (item.role.name(), item.kind, tokens(item.tokens));
    let tool = inert(item.tool.unwrap_or_default());
    let preview = inert(item.preview);
    out.row(format_args!(
        "{line:>6}  {role:<9} {kind:<11} {tool:<12} {size:>6}  {preview}"
    ))
}
