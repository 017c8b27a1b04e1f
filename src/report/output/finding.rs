//! One finding: in words, and as a part of a JSON document.

use super::document::{Facts, Line, facts};
use super::json::dollars;
use super::json::part::part;
use model::why::{Finding, FindingDetail, FindingPlace, SmallerWindow};
use render::finding::{about_cost, act, cost, size, what};
use serde::Serialize;

/// The heading of findings.
pub(crate) const TITLE: &str = "What took the tokens and the money";

/// Returns what happened, with its number.
pub(crate) fn heading(nth: usize, finding: &Finding) -> Line {
    Line::own(format!("{nth}. ")).and_log(&what(finding))
}

/// Returns the cost of a finding of an agent, how often it was in so many sessions, and what to change.
pub(crate) fn facts_of(finding: &Finding, agent: &str, sessions: u64) -> Facts {
    let cost = cost(finding).map(|cost| format!("{cost} {}", about_cost(finding.kind)));
    let cost = cost.unwrap_or_else(|| "no price is known".to_owned());
    facts([
        ("Cost", Some(cost.into())),
        ("Size", Some(size(finding, sessions).into())),
        ("Change", act(finding, agent).map(|act| Line::log(&act))),
    ])
}

part! { FindingPart(finding: &Finding, agent: &str) {
    kind: &'static str = finding.kind.name(),
    about: Box<str> = finding.about.clone(),
    what: String = what(finding),
    count: u64 = finding.count,
    tokens: u64 = finding.tokens,
    cost_usd: Option<f64> = finding.usd.map(dollars),
    cost_low_usd?: f64 = finding.range.map(|(low, _)| dollars(low)),
    cost_high_usd?: f64 = finding.range.map(|(_, high)| dollars(high)),
    window?: WindowPart = match &finding.detail {
        FindingDetail::Window(of) => Some(WindowPart::new(of)),
        _ => None,
    },
    listed?: ListedPart = match &finding.detail {
        FindingDetail::Listed { listed, used, unused } => Some(ListedPart::new(*listed, *used, unused)),
        _ => None,
    },
    act: Option<String> = act(finding, agent),
    places: Vec<PlacePart> = finding.places.iter().map(PlacePart::new).collect(),
}}

part! { WindowPart(of: &SmallerWindow) {
    tokens: u64 = of.window,
    prompts_were: u64 = of.was,
    prompts: u64 = of.prompts,
    compactions_were: u64 = of.compactions_were,
    compactions: u64 = of.compactions,
}}

part! { ListedPart(names: u64, of_them: u64, not: &[Box<str>]) {
    names: u64 = names,
    used: u64 = of_them,
    // The largest of the others.
    unused: Vec<Box<str>> = not.to_vec(),
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
