//! The findings for programs: the schema `ctxgauge.why/1`.

use super::Why;
use super::lines::Line;
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

part! { OpenPart(names: Names<'_>) {
    id: Option<String> = names.id.map(Into::into),
    path: String = names.path.into_owned(),
    name: String = names.name,
}}
