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
use model::due::triggers::{self, NextTrigger};
use model::lists::gauge::SessionGauge;
use model::lists::sessions::Activity;
use model::outlook::forecast::{NoForecast, is_idle};
use model::session::context::Context;
use model::session::{Coverage, Session};
use model::window::{Limits, TriggerKind, TriggerSource};
use render::clock::Clock;
use render::{number, plan, rebuild, text, triggers as words};

pub(super) fn forecast(
    app: &App,
    (session, gauge): (&Session, &SessionGauge),
    page: &Page,
    shown: &SessionNumbers<'_>,
    columns: usize,
) -> Pieces {
    let replayed = app.ui.replay.is_on();
    let beside = (!replayed).then(|| OtherCauses::of(app, gauge, page));
    let mut parts: Vec<Pieces> = replayed
        .then(|| hindsight(page))
        .flatten()
        .into_iter()
        .collect();
    parts.extend(compact_first(app, session, page));
    let first = beside.as_ref().filter(|beside| beside.is_first);
    parts.extend(first.and_then(OtherCauses::when));
    let without = groups::without_marked(page);
    let taken = without.as_ref().map_or(0, |without| width(without) + 3);
    let room = columns.saturating_sub(joined_width(&parts) + taken);
    let forecast = forecast_or_why(app, session, page, shown);
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
    if let Some(beside) = &beside {
        parts.extend(beside.when().filter(|_| !beside.is_first));
        parts.extend(rebuilt(session));
        parts.extend(beside.cache());
        parts.extend(beside.limits());
        parts.extend(beside.others(session));
    }
    joined(parts, columns)
}

/// The causes other than the size that can compact the session next, and its prompt cache.
struct OtherCauses<'a> {
    gauge: &'a SessionGauge,
    all: Vec<NextTrigger>,
    /// True if it comes before the size.
    is_first: bool,
    clock: Clock,
}

impl<'a> OtherCauses<'a> {
    fn of(app: &App, gauge: &'a SessionGauge, page: &Page) -> OtherCauses<'a> {
        let mut forecast = page.forecast;
        if let Ok(forecast) = &mut forecast
            && is_idle(gauge.updated_at, Some(app.now))
        {
            forecast.minutes = None;
        }
        let all = triggers::next(gauge, &forecast, app.now);
        let first = all.iter().find(|next| next.compacts());
        OtherCauses {
            gauge,
            is_first: first.is_some_and(|next| next.at.is_some()),
            clock: app.clock(),
            all,
        }
    }

    /// Returns `at 14:52 if nobody types`.
    fn when(&self) -> Option<Pieces> {
        let when = words::beside_size(&self.all, &self.clock)?;
        let or = if self.is_first { "compacts" } else { "or" };
        Some(vec![strong(format!("{or} {when}"))])
    }

    /// Returns `cache warm until 14:58, next request $0.24, cold $2.31, failed 1 of 38 here`.
    fn cache(&self) -> Option<Pieces> {
        let cache = self.gauge.prompt_cache()?;
        let state = cache.state(self.clock.now);
        let cost = words::next_prompt(&self.gauge.next_prompt(self.clock.now), state);
        let tone = match state {
            CacheState::Cold(..) => Tone::Warn,
            CacheState::Warm(_) | CacheState::Open(_) => Tone::Text,
        };
        let failed = words::cache_failures(&cache, state);
        let failed = failed.map_or_else(String::new, |failed| format!(", {failed}"));
        Some(vec![
            piece(words::cache(state, &self.clock), tone),
            quiet(format!(", {cost}{failed}")),
        ])
    }

    /// Returns the limits of the user's plan, with what this session used of them.
    fn limits(&self) -> Option<Pieces> {
        plan::limits(self.gauge, self.clock.now).map(|words| vec![quiet(words)])
    }

    /// Returns a sentence on each of the others.
    fn others(&self, session: &Session) -> Vec<Pieces> {
        let others = self.all.iter();
        others
            .filter(|next| next.kind != TriggerKind::Idle)
            .filter_map(|next| words::sentence(next, &self.clock))
            .chain(words::changed(session, &self.clock))
            .map(|sentence| vec![quiet(text::inert(&sentence))])
            .collect()
    }
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

fn forecast_or_why(app: &App, session: &Session, page: &Page, shown: &SessionNumbers<'_>) -> Piece {
    if session.is_unreported() && shown.context.used > 0 {
        return piece(unreported(shown.context), Tone::Estimated);
    }
    match page.forecast {
        Ok(mut forecast) => {
            if !app.ui.replay.is_on() && is_idle(session.updated_at, Some(app.now)) {
                forecast.minutes = None;
            }
            piece(forecast.to_string(), shown.nearness)
        }
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
