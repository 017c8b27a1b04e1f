//! One session for programs: the schema `ctxgauge.report/1`.

use crate::model::carried::Carried;
use crate::model::compaction::{Compaction, compactions};
use crate::model::context::{Context, Share};
use crate::model::estimators::Estimator;
use crate::model::forecast;
use crate::model::repeats::repeats;
use crate::model::session::{Request, Session, SizedItem};
use crate::model::tools::{Tool, tools};
use crate::model::whatif::{Compacted, WhatIf, what_if};
use crate::model::{Role, Source};
use crate::report::{percent, session as report};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
pub(super) struct Report<'a> {
    session: SessionPart<'a>,
    context: ContextPart,
    roles: BTreeMap<&'static str, Share>,
    compaction: CompactionPart<'a>,
    messages: Vec<MessagePart<'a>>,
    calls: Vec<CallPart<'a>>,
    tools: Vec<ToolPart>,
    repeats: RepeatsPart,
    what_if: Vec<WhatIfPart>,
}

#[derive(Serialize)]
struct SessionPart<'a> {
    id: Option<&'a str>,
    agent: &'a str,
    path: &'a str,
    model: Option<&'a str>,
    cwd: Option<&'a str>,
    started_at: Option<Timestamp>,
    updated_at: Option<Timestamp>,
    records: u64,
    skipped: &'a BTreeMap<Box<str>, u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    lost_fields: &'a BTreeMap<&'static str, u64>,
    unreadable: u64,
    title: Option<&'a str>,
    parent: Option<&'a str>,
    version: Option<&'a str>,
    first_unreadable: Option<String>,
}

/// How full the context is, shared with `ls`.
#[derive(Serialize)]
pub(super) struct ContextPart {
    window: u64,
    window_source: &'static str,
    used: u64,
    known: u64,
    estimated: u64,
    low: u64,
    high: u64,
    source: &'static str,
    percent: f64,
    /// The agent's own number, while it applies to this context.
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<u64>,
    /// Only if it is not the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimator: Option<&'static str>,
}

#[derive(Serialize)]
struct CompactionPart<'a> {
    policy: String,
    trigger: Option<u64>,
    trigger_source: &'static str,
    headroom: Option<u64>,
    requests_left: Option<Band<u64>>,
    turns_left: Option<Band<u64>>,
    minutes_left: Option<Band<f64>>,
    past: Vec<PastPart<'a>>,
}

#[derive(Serialize)]
struct Band<N> {
    p10: N,
    p50: N,
    p90: N,
}

#[derive(Serialize)]
struct PastPart<'a> {
    line: u64,
    at: Option<Timestamp>,
    cause: &'a str,
    before: u64,
    after: Option<u64>,
    source: Source,
    after_source: Source,
    dropped: BTreeMap<&'static str, u64>,
    /// The size before as counted here.
    ours: u64,
    freed: Option<u64>,
    left_items: usize,
    kept_items: usize,
    kept_tokens: u64,
    summary: Option<ItemPart<'a>>,
    largest: Vec<ItemPart<'a>>,
}

/// What is said of an item wherever it is listed; `id` is its index in `messages`.
#[derive(Serialize)]
struct ItemPart<'a> {
    id: usize,
    line: u64,
    role: Role,
    tool: Option<&'a str>,
    tokens: u64,
    source: Source,
}

#[derive(Serialize)]
struct MessagePart<'a> {
    #[serde(flatten)]
    item: ItemPart<'a>,
    kind: &'static str,
    in_context: bool,
    entered: Option<usize>,
    left: Option<usize>,
    left_because: Option<&'static str>,
    carried: u64,
    /// Only if the prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    carried_usd: Option<f64>,
    preview: &'a str,
}

#[derive(Serialize)]
struct CallPart<'a> {
    line: u64,
    at: Option<Timestamp>,
    model: Option<&'a str>,
    input: u64,
    cached: u64,
    output: Option<u64>,
    context: u64,
    predicted: Option<u64>,
    predicted_low: Option<u64>,
    predicted_high: Option<u64>,
    /// The agent's own estimate, if its log has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<u64>,
}

