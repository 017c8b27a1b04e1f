//! The machine-readable report of one session. Keys are stable; new ones may be added.

use crate::model::carried::Carried;
use crate::model::compaction::{Compaction, SizedItem, compactions};
use crate::model::estimators::Estimator;
use crate::model::fleet::FileFacts;
use crate::model::forecast::{self, Forecast, NoForecast};
use crate::model::ledger::Context;
use crate::model::repeats::{Repeats, repeats};
use crate::model::session::{Item, Request, Session};
use crate::model::tools::{Tool, tools};
use crate::model::whatif::{WhatIf, what_if};
use crate::model::{Role, Source};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

/// A session's report: the schema `ctxgauge.report/1`.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    schema: &'static str,
    session: SessionPart<'a>,
    context: ContextPart,
    roles: BTreeMap<&'static str, RolePart>,
    compaction: CompactionPart<'a>,
    messages: Vec<MessagePart<'a>>,
    calls: Vec<CallPart<'a>>,
    tools: Vec<ToolPart>,
    repeats: RepeatsPart,
    what_if: Vec<WhatIfPart>,
}

#[derive(Debug, Serialize)]
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

/// The gauge's numbers, shared with `ls`.
#[derive(Debug, Serialize)]
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
    /// The agent's own number, while it tells of this context.
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<u64>,
    /// Only where it is not the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    estimator: Option<&'static str>,
}

#[derive(Debug, Serialize)]
struct RolePart {
    tokens: u64,
    known: u64,
    estimated: u64,
    items: usize,
}

#[derive(Debug, Serialize)]
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

#[derive(Debug, Serialize)]
struct Band<N> {
    p10: N,
    p50: N,
    p90: N,
}

#[derive(Debug, Serialize)]
struct PastPart<'a> {
    line: u64,
    at: Option<Timestamp>,
    cause: &'a str,
    before: u64,
    after: Option<u64>,
    source: Source,
    after_source: Source,
    dropped: BTreeMap<&'static str, u64>,
    /// What was known here of the size before.
    ours: u64,
    freed: Option<u64>,
    left_items: usize,
    kept_items: usize,
    kept_tokens: u64,
    summary: Option<ItemPart<'a>>,
    largest: Vec<ItemPart<'a>>,
}

/// An item that a compaction took out or put in; `id` is that of `messages`.
#[derive(Debug, Serialize)]
struct ItemPart<'a> {
    id: usize,
    line: u64,
    role: Role,
    tool: Option<&'a str>,
    tokens: u64,
    source: Source,
}

#[derive(Debug, Serialize)]
struct MessagePart<'a> {
    line: u64,
    id: usize,
    role: Role,
    kind: &'static str,
    tool: Option<&'a str>,
    tokens: u64,
    source: Source,
    in_context: bool,
    entered: Option<usize>,
    left: Option<usize>,
    left_because: Option<&'static str>,
    carried: u64,
    /// Only where the prices are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    carried_usd: Option<f64>,
    preview: &'a str,
}

#[derive(Debug, Serialize)]
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
    /// What the agent itself had estimated, where its log says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<u64>,
}

#[derive(Debug, Serialize)]
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

#[derive(Debug, Serialize)]
struct RepeatsPart {
    items: usize,
    wasted: u64,
    of: Vec<RepeatPart>,
}

/// An item that says again what another one says; both by the id of `messages`.
#[derive(Debug, Serialize)]
struct RepeatPart {
    id: usize,
    first: usize,
}

#[derive(Debug, Serialize)]
struct WhatIfPart {
    whose: String,
    policy: String,
    trigger: Option<u64>,
    compactions: Vec<CompactedPart>,
    dropped: u64,
    largest: u64,
    prompts: u64,
    /// The first request that would not have fitted.
    over: Option<usize>,
}

/// `call` is an index into `calls`: the first request after it.
#[derive(Debug, Serialize)]
struct CompactedPart {
    call: usize,
    before: u64,
    after: u64,
}

impl<'a> Report<'a> {
    /// The report of a session that was read from this file, with what its forecast says.
    pub fn new(
        session: &'a Session,
        facts: &'a FileFacts,
        left: &Result<Forecast, NoForecast>,
    ) -> Report<'a> {
        let left = left.as_ref().ok();
        let context = session.context();
        let limits = session.limits();
        let requests = session.requests.len();
        let carried = Carried::by(session, requests);
        Report {
            schema: "ctxgauge.report/1",
            session: SessionPart {
                id: session.meta.id.as_deref().or(facts.id.as_deref()),
                agent: session.agent,
                path: facts.path.to_str().unwrap_or_default(),
                model: session.model(),
                cwd: session.meta.cwd.as_deref(),
                started_at: session.started_at,
                updated_at: session.updated_at,
                records: session.records,
                skipped: &session.skipped,
                lost_fields: &session.lost_fields,
                unreadable: session.unreadable,
                title: session.meta.title.as_deref(),
                parent: session.meta.parent.as_deref().or(facts.parent.as_deref()),
                version: session.meta.version.as_deref(),
                first_unreadable: session
                    .first_unreadable
                    .as_ref()
                    .map(|(place, why)| format!("line {}: {why}", place.line)),
            },
            context: ContextPart::new(session, &context),
            roles: Role::ALL
                .into_iter()
                .map(|role| (role.name(), RolePart::new(&context, role)))
                .collect(),
            compaction: CompactionPart {
                headroom: limits.trigger.map(|t| t.saturating_sub(context.used)),
                policy: limits.policy,
                trigger: limits.trigger,
                trigger_source: limits.trigger_source.name(),
                requests_left: left.map(|left| Band::whole(&left.requests)),
                turns_left: left.map(|left| Band::whole(&left.turns)),
                minutes_left: left.and_then(|left| left.minutes.as_ref().map(Band::tenths)),
                past: compactions(session)
                    .iter()
                    .map(|done| PastPart::new(session, done))
                    .collect(),
            },
            messages: (0..session.items.len())
                .map(|ix| MessagePart::new(session, &carried, ix))
                .collect(),
            calls: session.requests.iter().map(CallPart::new).collect(),
            tools: tools(session, session.in_context(), requests)
                .into_iter()
                .map(ToolPart::new)
                .collect(),
            repeats: RepeatsPart::new(&repeats(session, session.in_context())),
            what_if: what_if(session, requests)
                .into_iter()
                .map(WhatIfPart::new)
                .collect(),
        }
    }
}

