//! One session for programs: the schema `ctxgauge.report/1`.

use super::{LISTED_ROWS, Report as SessionReport};
use crate::output::finding::FindingPart;
use crate::output::json::dollars;
use crate::output::json::part::part;
use crate::output::redact::OmittedCounts;
use crate::percent;
use jiff::Timestamp;
use model::cost::calls::Calls as CallNames;
use model::cost::carried::CarriedCost;
use model::cost::clearing::{Clearing, clearings};
use model::cost::rebuilds::{Rebuild, rebuilds};
use model::cost::tools::{Server, Tool, servers, tools};
use model::due::prompt_cache::{MissReason, NextPrompt, Prompt, PromptCache};
use model::due::triggers::NextTrigger;
use model::event::CauseSource;
use model::event::{PlanLimit, PlanLimits};
use model::lists::gauge::SessionGauge;
use model::outlook::compaction::{Compaction, compactions, unlogged};
use model::outlook::forecast::{self, Forecast, NoForecast};
use model::outlook::jumps::{Jump, JumpPart as JumpedPart, jumps};
use model::outlook::whatif::{RuleCompaction, WhatIf, what_if};
use model::session::context::{Context, Share};
use model::session::{Item, PastReset, Request, Session, SizedItem};
use model::sizes::recurring::RecurringPart;
use model::values::hooked::HookedCompaction;
use model::why::without_texts;
use model::window::{Breakdown, Limits};
use model::{Role, Source};
use render::jump::part_name;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

/// The report of a session.
pub(crate) fn session<'a>(report: &'a SessionReport<'a>) -> Report<'a> {
    let session = report.session;
    let carried = CarriedCost::by(session, session.requests().len());
    let tools = tools(session, session.in_context(), session.requests().len());
    Report::new(report, session, &report.gauge.context, carried, &tools)
}

part! { Report<'a>(
    report: &'a SessionReport<'a>,
    session: &'a Session,
    context: &Context,
    carried: CarriedCost<'a>,
    tools: &[Tool],
) {
    session: SessionPart<'a> = SessionPart::new(report, session),
    context: ContextPart = ContextPart::new(&report.gauge),
    roles: BTreeMap<&'static str, Share> = by_role(|role| *context.role(role)),
    compaction: CompactionPart<'a> = CompactionPart::new(report, session, context, report.gauge.limits().clone()),
    cache?: CachePart = cache_part(&report.gauge, report.clock.now),
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rebuilds: Vec<RebuildPart> = rebuilds(session).iter().map(RebuildPart::new).collect(),
    #[serde(skip_serializing_if = "Vec::is_empty")]
    limits: Vec<LimitPart> = limit_parts(&report.gauge),
    client?: ClientPart<'a> = session
        .said()
        .and_then(|said| said.breakdown.as_ref())
        .map(ClientPart::new),
    messages: Messages<'a> = Messages { report, carried },
    calls: Calls<'a> = Calls(session.requests()),
    // Those of which the log has a definition or results.
    tools: Vec<ToolPart> = tools
        .iter()
        .filter(|tool| tool.results > 0 || tool.schema > 0)
        .map(ToolPart::new)
        .collect(),
    #[serde(skip_serializing_if = "Vec::is_empty")]
    servers: Vec<Server> = servers(tools),
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recurring: Vec<RecurringJson> = session.recurring().map(RecurringJson::new).collect(),
    #[serde(skip_serializing_if = "Vec::is_empty")]
    jumps: Vec<JumpPart> = jump_parts(session),
    what_if: Vec<WhatIfPart> = what_if(session, session.requests().len())
        .into_iter()
        .map(WhatIfPart::new)
        .collect(),
    // The findings that need no texts.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<FindingPart> = without_texts(session)
        .iter()
        .map(|finding| FindingPart::new(finding, session.agent))
        .collect(),
    left_out?: OmittedCounts = report.left_out,
}}

// The client's own estimate of its context.
part! { ClientPart<'a>(said: &'a Breakdown) {
    at: Timestamp = said.at,
    tokens: u64 = said.tokens,
    parts: Vec<ClientShare<'a>> = said
        .parts
        .iter()
        .map(|(name, tokens)| ClientShare::new(name, *tokens))
        .collect(),
}}

