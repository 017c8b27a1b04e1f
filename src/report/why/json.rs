//! The findings for programs: the schema `ctxgauge.why/1`.

use super::Why;
use super::lines::Line;
use crate::output::json::part::part;
use crate::output::names::Names;
use crate::session::json::dollars;
use jiff::Timestamp;
use model::why::{FindingDetail, FindingPlace, SmallerWindow};
use render::finding::{act, what};
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
    findings: Vec<FindingPart<'a>> = why.lines.iter().map(|line| FindingPart::new(why, line)).collect(),
}}

part! { FindingPart<'a>(why: &'a Why, line: &'a Line) {
    kind: &'static str = line.finding.kind.name(),
    agent: &'static str = line.agent,
    about: &'a str = &line.finding.about,
    what: String = what(&line.finding),
    folder?: &'a str = line.folder.as_deref(),
    sessions: u64 = line.sessions,
    count: u64 = line.finding.count,
    tokens: u64 = line.finding.tokens,
    cost_usd: Option<f64> = line.finding.usd.map(dollars),
    cost_low_usd?: f64 = line.finding.range.map(|(low, _)| dollars(low)),
    cost_high_usd?: f64 = line.finding.range.map(|(_, high)| dollars(high)),
    window?: WindowPart = match &line.finding.detail {
        FindingDetail::Window(of) => Some(WindowPart::new(of)),
        _ => None,
    },
    listed?: ListedPart<'a> = match &line.finding.detail {
        FindingDetail::Listed { listed, used, unused } => Some(ListedPart::new(*listed, *used, unused)),
        _ => None,
    },
    act: Option<String> = act(&line.finding, line.agent),
    // The session that it took most of, and where it is there.
    session?: OpenPart = Names::with_texts(&why.sessions, line.open).map(|names| OpenPart::new(names)),
    places: Vec<PlacePart> = line.finding.places.iter().map(PlacePart::new).collect(),
}}

part! { WindowPart(of: &SmallerWindow) {
    tokens: u64 = of.window,
    prompts_were: u64 = of.was,
    prompts: u64 = of.prompts,
    compactions_were: u64 = of.compactions_were,
    compactions: u64 = of.compactions,
}}

part! { ListedPart<'a>(names: u64, of_them: u64, not: &'a [Box<str>]) {
    names: u64 = names,
    used: u64 = of_them,
    // The largest of the others.
    unused: &'a [Box<str>] = not,
}}

part! { OpenPart(names: Names<'_>) {
    id: Option<String> = names.id.map(Into::into),
    path: String = names.path.into_owned(),
    name: String = names.name,
}}

part! { PlacePart(place: &FindingPlace) {
    request?: usize = match place {
        FindingPlace::Request(ix) => Some(*ix),
        FindingPlace::Item(_) => None,
    },
    item?: usize = match place {
        FindingPlace::Item(ix) => Some(*ix),
        FindingPlace::Request(_) => None,
    },
}}
