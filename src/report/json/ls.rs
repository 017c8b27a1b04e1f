//! The list of sessions for programs: the schema `ctxgauge.ls/1`.

use super::part::part;
use super::session::ContextPart;
use crate::ls::{Live, Sessions, Totals, live};
use crate::percent;
use jiff::Timestamp;
use model::context::Context;
use model::fleet::{FileFacts, Row};
use model::session::Session;
use model::window::Limits;
use serde::Serialize;
use std::collections::BTreeMap;

// The newest session comes first.
part! { List<'a>(all: &'a Sessions) {
    sessions: Vec<SessionPart<'a>> = all
        .fleet
        .recent()
        .iter()
        .filter_map(|row| session(all, row))
        .collect(),
    #[serde(skip_serializing_if = "Option::is_none")]
    totals: Option<BTreeMap<&'static str, BTreeMap<&'static str, u64>>> =
        all.totals.as_ref().map(Totals::by_agent),
}}

fn session<'a>(all: &'a Sessions, row: &Row) -> Option<SessionPart<'a>> {
    let fleet = &all.fleet;
    let (session, facts) = (fleet.get(row.key)?, fleet.facts(row.key)?);
    let (context, limits) = (session.context(), session.limits());
    Some(SessionPart::new(
        all, row, session, facts, &context, &limits,
    ))
}

part! { SessionPart<'a>(
    all: &'a Sessions,
    row: &Row,
    session: &'a Session,
    facts: &'a FileFacts,
    context: &Context,
    limits: &Limits,
) {
    id: Option<&'a str> = session.meta.id.as_deref(),
    agent: &'a str = session.agent,
    path: &'a str = facts.path.to_str().unwrap_or_default(),
    // The name that the screens show.
    name: String = all.fleet.name(row.key),
    parent: Option<&'a str> = session.meta.parent.as_deref(),
    project: &'a str = session.project(),
    model: Option<&'a str> = session.model(),
    updated_at: Option<Timestamp> = all.fleet.newest_record(row.key),
    live: Option<Live> = live(&all.fleet, row.key, all.now),
    // Whether `report` would show the same size.
    r#final: bool = session.is_final(context),
    context: ContextPart = ContextPart::new(session, context, limits),
    trigger: Option<u64> = limits.trigger,
    // The agent's own count in percent of the trigger, as the agent compares them.
    trigger_percent: Option<f64> = limits.trigger.map(|trigger| percent(context.counted(), trigger)),
    headroom: Option<u64> = limits.trigger.map(|trigger| context.headroom(trigger)),
}}