part! { ClientShare<'a>(part: &'a str, size: u64) {
    name: &'a str = part,
    tokens: u64 = size,
}}

part! { SessionPart<'a>(report: &'a SessionReport<'a>, session: &'a Session) {
    id: Option<&'a str> = session.meta.id.as_deref().or(report.facts.id.as_deref()),
    agent: &'a str = session.agent,
    path: &'a str = report.facts.path.to_str().unwrap_or_default(),
    model: Option<&'a str> = session.model(),
    cwd: Option<&'a str> = session.meta.cwd.as_deref(),
    started_at: Option<Timestamp> = session.started_at,
    updated_at: Option<Timestamp> = session.updated_at,
    records: u64 = session.records,
    skipped: &'a BTreeMap<Box<str>, u64> = &session.skipped,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    unknown: &'a BTreeMap<Box<str>, u64> = &session.unknown,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    lost_fields: &'a BTreeMap<&'static str, u64> = &session.lost_fields,
    unreadable: u64 = session.unreadable,
    damaged?: u64 = Some(session.damaged).filter(|n| *n > 0),
    unreadable_usage?: u64 = Some(session.unreadable_usage).filter(|n| *n > 0),
    // Prompts that held less than the log, again and again.
    short_prompts?: usize = session.short_prompts(),
    title: Option<&'a str> = session.meta.title.as_deref(),
    parent: Option<&'a str> = session.meta.parent.as_deref().or(report.facts.parent.as_deref()),
    version: Option<&'a str> = session.meta.version.as_deref(),
    // The newest version that was compared with known counts, if this one is newer.
    proven?: &'a str = report.gauge.newer_than_proven(),
    first_unreadable: Option<String> = session
        .first_unreadable
        .as_ref()
        .map(|(place, why)| format!("line {}: {why}", place.line())),
}}

part! { ContextPart(gauge: &SessionGauge) {
    window: u64 = gauge.limits().window,
    window_source: &'static str = gauge.limits().window_source.name(),
    #[serde(skip_serializing_if = "str::is_empty")]
    window_setting: &'static str = gauge.limits().window_setting,
    used: u64 = gauge.context.used,
    known: u64 = gauge.context.known,
    estimated: u64 = gauge.context.estimated,
    low: u64 = gauge.context.low,
    high: u64 = gauge.context.high,
    source: &'static str = gauge.context.basis.name(),
    percent: f64 = percent(gauge.context.used, gauge.limits().window),
    // The agent's own number, while it applies to this context.
    said?: u64 = gauge.agents_number,
    own_count?: u64 = gauge.context.own.map(|own| own.tokens),
    earlier_reasoning?: u64 = gauge
        .context
        .own
        .map(|own| own.earlier_reasoning)
        .filter(|tokens| *tokens > 0),
}}

// The forecast of the next compaction.
part! { ComingPart(
    forecast: &Result<Forecast, NoForecast>,
    next: &[NextTrigger],
    context: &Context,
    limits: Limits,
) {
    trigger: Option<u64> = limits.trigger,
    // True if it also compacts at a smaller size at the end of a turn.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    at_turn_end: bool = limits.turn_end.is_some(),
    trigger_source: &'static str = limits.trigger_source.name(),
    #[serde(skip_serializing_if = "str::is_empty")]
    trigger_setting: &'static str = limits.trigger_setting,
    headroom: Option<u64> = limits.trigger.map(|trigger| context.headroom(trigger)),
    policy: String = limits.policy,
    requests_left: Option<Band> = forecast.as_ref().ok().map(|f| Band::new(&f.requests, 1.0)),
    turns_left: Option<Band> = forecast.as_ref().ok().map(|f| Band::new(&f.turns, 1.0)),
    minutes_left: Option<Band> = forecast
        .as_ref()
        .ok()
        .and_then(|f| f.minutes.as_ref().map(|minutes| Band::new(minutes, 10.0))),
    // The possible next compactions, the nearest first. `trigger` is the first of its kind.
    next: Vec<NextPart> = next.iter().map(NextPart::new).collect(),
}}

