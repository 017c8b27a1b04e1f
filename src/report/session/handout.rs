//! The report of one session to hand on.

mod accuracy;
mod tables;

use super::text::{gauge_line, largest};
use super::{Report, words};
use crate::audit::SessionAudit;
use crate::handout::{Block, Chart, Gauge, Handout, Line, Section, Steps, Trigger};
use jiff::Timestamp;
use jiff::tz::Offset;
use model::compaction::compactions;
use model::context::Context;
use model::replay::{Timeline, role_sizes};
use model::session::Session;
use model::window::Limits;
use render::clock::Clock;
use render::number::counted;
use render::own_count::own_count;
use render::text::{capitalised, inert, short_model};

/// The result of the session's audit.
#[derive(Default)]
pub(super) enum AuditResult {
    /// The audit, which was made.
    Audited(SessionAudit),
    /// No audit: the log came through a pipe, and cannot be read again.
    #[default]
    Piped,
    /// No audit: the log could not be read again.
    Unread,
}

/// Puts the report of a session together.
pub(super) fn handout(report: &Report<'_>) -> Handout {
    let session = report.session;
    let (context, limits) = (session.context(), session.limits());
    let (largest, done) = (largest(session), compactions(session));
    let sections = [
        Some(fill(report, &context, &limits)),
        over_time(report, &context, &limits),
        Some(tables::roles(&context)),
        tables::largest(session, &largest, report.left_out.is_none()),
        tables::jumps(session),
        tables::tools(session),
        tables::compactions(session, &done, report.left_out.is_none()),
        tables::what_if(session),
        Some(accuracy::section(&report.checked)),
        Some(tables::sources(session, &limits)),
        not_counted(session),
        Some(left_out(report)),
    ];
    Handout {
        title: title(report),
        facts: facts(report),
        sections: sections.into_iter().flatten().collect(),
        made_by: Line::own(format!(
            "Made by ctxgauge {} from the log of the session. Sizes are in tokens: 12.3k are 12,300.",
            env!("CARGO_PKG_VERSION")
        )),
    }
}

fn title(report: &Report<'_>) -> Line {
    match &report.title {
        Some(title) => Line::log(title),
        None => Line::own("A session of ").and_log(report.facts.label),
    }
}

fn facts(report: &Report<'_>) -> Vec<(&'static str, Line)> {
    let (session, facts) = (report.session, report.facts);
    let version = session.meta.version.as_deref();
    let agent = Line::log(session.agent);
    let agent = match (version, report.gauge.newer_than_proven()) {
        (Some(version), None) => agent.and(" ").and_log(version),
        (Some(version), Some(proven)) => agent
            .and(" ")
            .and_log(version)
            .and(" (rules as of ")
            .and_log(proven)
            .and("; newer versions may differ)"),
        (None, _) => agent,
    };
    let id = session.meta.id.as_deref().or(facts.id.as_deref());
    let times = [session.started_at, session.updated_at];
    let path = facts.path.to_string_lossy();
    let counts = [
        counted(session.requests().len() as u64, "request"),
        counted(session.turns.into(), "user turn"),
        counted(session.items().len() as u64, "item"),
        counted(session.records, "record"),
    ];
    [
        ("Agent", Some(agent)),
        (
            "Model",
            session.model().map(|id| Line::log(short_model(id))),
        ),
        ("Session", id.map(Line::log)),
        ("Project", session.meta.cwd.as_deref().map(Line::log)),
        ("Log", Some(Line::log(&path))),
        ("From", times[0].map(|at| time(at).into())),
        ("To", times[1].map(|at| time(at).into())),
        ("Contains", Some(counts.join(", ").into())),
    ]
    .into_iter()
    .filter_map(|(name, fact)| Some((name, fact?)))
    .collect()
}

/// Returns a time in UTC, to the minute.
fn time(at: Timestamp) -> String {
    let at = Offset::UTC.to_datetime(at);
    at.strftime("%F %H:%M UTC").to_string()
}

/// Returns the section on the size of the context.
fn fill(report: &Report<'_>, context: &Context, limits: &Limits) -> Section {
    let session = report.session;
    let gauge = Gauge {
        known: context.known,
        estimated: context.estimated,
        low: context.low,
        high: context.high,
        trigger: trigger(context, limits),
        window: limits.window,
    };
    let sentences = [
        Some(words::limits(context, limits)),
        own_count(report.facts.label, context, limits.trigger).map(|own| own.to_string()),
        words::agents_number(session),
        words::forecast(report),
    ];
    let section = Section::new("How full the context is")
        .with(Block::Headline(gauge_line(session, context, limits).into()))
        .with(gauge);
    // Its other times are UTC too.
    let clock = Clock::utc(report.clock.now);
    let others = words::beside_size(report, &clock).into_iter();
    let others = others.map(|sentence| inert(&sentence).into_owned());
    let sentences = sentences.into_iter().flatten().chain(others);
    sentences.fold(section, |section, sentence| {
        section.with(Line::own(capitalised(&sentence)))
    })
}

fn trigger(context: &Context, limits: &Limits) -> Option<Trigger> {
    limits.trigger.map(|size| Trigger {
        size,
        here: context.trigger_here(size),
    })
}

fn over_time(report: &Report<'_>, context: &Context, limits: &Limits) -> Option<Section> {
    let session = report.session;
    let resets = session.resets().iter();
    let (steps, sizes, resets) = if session.requests().is_empty() {
        let timeline = Timeline::of(session);
        let resets = resets.enumerate();
        let resets = resets.filter_map(|(ix, _)| timeline.of_reset(ix));
        (
            Steps::Records,
            timeline.role_sizes(session),
            resets.collect(),
        )
    } else {
        let resets = resets.map(|reset| reset.request).collect();
        (Steps::Requests, role_sizes::of_requests(session), resets)
    };
    let forecast = report.forecast.as_ref().ok().filter(|it| !it.is_now());
    let chart = Chart {
        sizes,
        steps,
        resets,
        now: context.roles.map(|share| role_sizes::narrow(share.tokens)),
        trigger: trigger(context, limits),
        window: limits.window,
        ahead: forecast.map(|it| [it.requests.p10, it.requests.p50, it.requests.p90]),
    };
    let how = match steps {
        Steps::Requests => {
            "Prompt and output of each request, as the provider reported them, divided among the roles by the items \
             that it held. A last step that is lower or higher is the context now."
        }
        Steps::Records => "The log has no usage reports: all sizes are estimated.",
    };
    let section = Section::new("Size over time");
    (chart.len() > 1).then(|| section.with(chart).with(Block::Note(how.into())))
}

fn not_counted(session: &Session) -> Option<Section> {
    let lines = words::not_counted(session);
    let section = Section::new("What of the log is not counted");
    let is_some = !lines.is_empty();
    is_some.then(|| lines.into_iter().fold(section, Section::with))
}

fn left_out(report: &Report<'_>) -> Section {
    let line = match &report.left_out {
        Some(left_out) => Line::own(capitalised(&left_out.to_string())).and(
            ". A pseudonym is the same for the same name everywhere. Numbers, roles, kinds and times are those of the \
             log.",
        ),
        None => Line::own(
            "Nothing: this report shows texts, names and paths of the log. Without `--texts` it is made without them.",
        ),
    };
    Section::new("What is left out").with(line)
}
