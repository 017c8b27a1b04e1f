//! Draws when the session will compact, or why there is no forecast; with marked items, the forecast without them; in a
//! replay, the prediction for a request and its actual size. Without usage reports: the error of the estimates.

use super::SessionNumbers;
use crate::app::{App, Page, Stage};
use crate::paint::{Piece, Pieces, Tone, joined, joined_width, piece, quiet, strong, width};
use crate::views::groups;
use model::Role;
use model::cost::rebuilds::newest;
use model::due::late_turn::is_next_turn_late;
use model::due::prompt_cache::CacheState;
use model::due::triggers;
use model::lists::gauge::SessionGauge;
use model::lists::sessions::Activity;
use model::outlook::forecast::{Forecast, NoForecast, is_idle};
use model::session::context::Context;
use model::session::{Coverage, Session};
use model::window::{Limits, TriggerKind, TriggerSource};
use render::clock::Clock;
use render::{number, plan, rebuild, text, triggers as words};

pub(super) fn forecast(
    app: &App,
    session: &Session,
    page: &Page,
    shown: &SessionNumbers<'_>,
    columns: usize,
) -> Pieces {
    let replayed = app.ui.replay.is_on();
    let clock = app.clock();
    let mut next_size = page.forecast;
    if let Ok(forecast) = &mut next_size
        && !replayed
        && is_idle(session.updated_at, Some(app.now))
    {
        forecast.minutes = None;
    }
    // In a replay nothing comes at a time.
    let all = if replayed {
        Vec::new()
    } else {
        triggers::next(shown.gauge, &next_size, app.now)
    };
    let mut compact = all.iter().filter(|next| next.compacts());
    let is_timed_first = compact.next().is_some_and(|next| next.at.is_some());
    // Such as `or at 14:52 if nobody types`.
    let timed = |or: &str| {
        let when = words::beside_size(&all, &clock)?;
        Some(vec![strong(format!("{or} {when}"))])
    };
    let mut parts: Vec<Pieces> = Vec::new();
    parts.extend(hindsight(page).filter(|_| replayed));
    parts.extend(compact_first(app, session, page));
    parts.extend(timed("compacts").filter(|_| is_timed_first));
    let without = groups::without_marked(page);
    let taken = without.as_ref().map_or(0, |without| width(without) + 3);
    let room = columns.saturating_sub(joined_width(&parts) + taken);
    let forecast = forecast_or_why(session, next_size, shown);
    parts.push(match (clauses(&forecast.text, room), page.forecast) {
        (Some(text), _) => vec![piece(text, forecast.tone)],
        (None, Ok(next)) => {
            let stage = Stage::settled_if(session.coverage == Coverage::Whole);
            let mut words = groups::next_requests(stage, &next, shown.nearness);
            if let ([next, band], true) = (&mut words[..], replayed) {
                // The next request is named before it.
                next.text = "compacts in ".to_owned();
                let is_wide = next.width() + band.width() > room;
                let median = band.text.split(' ').next().filter(|_| is_wide);
                band.text = median.unwrap_or(&band.text).to_owned();
            }
            words
        }
        (None, Err(_)) => vec![piece(text::cut(&forecast.text, room), forecast.tone)],
    });
    parts.extend(without);
    if !replayed {
        parts.extend(timed("or").filter(|_| !is_timed_first));
        parts.extend(rebuilt(session));
        parts.extend(cache(shown.gauge, &clock));
        // With what this session used of them.
        let limits = plan::limits(shown.gauge, clock.now);
        let others = all.iter().filter(|next| next.kind != TriggerKind::Idle);
        let others = others.filter_map(|next| words::sentence(next, &clock));
        let others = others.chain(words::changed(session, &clock));
        let others = others.map(|sentence| text::inert(&sentence).into_owned());
        parts.extend(
            limits
                .into_iter()
                .chain(others)
                .map(|words| vec![quiet(words)]),
        );
    }
    joined(parts, columns)
}

