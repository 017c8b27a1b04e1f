//! The list of sessions for programs: the schema `ctxgauge.ls/1`.

use super::totals::AgentTotals;
use super::{Division, Group, SessionList, Spending};
use crate::output::json::dollars;
use crate::output::json::part::part;
use crate::output::names::Names;
use crate::percent;
use crate::session::json::{CachePart, ContextPart, LimitPart, NextPart, cache_part, limit_parts};
use jiff::Timestamp;
use model::due::triggers;
use model::lists::gauge::SessionGauge;
use model::lists::sessions::{Activity, Row, SessionKey, Sessions};
use model::why::{UseKind, Used, Uses};
use serde::{Serialize, Serializer};
use std::borrow::Cow;
use std::collections::BTreeMap;

part! { List<'a>(all: &'a SessionList) {
    sessions: ListParts<'a> = ListParts(all),
    totals?: BTreeMap<&'static str, BTreeMap<&'static str, u64>> =
        all.totals.as_ref().map(|(totals, _)| sums(totals)),
    totals_lack?: BTreeMap<&'static str, LackPart> = all.totals.as_ref().map(|(totals, _)| lack(totals)),
    groups?: GroupsPart<'a> = all
        .groups
        .as_ref()
        .map(|(by, groups)| GroupsPart::new(by, groups)),
    calls?: CallsPart<'a> = all.calls.as_ref().map(|(kind, calls)| CallsPart::new(*kind, calls)),
}}

/// The sessions. Each is made when it is written, since there may be many thousands.
struct ListParts<'a>(&'a SessionList);

impl Serialize for ListParts<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let ListParts(all) = self;
        to.collect_seq(all.rows.iter().filter_map(|row| session(all, row)))
    }
}

part! { GroupsPart<'a>(division: &'a Division, groups: &'a [Group]) {
    by: &'static str = division.by.name(),
    // The time zone in which days and weeks begin.
    zone?: &'a str = division.clock(),
    of: Vec<GroupPart<'a>> = groups.iter().map(GroupPart::new).collect(),
}}

part! { CallsPart<'a>(kind: UseKind, calls: &'a Uses) {
    by: &'static str = kind.name(),
    of: Vec<UsedPart<'a>> = calls.by(kind).into_iter().map(|(name, of)| UsedPart::new(name, of)).collect(),
}}

part! { UsedPart<'a>(called: &'a str, of: &Used) {
    name: &'a str = called,
    calls: u64 = of.calls,
    failed: u64 = of.failed,
    median_seconds: Option<f64> = of.median_seconds(),
    tokens: u64 = of.tokens,
    carried: u64 = of.carried,
    // By list prices of cached input, of what has one.
    carried_usd: f64 = dollars(of.usd),
    unpriced: u64 = of.unpriced,
}}

part! { GroupPart<'a>(group: &'a Group) {
    // An unknown group has no name.
    name: Option<&'a str> = Some(&*group.name).filter(|name| !name.is_empty()),
    folder?: &'a str = group.folder.as_deref(),
    #[serde(flatten)]
    usage: UsagePart = UsagePart::new(&group.spending),
}}

// In parts that do not overlap, the same for all providers.
part! { UsagePart(of: &Spending) {
    responses: u64 = of.responses,
    input: u64 = of.spent.input,
    cache_read: u64 = of.spent.cache_read,
    cache_write: u64 = of.spent.cache_write,
    output: u64 = of.spent.output,
    // By list prices, of the responses that have one.
    cost_usd: f64 = dollars(of.usd()),
    unpriced: u64 = of.unpriced,
    cost_lacks: Vec<&'static str> = of.lacking.names(),
}}

part! { SessionUsagePart(of: &Spending) {
    #[serde(flatten)]
    usage: UsagePart = UsagePart::new(of),
    // The agent's own count.
    own_cost_usd: Option<f64> = of.own_usd().map(dollars),
}}