part! { NextPart(next: &NextTrigger) {
    kind: &'static str = next.kind.name(),
    // True if it is sure at its size or time. It cannot be predicted whether the user types before.
    sure: bool = next.is_sure,
    tokens: Option<u64> = next.tokens,
    left: Option<u64> = next.left,
    at: Option<Timestamp> = next.at,
    // Of a summary that is ready: the size at which it was made. Of results that may be left out: their tokens.
    size: Option<u64> = next.size,
    after: Option<u64> = next.after,
    model: Option<String> = next.model.clone(),
    source: &'static str = next.source.name(),
    setting: Option<&'static str> = Some(next.setting).filter(|setting| !setting.is_empty()),
}}

// The prompt cache of the newest request.
part! { CachePart(cache: &PromptCache, next: &NextPrompt, now: Timestamp) {
    state: &'static str = cache.state(now).word(),
    until: Option<Timestamp> = cache.state(now).until(),
    since: Option<Timestamp> = cache.state(now).since(),
    because: Option<&'static str> = cache.state(now).lost().map(MissReason::name),
    sent_at: Timestamp = cache.sent,
    seconds: u32 = cache.life.seconds,
    source: &'static str = cache.life.source.name(),
    failed: FailedPart = FailedPart::new(cache),
    // The next request's prompt as it is now, without its answer.
    warm: PromptPart = PromptPart::new(&next.warm),
    cold: PromptPart = PromptPart::new(&next.cold),
}}

/// Returns the prompt cache; `None`: nothing is known of it.
pub(crate) fn cache_part(gauge: &SessionGauge, now: Timestamp) -> Option<CachePart> {
    let cache = gauge.prompt_cache()?;
    Some(CachePart::new(&cache, &gauge.next_prompt(now), now))
}

// How often a prompt was predicted to be in the cache and was not, in this session and with this agent.
part! { FailedPart(cache: &PromptCache) {
    predicted: u32 = cache.here.predicted,
    lost: u32 = cache.here.lost,
    agent_predicted?: u32 = cache.elsewhere.map(|elsewhere| elsewhere.predicted),
    agent_lost?: u32 = cache.elsewhere.map(|elsewhere| elsewhere.lost),
}}

// `written`: tokens that are read anew.
part! { PromptPart(prompt: &Prompt) {
    written: u64 = prompt.written,
    cost_usd: Option<f64> = prompt.usd.map(dollars),
}}

// A limit of the user's plan; `session_percent` is null if not all of the log was read.
part! { LimitPart(limit: &PlanLimit, by_session: Option<f64>) {
    minutes: u32 = limit.minutes,
    used_percent: f64 = limit.percent(),
    resets_at: Option<Timestamp> = limit.resets_at,
    session_percent: Option<f64> = by_session,
}}

/// Returns the limits of the plan.
pub(crate) fn limit_parts(gauge: &SessionGauge) -> Vec<LimitPart> {
    let limits = gauge.plan_limits().into_iter().flat_map(PlanLimits::all);
    let part = |limit: &PlanLimit| {
        let is_known = gauge.is_plan_use_known();
        LimitPart::new(limit, is_known.then(|| limit.percent_by_session()))
    };
    limits.map(part).collect()
}

// A request for which tokens were read anew that had been in the cache; `cost_usd`: more than from the cache.
part! { RebuildPart(rebuild: &Rebuild) {
    request: usize = rebuild.request,
    pause_seconds: Option<u64> = rebuild.pause,
    expired: bool = rebuild.is_expired,
    tokens: u64 = rebuild.tokens,
    cause: String = rebuild.cause.name().to_owned(),
    cause_source: &'static str = if rebuild.cause.is_logged() { "log" } else { "inferred" },
    cost_usd: Option<f64> = rebuild.usd.map(dollars),
}}

part! { CompactionPart<'a>(
    report: &SessionReport<'a>,
    session: &'a Session,
    context: &Context,
    limits: Limits,
) {
    #[serde(flatten)]
    coming: ComingPart = ComingPart::new(&report.forecast, &report.next, context, limits),
    past: Vec<PastPart<'a>> = compactions(session)
        .iter()
        .map(|done| PastPart::new(session, &session.resets()[done.reset], done))
        .collect(),
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cleared: Vec<Clearing> = clearings(session),
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unlogged: Vec<UnloggedPart<'a>> =
        unlogged(session).into_iter().map(UnloggedPart::new).collect(),
}}