/// Returns `cache warm until 14:58, next request $0.24, cold $2.31, failed 1 of 38 here`.
fn cache(gauge: &SessionGauge, clock: &Clock) -> Option<Pieces> {
    let cache = gauge.prompt_cache()?;
    let state = cache.state(clock.now);
    let cost = words::next_prompt(&gauge.next_prompt(clock.now), state);
    let tone = match state {
        CacheState::Cold(..) => Tone::Warn,
        CacheState::Warm(_) | CacheState::Open(_) => Tone::Text,
    };
    let failed = words::cache_failures(&cache, state);
    let failed = failed.map_or_else(String::new, |failed| format!(", {failed}"));
    Some(vec![
        piece(words::cache(state, clock), tone),
        quiet(format!(", {cost}{failed}")),
    ])
}

/// Returns `compact before you ask` for a live session whose next turn would begin late.
fn compact_first(app: &App, session: &Session, page: &Page) -> Option<Pieces> {
    let activity = app.sessions.live(page.key, app.now)?;
    let waits = activity != Activity::Working && !app.ui.replay.is_on();
    let is_late = waits && is_next_turn_late(session, &page.state.context, &page.state.limits);
    is_late.then(|| vec![piece(words::COMPACT_FIRST, Tone::Warn)])
}

/// Returns `cache rebuilt: tools changed, 211k, $4.02` if the newest request did that.
fn rebuilt(session: &Session) -> Option<Pieces> {
    let words = rebuild::one(&newest(session)?);
    Some(vec![piece(words, Tone::Warn)])
}

/// Returns as many of a sentence's clauses as fit; `None`: the first does not.
fn clauses(sentence: &str, columns: usize) -> Option<&str> {
    let mut shown = sentence;
    while text::width(shown) > columns {
        (shown, _) = shown.rsplit_once(", ")?;
    }
    Some(shown)
}

fn forecast_or_why(
    session: &Session,
    forecast: Result<Forecast, NoForecast>,
    shown: &SessionNumbers<'_>,
) -> Piece {
    if session.is_unreported() && shown.context.used > 0 {
        return piece(unreported(shown.context), Tone::Estimated);
    }
    match forecast {
        Ok(forecast) => piece(forecast.to_string(), shown.nearness),
        Err(why) => quiet(format!("no forecast: {}", why_none(why, shown.limits))),
    }
}

/// Returns the reason for which there is no forecast: for a session without a trigger, what compacts it.
fn why_none(why: NoForecast, limits: &Limits) -> String {
    match (why, limits.trigger_source) {
        (NoForecast::NoTrigger, TriggerSource::Settings | TriggerSource::Client) => {
            "compaction is off".to_owned()
        }
        (NoForecast::NoTrigger, _) if limits.no_trigger().is_some() => {
            format!("it {}", limits.compacts())
        }
        _ => why.name().to_owned(),
    }
}

/// Describes the error of the estimates and the parts that they leave out, for a session without usage reports.
fn unreported(context: &Context) -> String {
    let half = context.high.saturating_sub(context.used);
    let error = number::percent(half, context.used).unwrap_or(100).min(100);
    let without = match context.role(Role::System).tokens {
        0 => ", system prompt not counted",
        _ => "",
    };
    format!("no usage in the log: all estimated, within ±{error}%{without}")
}

/// Returns `next, #5: predicted 128.0k ±0.4k, actual 128.6k (+0.6k)`.
fn hindsight(page: &Page) -> Option<Pieces> {
    let hindsight = page.state.hindsight?;
    let (low, high) = (hindsight.expected.low, hindsight.expected.high);
    let error = high.saturating_sub(low) / 2;
    let off = i128::from(hindsight.came) - i128::from(hindsight.expected.tokens);
    let sign = if off < 0 { "−" } else { "+" };
    let inside = (low..=high).contains(&hindsight.came);
    let off = number::error(
        u64::try_from(off.unsigned_abs()).unwrap_or(u64::MAX),
        hindsight.came,
    );
    let tone = if inside { Tone::Text } else { Tone::Warn };
    let expected = number::tokens(hindsight.expected.tokens);
    Some(vec![
        quiet(format!("next, #{}: predicted ", hindsight.request + 1)),
        piece(expected, Tone::Estimated),
        piece(
            format!(" ±{}", number::error(error, hindsight.expected.tokens)),
            Tone::Estimated,
        ),
        quiet(", actual "),
        strong(number::tokens(hindsight.came)),
        piece(format!(" ({sign}{off})"), tone),
    ])
}
