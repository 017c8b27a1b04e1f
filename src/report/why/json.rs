//! The findings for programs: the schema `ctxgauge.why/1`.

use super::Why;
use super::lines::Line;
use super::measured::ProjectMeasured;
use crate::output::finding::FindingPart;
use crate::output::json::dollars;
use crate::output::json::part::part;
use crate::output::names::Names;
use jiff::Timestamp;
use serde::Serialize;

part! { WhyPart<'a>(why: &'a Why) {
    since: Option<Timestamp> = why.since,
    sessions: u64 = why.looked_at,
    responses: u64 = why.spent.responses,
    prompts: u64 = why.spent.spent.prompt(),
    output: u64 = why.spent.spent.output,
    // By list prices, of the responses that have one.
    cost_usd: f64 = dollars(why.spent.usd()),
    unpriced: u64 = why.spent.unpriced,
    // They overlap: the costs of two of them have no sum.
    findings: Vec<LinePart<'a>> = why.lines.iter().map(|line| LinePart::new(why, line)).collect(),
    // Lists that became shorter after they were a finding.
    measured: Vec<MeasuredPart<'a>> = why.measured.iter().map(MeasuredPart::new).collect(),
}}

part! { LinePart<'a>(why: &'a Why, line: &'a Line) {
    agent: &'static str = line.agent,
    folder?: &'a str = line.folder.as_deref(),
    sessions: u64 = line.sessions,
    #[serde(flatten)]
    finding: FindingPart = FindingPart::new(&line.finding, line.agent),
    // The session that it took most of, and where it is there.
    session?: OpenPart = Names::with_texts(&why.sessions, line.open).map(|names| OpenPart::new(names)),
}}

part! { MeasuredPart<'a>(found: &'a ProjectMeasured) {
    agent: &'static str = found.agent,
    folder: &'a str = &found.folder,
    about: &'static str = found.of.kind,
    names: &'a [Box<str>] = &found.of.names,
    since: Timestamp = found.of.since,
    // Of a request, on average.
    less: u64 = found.of.less.round() as u64,
    error: u64 = found.of.error.round() as u64,
    promised: u64 = found.of.promised.round() as u64,
    sessions_before: usize = found.of.sessions[0],
    sessions_after: usize = found.of.sessions[1],
}}

part! { OpenPart(names: Names<'_>) {
    id: Option<String> = names.id.map(Into::into),
    path: String = names.path.into_owned(),
    name: String = names.name,
}}