part! { Band(band: &forecast::Band, parts: f64) {
    p10: serde_json::Number = rounded(band.p10, parts),
    p50: serde_json::Number = rounded(band.p50, parts),
    p90: serde_json::Number = rounded(band.p90, parts),
}}

part! { PastPart<'a>(session: &'a Session, reset: &'a PastReset, done: &Compaction) {
    line: u64 = reset.place.line(),
    at: Option<Timestamp> = reset.at,
    cause: &'a str = reset.cause.name(),
    cause_source: &'static str = reset.cause_source.name(),
    before: u64 = reset.before,
    own_count?: u64 = reset.counted.map(|counted| counted.at),
    after: Option<u64> = reset.after,
    source: Source = reset.before_source,
    after_source: Source = reset.after_source,
    dropped: BTreeMap<&'static str, u64> = by_role(|role| reset.dropped[role.index()]),
    // The size before as counted here.
    ours: u64 = reset.ours,
    // It compacted an earlier log: the numbers of items are those of this one.
    of_earlier_log?: bool = done.is_of_earlier_log.then_some(true),
    freed: Option<u64> = done.freed.map(|(tokens, _)| tokens),
    left_items: usize = done.left_items,
    kept_items: usize = done.kept_items,
    kept_tokens: u64 = done.kept_tokens,
    summary: Option<ItemPart<'a>> = done.summary.map(|item| ItemPart::new(session.items(), item)),
    largest: Vec<ItemPart<'a>> = done
        .largest
        .iter()
        .map(|item| ItemPart::new(session.items(), *item))
        .collect(),
}}

// A compaction that only a hook noted.
part! { UnloggedPart<'a>(hooked: &'a HookedCompaction) {
    at: Timestamp = hooked.at,
    cause: &'a str = hooked.cause.name(),
    before: Option<u64> = hooked.before,
    after: Option<u64> = hooked.after,
    source: &'static str = CauseSource::Hook.name(),
}}

// The fields of an item in all lists; `id` is its index in `messages`.
part! { ItemPart<'a>(items: &'a [Item], item: SizedItem) {
    id: usize = item.0,
    line: u64 = items[item.0].place.line(),
    role: Role = items[item.0].role,
    tool: Option<&'a str> = items[item.0].tool.as_deref(),
    tokens: u64 = item.1,
    source: Source = item.2,
}}

/// The items. Each is made when it is written, since a log may have a million.
struct Messages<'a> {
    report: &'a SessionReport<'a>,
    carried: CarriedCost<'a>,
}

impl Serialize for Messages<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let session = self.report.session;
        to.collect_seq(session.items().iter().enumerate().map(|(ix, item)| {
            let (tokens, source) = session.tokens(ix);
            let part = ItemPart::new(session.items(), (ix, tokens, source));
            MessagePart::new(item, part, &self.carried, ix, tokens)
        }))
    }
}

part! { MessagePart<'a>(
    item: &'a Item,
    part: ItemPart<'a>,
    carried: &CarriedCost<'_>,
    ix: usize,
    tokens: u64,
) {
    #[serde(flatten)]
    part: ItemPart<'a> = part,
    kind: &'static str = item.kind.name(),
    in_context: bool = item.in_context(),
    entered: Option<usize> = item.entered,
    left: Option<usize> = item.left.map(|left| left.request),
    left_because: Option<&'static str> = item.left.map(|left| left.why.name()),
    carried: u64 = carried.tokens(ix, tokens),
    carried_usd?: f64 = carried.usd(ix, tokens).map(dollars),
    preview: &'a str = &*item.preview,
}}

/// The requests. Each is made when it is written.
struct Calls<'a>(&'a [Request]);

impl Serialize for Calls<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(CallPart::new))
    }
}

part! { CallPart<'a>(request: &'a Request) {
    line: u64 = request.place.line(),
    at: Option<Timestamp> = request.at,
    model: Option<&'a str> = request.model.as_deref(),
    input: u64 = request.prompt,
    cached: u64 = request.cached,
    output: Option<u64> = request.whole_output(),
    context: u64 = request.prompt + request.output.unwrap_or(0),
    predicted: Option<u64> = request.predicted.map(|p| p.tokens),
    predicted_low: Option<u64> = request.predicted.map(|p| p.low),
    predicted_high: Option<u64> = request.predicted.map(|p| p.high),
    // The agent's own estimate, if its log has one.
    said?: u64 = request.agent_estimate,
}}