#[derive(Serialize)]
struct ToolPart {
    name: Box<str>,
    results: usize,
    tokens: u64,
    in_context: u64,
    largest: u64,
    largest_id: usize,
    carried: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    carried_usd: Option<f64>,
    share: f64,
}

#[derive(Serialize)]
struct RepeatsPart {
    items: usize,
    wasted: u64,
    of: Vec<RepeatPart>,
}

/// An item with the content of an earlier one; both by their ids in `messages`.
#[derive(Serialize)]
struct RepeatPart {
    id: usize,
    first: usize,
}

#[derive(Serialize)]
struct WhatIfPart {
    whose: String,
    policy: String,
    trigger: Option<u64>,
    compactions: Vec<Compacted>,
    dropped: u64,
    largest: u64,
    prompts: u64,
    /// The first request that would not have fitted.
    over: Option<usize>,
}

impl<'a> Report<'a> {
    pub(super) fn new(report: &report::Report<'a>) -> Report<'a> {
        let session = report.session;
        let context = session.context();
        let requests = session.requests().len();
        let carried = Carried::by(session, requests);
        let items = 0..session.items().len();
        let tools = tools(session, session.in_context(), requests).into_iter();
        let what_if = what_if(session, requests).into_iter();
        Report {
            session: SessionPart::new(report),
            context: ContextPart::new(session, &context),
            roles: by_role(|role| *context.role(role)),
            compaction: CompactionPart::new(report, &context),
            messages: items
                .map(|ix| MessagePart::new(session, &carried, ix))
                .collect(),
            calls: session.requests().iter().map(CallPart::new).collect(),
            tools: tools.map(ToolPart::new).collect(),
            repeats: RepeatsPart::new(session),
            what_if: what_if.map(WhatIfPart::new).collect(),
        }
    }
}

fn by_role<V>(value: impl Fn(Role) -> V) -> BTreeMap<&'static str, V> {
    let roles = Role::ALL.into_iter();
    roles.map(|role| (role.name(), value(role))).collect()
}

