//! When the session will compact, or why there is no forecast; with marked items, how it would be without them; in a
//! replay, the prediction for a request and its actual size. Without usage reports: the error of the estimates.

use super::Shown;
use crate::app::{App, Page};
use crate::paint::{Piece, Pieces, Tone, joined, joined_width, piece, quiet, strong};
use crate::views::groups;
use model::Role;
use model::context::Context;
use model::forecast::is_idle;
use model::session::Session;
use render::{number, text};

pub(super) fn forecast(
    app: &App,
    session: &Session,
    page: &Page,
    shown: &Shown<'_>,
    columns: usize,
) -> Pieces {
    let replayed = app.ui.replay.is_on();
    let mut parts: Vec<Pieces> = replayed
        .then(|| hindsight(page))
        .flatten()
        .into_iter()
        .collect();
    parts.push(match groups::without_marked(page) {
        Some(without) => without,
        None => {
            let room = columns.saturating_sub(joined_width(&parts));
            let forecast = forecast_or_why(app, session, page, shown);
            match (clauses(&forecast.text, room), page.forecast) {
                (Some(text), _) => vec![piece(text, forecast.tone)],
                (None, Ok(next)) => groups::next_requests(&next, shown.nearness),
                (None, Err(_)) => vec![piece(text::cut(&forecast.text, room), forecast.tone)],
            }
        }
    });
    joined(parts, columns)
}

/// As many of a sentence's clauses as fit; `None`: the first does not.
fn clauses(sentence: &str, columns: usize) -> Option<&str> {
    let mut shown = sentence;
    while text::width(shown) > columns {
        (shown, _) = shown.rsplit_once(", ")?;
    }
    Some(shown)
}

fn forecast_or_why(app: &App, session: &Session, page: &Page, shown: &Shown<'_>) -> Piece {
    if session.is_unreported() && shown.context.used > 0 {
        return piece(unreported(shown.context), Tone::Estimated);
    }
    match page.forecast {
        Ok(mut forecast) => {
            if !app.ui.replay.is_on() && is_idle(session, Some(app.now)) {
                forecast.minutes = None;
            }
            piece(forecast.to_string(), shown.nearness)
        }
        Err(why) => quiet(format!("no forecast: {}", why.name())),
    }
}

/// For a session without usage reports: the error of the estimates, and what they leave out.
fn unreported(context: &Context) -> String {
    let half = context.high.saturating_sub(context.used);
    let error = number::percent(half, context.used).unwrap_or(100).min(100);
    let without = match context.role(Role::System).tokens {
        0 => ", system prompt not counted",
        _ => "",
    };
    format!("no usage in the log: all estimated, within ±{error}%{without}")
}

/// `#5 predicted 128.0k ±0.4k, actual 128.6k (+0.6k)`
fn hindsight(page: &Page) -> Option<Pieces> {
    let hindsight = page.state.hindsight?;
    let (low, high) = (hindsight.expected.low, hindsight.expected.high);
    let error = high.saturating_sub(low) / 2;
    let off = i128::from(hindsight.came) - i128::from(hindsight.expected.tokens);
    let sign = if off < 0 { "−" } else { "+" };
    let inside = (low..=high).contains(&hindsight.came);
    let off = number::error(u64::try_from(off.unsigned_abs()).unwrap_or(u64::MAX));
    let tone = if inside { Tone::Text } else { Tone::Warn };
    let expected = number::tokens(hindsight.expected.tokens);
    Some(vec![
        quiet(format!("#{} predicted ", hindsight.request + 1)),
        piece(expected, Tone::Estimated),
        piece(format!(" ±{}", number::error(error)), Tone::Estimated),
        quiet(", actual "),
        strong(number::tokens(hindsight.came)),
        piece(format!(" ({sign}{off})"), tone),
    ])
}
