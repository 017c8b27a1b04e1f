//! The result of a check for programs: the schema `ctxgauge.bounds/1`.

use super::{Check, SessionViolation};
use crate::output::json::part::part;
use jiff::Timestamp;
use serde::Serialize;

part! { Body<'a>(check: &'a Check) {
    sessions: usize = check.sessions,
    unreadable: usize = check.unreadable,
    passed: Vec<PassedPart<'a>> = check.passed.iter().map(PassedPart::new).collect(),
}}

part! { PassedPart<'a>(of: &'a SessionViolation) {
    agent: &'a str = of.agent,
    id: Option<&'a str> = of.id.as_deref(),
    name: &'a str = &of.name,
    path: &'a str = &of.path,
    what: &'static str = of.passed.what.name(),
    bound: f64 = of.passed.bound,
    value: f64 = rounded(of.passed.value),
    by: f64 = rounded(of.passed.by()),
    since: Option<Timestamp> = of.passed.since,
    // Set if items are bounded: the number that are beyond the bound, and the largest of them.
    items?: usize = of.item.as_ref().map(|_| of.passed.items),
    item?: ItemPart<'a> = of.item.as_ref().map(|(line, label)| ItemPart::new(*line, label)),
}}

part! { ItemPart<'a>(line: u64, label: &'a str) {
    line: u64 = line,
    label: &'a str = label,
}}

/// Rounds a value to one decimal.
fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}
