//! The findings for people.

use super::lines::Line as Found;
use super::measured::ProjectMeasured;
use super::{MOST_LINES, Why};
use crate::output::document::{Block, Document, Line, Section, facts};
use crate::output::finding::{TITLE, facts_of, heading};
use crate::output::names::Names;
use render::number::{counted, tokens};
use render::spending;

pub(super) fn document(why: &Why) -> Document {
    let lines = why.lines.iter().take(MOST_LINES).enumerate();
    let mut sections = vec![spent(why)];
    sections.extend(lines.map(|(ix, line)| section(why, ix + 1, line)));
    let measured = why.measured.iter().map(measured);
    let measured = measured.fold(Section::new("measured again"), Section::with);
    sections.extend((!why.measured.is_empty()).then_some(measured));
    Document {
        title: TITLE.into(),
        sections,
    }
}

/// Returns the section on what was spent in all.
fn spent(why: &Why) -> Section {
    let of = &why.spent;
    let sessions = counted(why.looked_at, "session");
    let prompts = tokens(of.spent.prompt());
    let output = tokens(of.spent.output);
    let cost = spending::cost(of);
    let spent = format!(
        "{cost} by list price in {sessions}: {prompts} tokens of prompts, {output} of output"
    );
    let section = Section::default().with(Block::Headline(spent.into()));
    let section = section.with_all(spending::left_out(of));
    let found = why.lines.len();
    if found == 0 {
        return section.with("no findings: nothing here is worth a change");
    }
    let all = counted(found as u64, "finding");
    let listed = (found > MOST_LINES)
        .then(|| format!("the {MOST_LINES} most expensive of {all}; `--json` has all"));
    section.with_all(listed).with(
        "findings overlap, so do not add them up; prices are list prices, without discounts or plans",
    )
}

/// Returns what a change has brought.
fn measured(found: &ProjectMeasured) -> Line {
    let of = &found.of;
    let names: Vec<&str> = of.names.iter().map(|name| &**name).collect();
    let (named, others) = names.split_at(names.len().min(MOST_NAMES));
    let more = match others.len() {
        0 => String::new(),
        n => format!(" and {n} more"),
    };
    let rounded = |of: f64| tokens(of.round() as u64);
    let [less, error, promised] = [of.less, of.error, of.promised].map(rounded);
    let since = of.since.strftime("%d %b %Y");
    let kind = of.kind;
    Line::own(format!(
        "{less} ±{error} fewer tokens per request since {since} (predicted: {promised}); no longer listed: the {kind} "
    ))
    .and_log(&named.join(", "))
    .and(format!("{more} ({}, ", found.agent))
    .and_log(&found.folder)
    .and(")")
}

/// The most names of a list that people read.
const MOST_NAMES: usize = 3;

fn section(why: &Why, nth: usize, found: &Found) -> Section {
    let finding = &found.finding;
    let names = Names::with_texts(&why.sessions, found.open);
    let open = names.map(|names| {
        let id = names.id.unwrap_or_default();
        let open = match &*id {
            "" => Line::own("ctxgauge report ").and_log(&names.path),
            id => Line::own("ctxgauge report --session ").and_log(id),
        };
        open.and("  ").and_log(&names.name)
    });
    let heading = heading(nth, finding).and(format!(" ({})", found.agent));
    let folder = found.folder.as_deref().filter(|folder| !folder.is_empty());
    let more = facts([("Project", folder.map(Line::log)), ("Largest", open)]);
    let facts = facts_of(finding, found.agent, found.sessions);
    Section::new(heading).with([facts, more].concat())
}
