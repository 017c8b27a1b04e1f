//! Sentences on a session that its reports for people share.

use super::Report;
use crate::output::document::Line;
use model::Source;
use model::cost::rebuilds::rebuilds;
use model::cost::tools::Server;
use model::outlook::forecast::NoForecast;
use model::outlook::whatif::{RuleOwner, WhatIf, what_if};
use model::session::context::Context;
use model::session::{Coverage, Session};
use model::window::Limits;
use render::clock::Clock;
use render::number::{counted, error, percent, tokens};
use render::{NONE, or_none, plan, rebuild, triggers, unknown};

/// Returns the line on the size of the context, in percent of the trigger as on the screens. It has the same shape for
/// all sessions.
pub(super) fn gauge(session: &Session, context: &Context, limits: &Limits) -> String {
    let known = match session.coverage {
        Coverage::Unread => return format!("{NONE} not read yet"),
        _ if context.known > 0 => format!("{} known", tokens(context.known)),
        _ if session.requests().is_empty() => format!("{NONE} known (no usage report)"),
        _ => format!("{NONE} known (no usage report since the last reset)"),
    };
    let estimated = match context.estimated {
        0 => String::new(),
        estimated => {
            let half = (context.high - context.used).max(context.used - context.low);
            format!(" + {} ±{} est", tokens(estimated), error(half, estimated))
        }
    };
    let (counted, end) = context.filled(limits);
    let share = or_none(percent(counted, end).map(|p| p.to_string()));
    let (end, name) = (tokens(end), limits.end_name());
    format!("{known}{estimated} · {share}% of {end} {name}")
}

/// Returns the window and the trigger, each with its source, and the headroom.
pub(super) fn limits(context: &Context, limits: &Limits) -> String {
    let trigger = match limits.trigger {
        Some(trigger) => format!(
            "compacts at {} ({}), headroom {}",
            tokens(trigger),
            limits.trigger_from(),
            tokens(context.headroom(trigger))
        ),
        None => {
            let why = limits.no_trigger();
            let why = why.unwrap_or_else(|| "no automatic compaction known".to_owned());
            match limits.refused_near() {
                Some(near) => format!("{why}, headroom about {}", tokens(context.headroom(near))),
                None => why,
            }
        }
    };
    let (window, source) = (tokens(limits.window), limits.window_from());
    format!("window {window} ({source}) · {trigger}")
}

/// Returns the agent's own number beside that of the reports; `None`: there is none.
pub(super) fn agents_number(session: &Session) -> Option<String> {
    let own = session.agent_estimate()?;
    let how = match own.source {
        Source::Reported => "reported",
        Source::Agent => "estimated without it",
        _ => "estimated here",
    };
    let (count, ours) = (tokens(own.tokens), tokens(own.ours));
    Some(format!("the agent's own number is {count}; {ours} {how}"))
}

/// Returns lines on other causes of a compaction, changes of their rules, and the prompt cache.
pub(super) fn beside_size(report: &Report<'_>, clock: &Clock) -> Vec<String> {
    let session = report.session;
    let sentences = report.next.iter();
    let sentences = sentences.filter_map(|next| triggers::sentence(next, clock));
    let mut lines: Vec<String> = sentences.collect();
    lines.extend(triggers::changed(session, clock));
    if let Some(cache) = report.gauge.prompt_cache() {
        let state = cache.state(clock.now);
        let next = triggers::next_prompt(&report.gauge.next_prompt(clock.now), state);
        let source = cache.life.source.name();
        let failed = triggers::cache_failures(&cache, state);
        let failed = failed.map_or_else(String::new, |failed| format!("; {failed}"));
        lines.push(format!(
            "{} ({source}{failed}): {next}",
            triggers::cache(state, clock)
        ));
    }
    lines.extend(rebuild::all(&rebuilds(session)));
    let limits = plan::limits(&report.gauge, clock.now);
    lines.extend(limits.map(|limits| format!("limits of the plan: {limits}")));
    lines
}

/// Returns the forecast; `None`: the sentence on the limits says that there is no trigger.
pub(super) fn forecast(report: &Report<'_>) -> Option<String> {
    match &report.forecast {
        Ok(forecast) => Some(forecast.to_string()),
        Err(NoForecast::NoTrigger) => None,
        Err(why) => Some(format!("no forecast: {}", why.name())),
    }
}

