//! Writes the differences for programs: the schema `ctxgauge.diff/1`.

use super::document::headline;
use super::parts::{Amount, Row, change};
use super::{Diff, Side};
use crate::output::json::dollars;
use crate::output::json::part::part;
use crate::output::redact::OmittedCounts;
use serde::Serialize;

part! { Body<'a>(diff: &'a Diff) {
    headline: String = headline(diff).concat(),
    before: SidePart<'a> = SidePart::new(&diff.before),
    after: SidePart<'a> = SidePart::new(&diff.after),
    change: ChangePart = ChangePart::new(&diff.before, &diff.after),
    first_request: Vec<RowPart<'a>> = diff.first.iter().map(RowPart::new).collect(),
    roles: Vec<RowPart<'a>> = diff.roles.iter().map(RowPart::new).collect(),
    tools: Vec<RowPart<'a>> = diff.tools.iter().map(RowPart::new).collect(),
    servers: Vec<RowPart<'a>> = diff.servers.iter().map(RowPart::new).collect(),
    items: Vec<RowPart<'a>> = diff.items.iter().map(RowPart::new).collect(),
    left_out?: OmittedCounts = diff.left_out,
}}

part! { SidePart<'a>(side: &'a Side) {
    agent: &'a str = side.agent,
    id: Option<&'a str> = side.id.as_deref(),
    name: &'a str = &side.name,
    path: &'a str = &side.path,
    model: Option<&'a str> = side.model.as_deref(),
    request: Option<usize> = side.request,
    requests: usize = side.requests,
    compactions: usize = side.compactions,
    cost_usd: f64 = dollars(side.spending.usd()),
    unpriced: u64 = side.spending.unpriced,
    cost_lacks: Vec<&'static str> = side.spending.lacking.names(),
    // The agent's own count is of a whole session.
    own_cost_usd: Option<f64> = side.spending.own_usd().map(dollars),
    first_request: Option<u64> = side.first,
    context: SizePart = SizePart::new(side),
}}

part! { SizePart(side: &Side) {
    used: u64 = side.context.used,
    known: u64 = side.context.known,
    estimated: u64 = side.context.estimated,
    low: u64 = side.context.low,
    high: u64 = side.context.high,
}}

part! { ChangePart(before: &Side, after: &Side) {
    first_request: Option<i64> = before.first.zip(after.first).map(|(was, is)| change(was, is)),
    context: i64 = change(before.context.used, after.context.used),
    context_error: u64 = before.error().saturating_add(after.error()),
    requests: i64 = change(before.requests as u64, after.requests as u64),
    compactions: i64 = change(before.compactions as u64, after.compactions as u64),
    cost_usd: f64 = dollars(after.spending.usd() - before.spending.usd()),
}}

part! { RowPart<'a>(row: &'a Row) {
    name: &'a str = &row.part.name,
    server?: &'a str = row.part.server.as_deref(),
    changed: &'static str = row.changed().name(),
    before: Option<Amount> = row.before,
    after: Option<Amount> = row.after,
    change: i64 = row.change(),
    error: u64 = row.error,
}}