impl<'a> SessionPart<'a> {
    fn new(report: &report::Report<'a>) -> SessionPart<'a> {
        let (session, facts) = (report.session, report.facts);
        let (meta, first) = (&session.meta, session.first_unreadable.as_ref());
        SessionPart {
            id: meta.id.as_deref().or(facts.id.as_deref()),
            agent: session.agent,
            path: facts.path.to_str().unwrap_or_default(),
            model: session.model(),
            cwd: meta.cwd.as_deref(),
            started_at: session.started_at,
            updated_at: session.updated_at,
            records: session.records,
            skipped: &session.skipped,
            lost_fields: &session.lost_fields,
            unreadable: session.unreadable,
            title: meta.title.as_deref(),
            parent: meta.parent.as_deref().or(facts.parent.as_deref()),
            version: meta.version.as_deref(),
            first_unreadable: first.map(|(place, why)| format!("line {}: {why}", place.line)),
        }
    }
}

impl ContextPart {
    pub(super) fn new(session: &Session, context: &Context) -> ContextPart {
        let (limits, estimator) = (session.limits(), session.estimator());
        let Context {
            used,
            known,
            estimated,
            low,
            high,
            ..
        } = *context;
        ContextPart {
            window: limits.window,
            window_source: limits.window_source.name(),
            used,
            known,
            estimated,
            low,
            high,
            source: context.basis.name(),
            percent: percent(used, limits.window),
            said: session.agent_estimate().map(|own| own.tokens),
            estimator: (estimator != Estimator::default()).then(|| estimator.name()),
        }
    }
}

impl<'a> CompactionPart<'a> {
    fn new(report: &report::Report<'a>, context: &Context) -> CompactionPart<'a> {
        let session = report.session;
        let limits = session.limits();
        let forecast = report.forecast.as_ref().ok();
        let whole = |band: &forecast::Band| Band::rounded(band, |x| x.round() as u64);
        let tenths = |band: &forecast::Band| Band::rounded(band, |x| (x * 10.0).round() / 10.0);
        let past = compactions(session);
        CompactionPart {
            policy: limits.policy,
            trigger: limits.trigger,
            trigger_source: limits.trigger_source.name(),
            headroom: limits.trigger.map(|t| t.saturating_sub(context.used)),
            requests_left: forecast.map(|left| whole(&left.requests)),
            turns_left: forecast.map(|left| whole(&left.turns)),
            minutes_left: forecast.and_then(|left| left.minutes.as_ref().map(tenths)),
            past: past
                .iter()
                .map(|done| PastPart::new(session, done))
                .collect(),
        }
    }
}

impl<N> Band<N> {
    fn rounded(band: &forecast::Band, round: fn(f64) -> N) -> Band<N> {
        Band {
            p10: round(band.p10),
            p50: round(band.p50),
            p90: round(band.p90),
        }
    }
}

impl<'a> PastPart<'a> {
    fn new(session: &'a Session, done: &Compaction) -> PastPart<'a> {
        let reset = &session.resets()[done.reset];
        let item = |item: &SizedItem| ItemPart::new(session, *item);
        PastPart {
            line: reset.place.line,
            at: reset.at,
            cause: reset.cause.name(),
            before: reset.before,
            after: reset.after,
            source: reset.before_source,
            after_source: reset.after_source,
            dropped: by_role(|role| reset.dropped[role.index()]),
            ours: reset.ours,
            freed: done.freed,
            left_items: done.left_items,
            kept_items: done.kept_items,
            kept_tokens: done.kept_tokens,
            summary: done.summary.as_ref().map(item),
            largest: done.largest.iter().map(item).collect(),
        }
    }
}

impl<'a> ItemPart<'a> {
    fn new(session: &'a Session, (id, tokens, source): SizedItem) -> ItemPart<'a> {
        let item = &session.items()[id];
        ItemPart {
            id,
            line: item.place.line,
            role: item.role,
            tool: item.tool.as_deref(),
            tokens,
            source,
        }
    }
}

impl<'a> MessagePart<'a> {
    fn new(session: &'a Session, carried: &Carried<'_>, ix: usize) -> MessagePart<'a> {
        let item = &session.items()[ix];
        let (tokens, source) = session.tokens(ix);
        MessagePart {
            item: ItemPart::new(session, (ix, tokens, source)),
            kind: item.kind.name(),
            in_context: item.in_context(),
            entered: item.entered,
            left: item.left.map(|left| left.request),
            left_because: item.left.map(|left| left.why.name()),
            carried: carried.tokens(ix, tokens),
            carried_usd: carried.usd(ix, tokens).map(dollars),
            preview: &item.preview,
        }
    }
}

/// US dollars, to a millionth.
fn dollars(usd: f64) -> f64 {
    (usd * 1e6).round() / 1e6
}

impl<'a> CallPart<'a> {
    fn new(request: &'a Request) -> CallPart<'a> {
        CallPart {
            line: request.place.line,
            at: request.at,
            model: request.model.as_deref(),
            input: request.prompt,
            cached: request.cached,
            output: request.output,
            context: request.prompt + request.output.unwrap_or(0),
            predicted: request.predicted.map(|p| p.tokens),
            predicted_low: request.predicted.map(|p| p.low),
            predicted_high: request.predicted.map(|p| p.high),
            said: request.agent_estimate,
        }
    }
}

impl ToolPart {
    fn new(tool: Tool) -> ToolPart {
        let (largest_id, largest, _) = tool.largest;
        ToolPart {
            name: tool.name,
            results: tool.results,
            tokens: tool.tokens,
            in_context: tool.in_context,
            largest,
            largest_id,
            carried: tool.carried,
            carried_usd: tool.carried_usd.map(dollars),
            share: (tool.share * 1e3).round() / 1e3,
        }
    }
}

impl RepeatsPart {
    fn new(session: &Session) -> RepeatsPart {
        let repeats = repeats(session, session.in_context());
        let of = repeats.of.iter();
        RepeatsPart {
            items: repeats.items(),
            wasted: repeats.wasted,
            of: of.map(|(&id, &first)| RepeatPart { id, first }).collect(),
        }
    }
}

impl WhatIfPart {
    fn new(row: WhatIf) -> WhatIfPart {
        WhatIfPart {
            whose: row.whose.name().to_owned(),
            dropped: row.dropped(),
            policy: row.policy,
            trigger: row.trigger,
            compactions: row.compactions,
            largest: row.largest,
            prompts: row.prompts,
            over: row.over,
        }
    }
}
