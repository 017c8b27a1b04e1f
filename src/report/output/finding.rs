//! One finding: in words, and as a part of a JSON document.

use super::document::{Facts, Line, facts};
use super::json::dollars;
use super::json::part::part;
use model::why::{Finding, FindingDetail, FindingPlace, ListedNames, SmallerWindow};
use render::finding::{act, cost, size, what};
use serde::Serialize;

/// The heading of findings.
pub(crate) const TITLE: &str = "What took the tokens and the money";

/// Returns what happened, with its number.
pub(crate) fn heading(nth: usize, finding: &Finding) -> Line {
    Line::own(format!("{nth}. ")).and_log(&what(finding))
}

/// Returns the cost of a finding of an agent, how often it was in so many sessions, and what to change.
pub(crate) fn facts_of(finding: &Finding, agent: &str, sessions: u64) -> Facts {
    facts([
        ("Cost", Some(cost(finding).into())),
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
    window?: SmallerWindow = match &finding.detail {
        FindingDetail::Window(of) => Some(*of),
        _ => None,
    },
    listed?: ListedNames = match &finding.detail {
        FindingDetail::Listed(of) => Some(of.clone()),
        _ => None,
    },
    act: Option<String> = act(finding, agent),
    places: Vec<FindingPlace> = finding.places.clone(),
}}
