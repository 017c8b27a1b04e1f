//! The lines below the list: what its columns have no room for, of the selected session.

use crate::model::Role;
use crate::model::context::Context;
use crate::model::fleet::SessionKey;
use crate::model::forecast::Forecast;
use crate::model::session::Session;
use crate::render::{item, number, text};
use crate::tui::app::layout::{GROWTH_FROM, NEXT_FROM};
use crate::tui::app::{self, App, Brief, Nearness};
use crate::tui::theme::{Theme, letter};
use crate::tui::widgets::{line, sparkline};
use ratatui::buffer::Buffer;
use ratatui::text::Span;

/// What the columns have no room for, of the selected session.
pub(super) fn draw(app: &App, y: u16, rows: u16, theme: Theme, buffer: &mut Buffer) {
    let Some(key) = app.current() else {
        return;
    };
    let (Some(session), Some(brief)) = (app.fleet.get(key), app.brief(key)) else {
        return;
    };
    let columns = usize::from(buffer.area.width.saturating_sub(2));
    let mut groups = vec![roles(&brief.context, theme)];
    let low = rows < 2;
    if low && app.ui.size.0 < NEXT_FROM {
        groups.push(next(app, session, brief, theme));
    }
    let mut lines = vec![contents(app, session, brief, groups, columns, theme)];
    if !low {
        lines.insert(0, identity(app, key, session, brief, columns, theme));
    }
    for (spans, y) in lines.into_iter().zip(y..) {
        line::write(buffer, (1, y), buffer.area.right(), spans);
    }
}

fn identity(
    app: &App,
    key: SessionKey,
    session: &Session,
    brief: &Brief,
    columns: usize,
    theme: Theme,
) -> Vec<Span<'static>> {
    let name = app.fleet.name(key);
    let shown = text::cut(&name, columns / 3);
    let mut groups = vec![vec![line::span(shown, theme.strong())]];
    if let Some(compacted) = brief.just_compacted(app.now) {
        let after = compacted.after.unwrap_or(brief.context.used);
        let ago = compacted
            .at
            .map(|at| number::age(app::seconds_since(at, app.now)));
        let ago = ago.map_or_else(String::new, |ago| format!(", {ago} ago"));
        let sizes = format!(
            "{} → {}",
            number::short(compacted.before),
            number::short(after)
        );
        groups.push(vec![line::plain(format!("compacted {sizes}{ago}"))]);
    }
    if app.ui.size.0 < NEXT_FROM {
        groups.push(next(app, session, brief, theme));
    }
    if let Some(model) = session.model() {
        let model = text::cut(text::short_model(model), 24);
        groups.push(vec![line::plain(model)]);
    }
    groups.push(super::session::trigger(&brief.limits, theme));
    if session.is_unreported() && brief.context.used > 0 {
        let said = "no usage in its log: all estimated";
        groups.push(vec![line::span(said, theme.estimated())]);
    }
    if app.ui.size.0 < GROWTH_FROM && !brief.growth.is_empty() {
        let bars = sparkline::bars(&brief.growth, brief.limits.window);
        groups.push(vec![
            line::span("growth ", theme.quiet()),
            line::plain(bars),
        ]);
    }
    groups.push(super::session::window(&brief.limits, theme));
    let title = session.meta.title.as_deref();
    if let Some(title) = title.filter(|title| *title != name) {
        groups.push(vec![line::span(
            text::cut(title, columns / 3),
            theme.quiet(),
        )]);
    }
    line::joined(groups, columns, theme.quiet())
}

/// What is left until the next compaction, in short: `next 9 (6–14)`; empty where there is
/// no forecast.
fn next(app: &App, session: &Session, brief: &Brief, theme: Theme) -> Vec<Span<'static>> {
    let Ok(forecast) = brief.forecast(session, app.now) else {
        return Vec::new();
    };
    next_in_short(&forecast, brief.nearness(), theme)
}

/// The same of a forecast.
pub(super) fn next_in_short(
    forecast: &Forecast,
    nearness: Nearness,
    theme: Theme,
) -> Vec<Span<'static>> {
    let style = theme.nearness(nearness);
    if forecast.is_now() {
        return vec![line::span("compacts now", style)];
    }
    vec![
        line::span("next ", theme.quiet()),
        line::span(number::band(&forecast.requests), style),
    ]
}

/// What is given, and the largest item in the context.
fn contents(
    app: &App,
    session: &Session,
    brief: &Brief,
    mut groups: Vec<Vec<Span<'static>>>,
    columns: usize,
    theme: Theme,
) -> Vec<Span<'static>> {
    let largest = app
        .largest()
        .and_then(|(ix, tokens, _)| Some((session.items().get(ix)?, tokens)));
    if let Some((item, tokens)) = largest {
        let tool = item::label(item);
        let size = format!(" {}", number::tokens(tokens));
        let share = number::percent(tokens, brief.limits.window);
        let share = share.map_or_else(String::new, |p| format!(" ({p}%)"));
        let used: usize = groups.iter().flatten().map(Span::width).sum();
        let room = columns
            .saturating_sub(used + 3 * groups.len() + 9 + size.len() + share.len())
            .min(60);
        if room >= 8 {
            let what = text::cut(&format!("{tool} {}", item::preview(item)), room);
            groups.push(vec![
                line::span("largest ", theme.quiet()),
                line::plain(what),
                line::span(size, theme.strong()),
                line::span(share, theme.quiet()),
            ]);
        }
    }
    line::joined(groups, columns, theme.quiet())
}

/// The roles' letters and tokens in a line.
pub(super) fn roles(context: &Context, theme: Theme) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    for role in Role::ALL {
        let tokens = context.role(role).tokens;
        if tokens == 0 {
            continue;
        }
        if !spans.is_empty() {
            spans.push(line::plain(" "));
        }
        spans.push(line::span(letter(role).to_string(), theme.role(role)));
        spans.push(line::plain(format!(" {}", number::short(tokens))));
    }
    spans
}