/// Returns the size of a server, to follow its name.
pub(super) fn server(server: &Server) -> String {
    let tools = counted(server.tools as u64, "tool");
    let [schema, calls, now] = [server.schema, server.calls, server.in_context].map(tokens);
    format!(
        ": {tools}, {schema} of definitions, {calls} of calls and {now} of results in the context"
    )
}

/// Returns what happened, what the session's own policy would have done, and three others: those with the fewest prompt
/// tokens, the median and the most. Policies with the same outcome share a row. Empty: none would have compacted.
pub(super) fn policies(session: &Session) -> Vec<(String, WhatIf)> {
    let rows = what_if(session, session.requests().len());
    if rows.iter().all(|row| row.compactions.is_empty()) {
        return Vec::new();
    }
    let is_shared = |row: &WhatIf| matches!(row.whose, RuleOwner::Agent(_) | RuleOwner::Generic);
    let mut merged: Vec<(String, WhatIf)> = Vec::new();
    for row in rows {
        let row_name = policy_name(&row);
        let same = merged.iter_mut().find(|(_, other)| {
            is_shared(&row)
                && is_shared(other)
                && (other.trigger, &other.compactions) == (row.trigger, &row.compactions)
        });
        match same {
            Some((names, _)) => {
                let name = row_name.strip_prefix(AS).filter(|_| names.starts_with(AS));
                *names = format!("{names}, {}", name.unwrap_or(&row_name));
            }
            None => merged.push((row_name, row)),
        }
    }
    let (mut shown, mut others): (Vec<_>, Vec<_>) =
        merged.into_iter().partition(|(_, row)| !is_shared(row));
    let is_new = |row: &WhatIf| {
        shown
            .iter()
            .all(|(_, it)| it.compactions != row.compactions)
    };
    others.retain(|(_, row)| is_new(row));
    others.sort_by_key(|(_, row)| row.prompts);
    let last = others.len().saturating_sub(1);
    let kept = [0, last / 2, last];
    let others = others.into_iter().enumerate();
    shown.extend(
        others
            .filter(|(at, _)| kept.contains(at))
            .map(|(_, row)| row),
    );
    shown
}

/// The word before the name of an agent whose rule is tried.
const AS: &str = "as ";

fn policy_name(row: &WhatIf) -> String {
    match &row.whose {
        RuleOwner::Real => "actual".to_owned(),
        RuleOwner::Own => format!("its own: {}", row.policy),
        RuleOwner::Smaller => format!("its own, {}", row.policy),
        RuleOwner::Agent(id) => format!("{AS}{id}"),
        RuleOwner::Generic => row.policy.clone(),
    }
}

/// Returns lines on the parts of the log that are not counted.
pub(super) fn not_counted(session: &Session) -> Vec<Line> {
    let mut all = Vec::new();
    if let Some((place, why)) = &session.first_unreadable {
        let lines = counted(session.unreadable, "unreadable line");
        let line = place.line();
        let of = format!("{lines}, not counted; the first is line {line}: ");
        all.push(Line::own(of).and_log(why));
    }
    if session.damaged > 0 {
        let lines = counted(session.damaged, "damaged line");
        all.push(format!("{lines}, read without the bytes that are no text").into());
    }
    if let Some(short) = session.short_prompts() {
        let prompts = counted(short as u64, "prompt");
        all.push(
            format!(
                "{prompts} held less than the log: something leaves content out before it is sent"
            )
            .into(),
        );
    }
    if session.unreadable_usage > 0 {
        let reports = counted(session.unreadable_usage, "unreadable usage report");
        all.push(format!("{reports}: what is missing in them is estimated").into());
    }
    if let Some(warning) = unknown::warning(session) {
        all.push(Line::log(&warning).and("; they are not counted"));
    }
    let counts = |what, all: &mut dyn Iterator<Item = (&str, &u64)>| {
        let counts = all.map(|(name, n)| Line::log(name).and(format!(" {n}")));
        Line::own(what).and_line(Line::joined(counts, ", "))
    };
    if !session.lost_fields.is_empty() {
        let mut fields = session.lost_fields.iter().map(|(name, n)| (*name, n));
        all.push(counts(
            "fields of an unexpected type, not used: ",
            &mut fields,
        ));
    }
    if !session.skipped.is_empty() {
        let mut kinds = session.skipped.iter().map(|(kind, n)| (&**kind, n));
        all.push(counts("skipped, not in the context: ", &mut kinds));
    }
    all
}
