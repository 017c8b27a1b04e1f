//! The list of sessions for programs: the schema `ctxgauge.ls/1`.

use super::session::ContextPart;
use crate::model::fleet::{Fleet, Row};
use crate::report::ls::{Sessions, Totals};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
pub(super) struct List<'a> {
    sessions: Vec<SessionPart<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    totals: Option<BTreeMap<&'static str, BTreeMap<&'static str, u64>>>,
}

#[derive(Serialize)]
struct SessionPart<'a> {
    id: Option<&'a str>,
    agent: &'a str,
    path: &'a str,
    /// The name that the screens show.
    name: String,
    parent: Option<&'a str>,
    project: &'a str,
    model: Option<&'a str>,
    updated_at: Option<Timestamp>,
    context: ContextPart,
    trigger: Option<u64>,
    headroom: Option<u64>,
}

impl<'a> List<'a> {
    /// The list, newest first.
    pub(super) fn new(all: &'a Sessions) -> List<'a> {
        let rows = all.fleet.recent().into_iter();
        List {
            sessions: rows.filter_map(|row| part(&all.fleet, row)).collect(),
            totals: all.totals.as_ref().map(Totals::by_agent),
        }
    }
}

fn part(fleet: &Fleet, row: Row) -> Option<SessionPart<'_>> {
    let (session, facts) = (fleet.get(row.key)?, fleet.facts(row.key)?);
    let (context, trigger) = (session.context(), session.limits().trigger);
    Some(SessionPart {
        id: session.meta.id.as_deref(),
        agent: session.agent,
        path: facts.path.to_str().unwrap_or_default(),
        name: fleet.name(row.key),
        parent: session.meta.parent.as_deref(),
        project: session.project(),
        model: session.model(),
        updated_at: fleet.newest_record(row.key),
        context: ContextPart::new(session, &context),
        trigger,
        headroom: trigger.map(|t| t.saturating_sub(context.used)),
    })
}
