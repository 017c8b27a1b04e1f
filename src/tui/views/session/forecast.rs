//! When the session will compact, or why nobody can say; in a replay what was expected of the next
//! report, and what came. Where the log has no usage report, how good the estimates are.

use super::Shown;
use crate::model::Role;
use crate::model::context::Context;
use crate::model::forecast::is_idle;
use crate::model::session::Session;
use crate::render::{number, text};
use crate::tui::app::{App, Page};
use crate::tui::theme::Theme;
use crate::tui::widgets::line;
use ratatui::text::Span;

pub(super) fn forecast(
    app: &App,
    session: &Session,
    page: &Page,
    shown: &Shown<'_>,
    columns: usize,
    theme: Theme,
) -> Vec<Span<'static>> {
    let said = match &page.forecast {
        _ if session.is_unreported() && shown.context.used > 0 => {
            vec![line::span(unreported(shown.context), theme.estimated())]
        }
        Ok(forecast) => {
            let mut forecast = *forecast;
            if !app.ui.replay.is_on() && is_idle(session, Some(app.now)) {
                forecast.minutes = None;
            }
            vec![line::span(
                forecast.to_string(),
                theme.nearness(shown.nearness),
            )]
        }
        Err(why) => vec![line::span(
            format!("no forecast: {}", why.name()),
            theme.quiet(),
        )],
    };
    let told = app.ui.replay.is_on().then(|| hindsight(page, theme));
    let Some(told) = told.flatten() else {
        return said
            .iter()
            .map(|span| line::span(text::cut(&span.content, columns), span.style))
            .collect();
    };
    line::joined([told, said], columns, theme.quiet())
}

/// That nothing is known, how far off it may be, and what is not even estimated.
fn unreported(context: &Context) -> String {
    let error = context.high.saturating_sub(context.used);
    let error = number::percent(error, context.used).unwrap_or(100).min(100);
    let without = match context.role(Role::System).tokens {
        0 => ", system prompt not counted",
        _ => "",
    };
    format!("no usage in this log: all estimated, within ±{error}%{without}")
}

/// `then 124.1k + 3.9k ±0.4k for the next prompt, now 128.6k (+0.6k)`
fn hindsight(page: &Page, theme: Theme) -> Option<Vec<Span<'static>>> {
    let told = page.state.hindsight?;
    let (low, high) = (told.expected.low, told.expected.high);
    let error = high.saturating_sub(low) / 2;
    let off = i128::from(told.came) - i128::from(told.expected.tokens);
    let sign = if off < 0 { "−" } else { "+" };
    let inside = (low..=high).contains(&told.came);
    let off = number::error(u64::try_from(off.unsigned_abs()).unwrap_or(u64::MAX));
    let style = if inside { theme.text() } else { theme.warn() };
    Some(vec![
        line::span(format!("#{} ", told.request + 1), theme.quiet()),
        line::span("then ", theme.quiet()),
        line::span(number::tokens(told.expected.tokens), theme.estimated()),
        line::span(format!(" ±{}", number::error(error)), theme.estimated()),
        line::span(", now ", theme.quiet()),
        line::span(number::tokens(told.came), theme.strong()),
        line::span(format!(" ({sign}{off})"), style),
    ])
}
