//! The report of one session for people: a short one, or all of it for those who were not there.

mod accuracy;
mod tables;

use super::{Report, words};
use crate::audit::SessionAudit;
use crate::output::document::{
    self, Block, Chart, Document, Facts, Gauge, Line, Section, Steps, Trigger,
};
use crate::output::finding::{TITLE, facts_of, heading};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::cost::calls::Calls;
use model::outlook::compaction::compactions;
use model::session::Session;
use model::session::context::Context;
use model::session::replay::{Timeline, role_sizes};
use model::why::without_texts;
use model::window::Limits;
use render::clock::Clock;
use render::number::{counted, tokens};
use render::own_count::own_count;

/// The most compactions that are listed in a report to share, the newest ones.
const MOST_COMPACTIONS: usize = 50;

/// The result of the session's audit.
pub(super) enum AuditResult {
    /// The audit, which was made.
    Audited(SessionAudit),
    /// No audit: the log came through a pipe, and cannot be read again.
    Piped,
    /// No audit: the log could not be read again.
    Unread,
}

/// Puts the report of a session together. A report with an audit is for those who were not there.
pub(super) fn document(report: &Report<'_>) -> Document {
    let session = report.session;
    let (context, limits) = (session.context(), session.limits());
    let whole = report.checked.as_ref();
    // A page to share is read elsewhere.
    let zone = &match whole {
        Some(_) => TimeZone::UTC,
        None => report.clock.zone.clone(),
    };
    let (largest, all) = (tables::largest_items(session), compactions(session));
    let earlier = whole.map_or(0, |_| all.len().saturating_sub(MOST_COMPACTIONS));
    let done = &all[earlier..];
    let left = done.iter().flat_map(|done| &done.largest);
    let named = largest.iter().chain(left.map(|(ix, ..)| ix)).copied();
    let calls = match report.left_out {
        Some(_) => None,
        None => Some(&Calls::of_items(session, named)),
    };
    let sections = [
        Some(Section::default().with(facts(report, zone))),
        Some(fill(report, &context, &limits)),
        whole.and_then(|_| over_time(report, &context, &limits)),
        Some(tables::roles(&context)),
        tables::largest(session, &largest, calls),
        tables::jumps(session, zone),
        tables::tools(session),
        tables::compactions(session, (done, earlier), calls, zone),
        tables::what_if(session),
        findings(report),
        whole.map(accuracy::section),
        whole.map(|_| tables::sources(session, &limits)),
        not_counted(session),
        left_out(report),
    ];
    Document {
        title: title(report),
        sections: sections.into_iter().flatten().collect(),
    }
}

fn title(report: &Report<'_>) -> Line {
    let id = report.session.meta.id.as_deref();
    let id = id.or(report.facts.id.as_deref());
    match (report.title.as_deref(), &report.checked) {
        (Some(title), Some(_)) => Line::log(title),
        // Pages of several sessions are open beside each other.
        (None, Some(_)) => {
            let agent = Line::own("A session of ").and_log(report.facts.label);
            match id {
                Some(id) => agent.and(", ").and_log(id),
                None => agent,
            }
        }
        (title, None) => {
            let agent = Line::own(report.session.agent).and(" · ");
            agent.and_log(title.or(id).unwrap_or("no id"))
        }
    }
}

fn facts(report: &Report<'_>, zone: &TimeZone) -> Facts {
    let (session, facts) = (report.session, report.facts);
    let version = session.meta.version.as_deref();
    let agent = Line::own(session.agent);
    let agent = match (version, report.gauge.newer_than_proven()) {
        (Some(version), None) => agent.and(" ").and_log(version),
        (Some(version), Some(proven)) => agent
            .and(", written by ")
            .and_log(version)
            .and("; rules as of ")
            .and_log(proven)
            .and(": newer versions may differ"),
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
    let others = (report.others > 0).then(|| {
        let others = report.others;
        format!("the file holds {others} more: `ctxgauge ls` lists them, --session selects one")
    });
    document::facts([
        ("Agent", Some(agent)),
        ("Model", session.model().map(Line::log)),
        ("Session", id.map(Line::log)),
        ("Project", session.meta.cwd.as_deref().map(Line::log)),
        ("Log", Some(Line::log(&path))),
        ("From", times[0].map(|at| time(at, zone).into())),
        ("To", times[1].map(|at| time(at, zone).into())),
        ("Contains", Some(counts.join(", ").into())),
        ("Others", others.map(Line::from)),
    ])
}

/// Returns a time to the minute, with its zone.
fn time(at: Timestamp, zone: &TimeZone) -> String {
    let at = at.to_zoned(zone.clone());
    at.strftime("%F %H:%M %Z").to_string()
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
    let own_count = own_count(report.facts.label, context, limits.trigger);
    let counts = [
        Some(words::limits(context, limits)),
        own_count.map(|own| own.to_string()),
        words::agents_number(session),
    ];
    // The other times of a whole report are UTC too.
    let clock = match report.checked {
        Some(_) => &Clock::utc(report.clock.now),
        None => &report.clock,
    };
    Section::new("How full the context is")
        .with(Block::Headline(
            words::gauge(session, context, limits).into(),
        ))
        .with(gauge)
        .with_all(counts.into_iter().flatten())
        .with_all(clients_number(session))
        .with_all(words::forecast(report))
        .with_all(words::beside_size(report, clock))
}

/// Returns what the agent's client estimated, and the parts of it.
fn clients_number(session: &Session) -> Option<Line> {
    let said = session.said()?.breakdown.as_ref()?;
    let parts = said.parts.iter();
    let parts = parts.map(|(name, size)| Line::log(name).and(format!(" {}", tokens(*size))));
    let (all, at) = (tokens(said.tokens), said.at.strftime("%F %TZ"));
    let client = Line::own(format!("the agent's client estimated {all} at {at}: "));
    Some(client.and_line(Line::joined(parts, ", ")))
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
    let forecast = report.forecast.as_ref().ok();
    let forecast = forecast.filter(|it| limits.trigger.is_some() && !it.is_now());
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

/// Returns the section on what can be changed. It goes without the texts of items, which would take too long to look at.
fn findings(report: &Report<'_>) -> Option<Section> {
    let found = without_texts(report.session);
    let mut section = Section::new(TITLE);
    for (ix, finding) in found.iter().enumerate() {
        section = section.with(heading(ix + 1, finding));
        section = section.with(facts_of(finding, report.session.agent, 1));
    }
    let path = match report.left_out {
        Some(_) => "PATH".into(),
        None => report.facts.path.to_string_lossy(),
    };
    let more = Line::own("`ctxgauge why ").and_log(&path);
    let section = section.with(
        more.and("` looks at results and listings too; findings overlap, so do not add them up"),
    );
    (!found.is_empty()).then_some(section)
}

fn not_counted(session: &Session) -> Option<Section> {
    let lines = words::not_counted(session);
    let section = Section::new("What of the log is not counted");
    (!lines.is_empty()).then(|| section.with_all(lines))
}

fn left_out(report: &Report<'_>) -> Option<Section> {
    let section = Section::new("What is left out");
    if let Some(left_out) = &report.left_out {
        let note = "A pseudonym is the same for the same name everywhere. Numbers, roles, kinds and times are those of \
                    the log.";
        let section = section.with(left_out.to_string());
        return Some(section.with(Block::Note(note.into())));
    }
    let nothing = "Nothing: this report shows texts, names and paths of the log. Without `--texts` it is made without them.";
    report.checked.as_ref().map(|_| section.with(nothing))
}