/// Returns the sums of each agent in its provider's own terms, and its output with reasoning, which is counted alike
/// for all.
fn sums(agents: &[AgentTotals]) -> BTreeMap<&'static str, BTreeMap<&'static str, u64>> {
    let sums = agents.iter().map(|totals| {
        let all = ("output_with_reasoning", totals.output_with_reasoning);
        let terms = totals.terms.iter().copied().chain([all]);
        (totals.agent, terms.collect())
    });
    sums.collect()
}

/// Returns the gaps in the logs of each agent.
fn lack(agents: &[AgentTotals]) -> BTreeMap<&'static str, LackPart> {
    let parts = agents.iter().map(|of| (of.agent, LackPart::new(of)));
    parts.collect()
}

part! { LackPart(totals: &AgentTotals) {
    responses_without_usage: u64 = totals.without_usage,
    responses_without_input: u64 = totals.without_input,
    compactions: u64 = totals.compactions,
    unreadable: u64 = totals.unreadable,
    only_as_sums: BTreeMap<&'static str, u64> = totals.summed.iter().copied().collect(),
}}

fn session<'a>(all: &'a SessionList, row: &Row) -> Option<SessionPart<'a>> {
    let (sessions, key, now) = (&all.sessions, row.key, all.clock.now);
    let usage = all.spending.get(&key).copied().unwrap_or_default();
    let usage = all.totals.as_ref().map(|_| &usage);
    let (gauge, names) = (sessions.gauge(key)?, Names::with_texts(sessions, key)?);
    Some(SessionPart::new(sessions, key, gauge, names, usage, now))
}

/// Returns the keys of a session whose values may differ in `report`, since the log was read from its end, or texts
/// were not counted.
fn provisional(gauge: &SessionGauge) -> Vec<&'static str> {
    let limits = gauge.limits();
    let all = [
        ("used", !gauge.is_final),
        (
            "own_count",
            gauge.context.own.is_some() && !gauge.is_own_count_final,
        ),
        ("model", !gauge.is_model_final),
        ("window", limits.is_window_provisional),
        ("trigger", limits.is_trigger_provisional),
    ];
    let provisional = all
        .into_iter()
        .filter(|(_, is_provisional)| *is_provisional);
    provisional.map(|(key, _)| key).collect()
}

part! { SessionPart<'a>(
    sessions: &'a Sessions,
    key: SessionKey,
    gauge: &'a SessionGauge,
    names: Names<'a>,
    used: Option<&Spending>,
    now: Timestamp,
) {
    id: Option<Cow<'a, str>> = names.id,
    agent: &'a str = gauge.agent,
    path: Cow<'a, str> = names.path,
    // The name that the screens show.
    name: String = names.name,
    parent: Option<Cow<'a, str>> = names.parent,
    project: Cow<'a, str> = names.project,
    // The project's folder: a worktree's is that of its repository.
    folder: Option<Cow<'a, str>> = names.folder,
    model: Option<Cow<'a, str>> = names.model,
    updated_at: Option<Timestamp> = sessions.newest_record(key),
    live: Option<Activity> = sessions.live(key, now),
    // True if `report` would show the same numbers. The other field names those that may differ.
    r#final: bool = provisional(gauge).is_empty(),
    provisional: Vec<&'static str> = provisional(gauge),
    context: ContextPart = ContextPart::new(gauge),
    trigger: Option<u64> = gauge.limits().trigger,
    trigger_source: &'static str = gauge.limits().trigger_source.name(),
    // The agent's own count in percent of the trigger, as the agent compares them.
    trigger_percent: Option<f64> = gauge
        .limits()
        .trigger
        .map(|trigger| percent(gauge.context.counted(), trigger)),
    headroom: Option<u64> = gauge.headroom(),
    // The compactions for another reason than the size.
    next: Vec<NextPart> = triggers::other(gauge, now).iter().map(NextPart::new).collect(),
    cache?: CachePart = cache_part(gauge, now),
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limits: Vec<LimitPart> = limit_parts(gauge),
    // With totals: of all responses in its log, those that a fork repeats too.
    usage?: SessionUsagePart = used.map(SessionUsagePart::new),
}}
