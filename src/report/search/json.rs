//! Hits for programs, a line each: the schema `ctxgauge.search/1`.

use super::{Hit, Writer};
use crate::Style;
use crate::output::json::document;
use crate::output::json::part::part;
use crate::output::names::{Names, joined_by};
use anyhow::Result;
use ingest::search::Line;
use jiff::Timestamp;
use model::{Role, Source};
use serde::Serialize;
use std::borrow::Cow;
use std::io::Write;

pub(super) struct Documents(pub(super) Style);

impl Writer for Documents {
    fn hit(&mut self, hit: &Hit<'_>, out: &mut dyn Write) -> Result<()> {
        let Some(names) = Names::with_texts(hit.sessions, hit.key) else {
            return Ok(());
        };
        let mut text = Vec::new();
        document(&mut text, "ctxgauge.search/1", HitPart::new(hit, names))?;
        let text = String::from_utf8_lossy(&text);
        Ok(out.write_all(self.0.in_charset(&text).as_bytes())?)
    }
}

part! { HitPart<'a>(hit: &Hit<'a>, names: Names<'a>) {
    session: String = joined_by(hit.facts, hit.key.conversation),
    agent: &'static str = hit.session.agent,
    id: Option<Cow<'a, str>> = names.id,
    path: Cow<'a, str> = names.path,
    name: String = names.name,
    project: Cow<'a, str> = names.project,
    folder: Option<Cow<'a, str>> = names.folder,
    item: usize = hit.ix,
    line: u64 = hit.item.place.line(),
    time: Option<Timestamp> = hit.item.at,
    role: Role = hit.item.role,
    kind: &'static str = hit.item.kind.name(),
    tool: Option<&'a str> = hit.item.tool.as_deref(),
    // Of a result: the arguments of its call.
    call?: Cow<'a, str> = hit.call.clone(),
    tokens: u64 = hit.tokens,
    source: Source = hit.source,
    in_context: bool = hit.item.in_context(),
    entered: Option<usize> = hit.item.entered,
    lines: Vec<LinePart<'a>> = hit.lines.lines.iter().map(LinePart::new).collect(),
    // Lines that match and are not among them, since there are too many.
    more?: u64 = Some(hit.lines.more).filter(|more| *more > 0),
}}

part! { LinePart<'a>(of: &'a Line) {
    number: u64 = of.number,
    text: &'a str = &of.text,
    // In bytes of UTF-8: the beginning and the end of each match.
    matches: Vec<[usize; 2]> = of.matches.iter().map(|range| [range.start, range.end]).collect(),
}}