impl Band<u64> {
    fn whole(band: &forecast::Band) -> Band<u64> {
        Band {
            p10: band.p10.round() as u64,
            p50: band.p50.round() as u64,
            p90: band.p90.round() as u64,
        }
    }
}

impl Band<f64> {
    fn tenths(band: &forecast::Band) -> Band<f64> {
        let tenths = |x: f64| (x * 10.0).round() / 10.0;
        Band {
            p10: tenths(band.p10),
            p50: tenths(band.p50),
            p90: tenths(band.p90),
        }
    }
}

impl ContextPart {
    pub(super) fn new(session: &Session, context: &Context) -> ContextPart {
        let limits = session.limits();
        ContextPart {
            window: limits.window,
            window_source: limits.window_source.name(),
            used: context.used,
            known: context.known,
            estimated: context.estimated,
            low: context.low,
            high: context.high,
            source: context.basis.name(),
            percent: percent(context.used, limits.window),
            said: session.said().map(|said| said.tokens),
            estimator: other_estimator(session),
        }
    }
}

/// The estimator that numbers are told by, where it is not the usual one.
pub(super) fn other_estimator(session: &Session) -> Option<&'static str> {
    let estimator = session.estimator();
    (estimator != Estimator::default()).then(|| estimator.name())
}

/// A share in percent, to one decimal.
pub(super) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        return 0.0;
    }
    (part as f64 / whole as f64 * 1000.0).round() / 10.0
}

impl RolePart {
    fn new(context: &Context, role: Role) -> RolePart {
        let share = context.role(role);
        RolePart {
            tokens: share.tokens,
            known: share.known,
            estimated: share.estimated,
            items: share.items,
        }
    }
}

impl<'a> PastPart<'a> {
    fn new(session: &'a Session, done: &Compaction) -> PastPart<'a> {
        let reset = &session.resets[done.reset];
        PastPart {
            line: reset.place.line,
            at: reset.at,
            cause: &reset.cause,
            before: reset.before,
            after: reset.after,
            source: reset.before_source,
            after_source: reset.after_source,
            dropped: Role::ALL
                .into_iter()
                .map(|role| (role.name(), reset.dropped[role.index()]))
                .collect(),
            ours: reset.ours,
            freed: done.freed,
            left_items: done.left_items,
            kept_items: done.kept_items,
            kept_tokens: done.kept_tokens,
            summary: done.summary.map(|item| ItemPart::new(session, item)),
            largest: done
                .largest
                .iter()
                .map(|item| ItemPart::new(session, *item))
                .collect(),
        }
    }
}

impl<'a> ItemPart<'a> {
    fn new(session: &'a Session, (ix, tokens, source): SizedItem) -> ItemPart<'a> {
        let item = &session.items[ix];
        ItemPart {
            id: ix,
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
        let item: &Item = &session.items[ix];
        let (tokens, source) = session.tokens(ix);
        MessagePart {
            line: item.place.line,
            id: ix,
            role: item.role,
            kind: item.kind.name(),
            tool: item.tool.as_deref(),
            tokens,
            source,
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

/// Dollars, to a millionth.
fn dollars(usd: f64) -> f64 {
    (usd * 1e6).round() / 1e6
}

impl ToolPart {
    fn new(tool: Tool) -> ToolPart {
        ToolPart {
            name: tool.name,
            results: tool.results,
            tokens: tool.tokens,
            in_context: tool.in_context,
            largest: tool.largest.1,
            largest_id: tool.largest.0,
            carried: tool.carried,
            carried_usd: tool.carried_usd.map(dollars),
            share: (tool.share * 1e3).round() / 1e3,
        }
    }
}

impl RepeatsPart {
    fn new(repeats: &Repeats) -> RepeatsPart {
        let of = repeats.of.iter();
        RepeatsPart {
            items: repeats.items(),
            wasted: repeats.wasted,
            of: of
                .map(|(id, first)| RepeatPart {
                    id: *id,
                    first: *first,
                })
                .collect(),
        }
    }
}

impl WhatIfPart {
    fn new(row: WhatIf) -> WhatIfPart {
        let compactions = row.compactions.iter();
        WhatIfPart {
            whose: row.whose.name().to_owned(),
            trigger: row.trigger,
            compactions: compactions
                .map(|done| CompactedPart {
                    call: done.request,
                    before: done.before,
                    after: done.after,
                })
                .collect(),
            dropped: row.dropped(),
            largest: row.largest,
            prompts: row.prompts,
            over: row.over,
            policy: row.policy,
        }
    }
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
            said: request.said,
        }
    }
}