part! { ToolPart(tool: &Tool) {
    name: Box<str> = tool.name.clone(),
    results: usize = tool.results,
    failed?: usize = Some(tool.failed).filter(|failed| *failed > 0),
    median_seconds?: f64 = tool.median_seconds.map(|seconds| (seconds * 1e3).round() / 1e3),
    tokens: u64 = tool.tokens,
    in_context: u64 = tool.in_context,
    schema?: u64 = Some(tool.schema).filter(|tokens| *tokens > 0),
    largest: u64 = tool.largest.1,
    largest_id: usize = tool.largest.0,
    carried: u64 = tool.carried,
    carried_usd?: f64 = tool.carried_usd.map(dollars),
    share: f64 = (tool.share * 1e3).round() / 1e3,
}}

// Unlogged text that comes and goes.
part! { RecurringJson(part: &RecurringPart) {
    tokens: u64 = part.tokens,
    came: u32 = part.came,
    went: u32 = part.went,
    in_context: Option<bool> = part.is_in,
}}

/// Returns the largest growths, with their parts.
fn jump_parts(session: &Session) -> Vec<JumpPart> {
    let jumps = jumps(session, LISTED_ROWS);
    let parts = jumps
        .iter()
        .flat_map(|jump| jump.parts.iter().take(LISTED_ROWS));
    let calls = CallNames::of_items(session, parts.map(|part| part.item));
    jumps
        .iter()
        .map(|jump| JumpPart::new(session, &calls, jump))
        .collect()
}

// Growth of the context between two counts; `request` is null until a report has come.
part! { JumpPart(session: &Session, calls: &CallNames, jump: &Jump) {
    request: Option<usize> = jump.request,
    line?: u64 = Some(jump.line).filter(|line| *line > 0),
    at: Option<Timestamp> = jump.at,
    tokens: u64 = jump.tokens,
    error?: u64 = Some(jump.error).filter(|error| *error > 0),
    source: Source = jump.source,
    parts: Vec<JumpItem> = jump
        .parts
        .iter()
        .take(LISTED_ROWS)
        .map(|part| JumpItem::new(session, calls, part))
        .collect(),
    // The tokens of the parts that are not listed, of items that left, and of what no item explains.
    more?: u64 = Some(jump.parts.iter().skip(LISTED_ROWS).map(|part| part.tokens).fold(0, u64::saturating_add))
        .filter(|tokens| *tokens > 0),
    left?: u64 = Some(jump.left).filter(|tokens| *tokens > 0),
    unlogged: i64 = jump.unlogged,
}}

// `id` is the larger one of a call and its result.
part! { JumpItem(session: &Session, calls: &CallNames, part: &JumpedPart) {
    id: usize = part.item,
    tokens: u64 = part.tokens,
    source: Source = part.source,
    name: String = part_name(session, calls, part),
}}

part! { WhatIfPart(row: WhatIf) {
    whose: String = row.whose.name().to_owned(),
    dropped: u64 = row.dropped(),
    policy: String = row.policy,
    trigger: Option<u64> = row.trigger,
    compactions: Vec<RuleCompaction> = row.compactions,
    largest: u64 = row.largest,
    prompts: u64 = row.prompts,
    // The first request that would not have fitted.
    over: Option<usize> = row.over,
}}

pub(super) fn by_role<V>(value: impl Fn(Role) -> V) -> BTreeMap<&'static str, V> {
    let roles = Role::ALL.into_iter();
    roles.map(|role| (role.name(), value(role))).collect()
}

/// Rounds a number to a multiple of 1 / `parts`. The result is an integer if `parts` is 1.
fn rounded(x: f64, parts: f64) -> serde_json::Number {
    let whole = (x * parts).round();
    if parts > 1.0 {
        serde_json::Number::from_f64(whole / parts).unwrap_or_else(|| 0.into())
    } else {
        (whole as u64).into()
    }
}
