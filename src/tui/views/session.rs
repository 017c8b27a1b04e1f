//! One session: the large gauge, the roles, the items.
//!
//! ```text
//!  shop  claude  claude-opus-4-6  2.1.39                                                  ● 2s
//!  window 200k (log) · compacts at 167k (policy)
//!   S   C A      T                                        ~~  ±      ▾167k                200k
//!  ██▓██████████████████████████████████████████████████╱╱╱╱┄┄      ┃░░░░░░░░░░░░░░░░░░░░░░░░▕
//!  124.1k known + 3.9k ±0.4k est · 64% of 200k · compacts at 167k (policy) · headroom 39k
//!  compacts in about 9 requests (6–14), 2 turns (1–4), 6 min (4–11) of work
//!
//!  S system     27.5k  ████████████                                27.5k known
//!  …
//!   TOKENS     ROLE  TOOL        WHEN  WHAT
//!    18.4k ══  T     Read          2m  src/db.rs
//! ```

use super::detail;
use crate::model::context::Context;
use crate::model::fleet::SessionKey;
use crate::model::forecast::is_idle;
use crate::model::session::{Coverage, Session};
use crate::model::window::Limits;
use crate::tui::app::layout::Rows;
use crate::tui::app::{self, App, Hit, Nearness, Page, Panel, Zones};
use crate::tui::theme::Theme;
use crate::tui::widgets::{
    chart::{self, Chart},
    gauge::{Gauge, Place},
    line, number, text,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;

pub(super) fn draw(
    app: &App,
    key: SessionKey,
    theme: Theme,
    buffer: &mut Buffer,
    zones: &mut Zones,
) {
    let (Some(session), Some(brief), Some(page)) = (app.fleet.get(key), app.brief(key), app.page())
    else {
        return;
    };
    let rows = app.session_layout();
    let (width, columns) = (
        buffer.area.width,
        usize::from(buffer.area.width.saturating_sub(2)),
    );
    let shown = Shown {
        context: &page.state.context,
        limits: &page.state.limits,
        nearness: if app.ui.replay.is_on() {
            app::nearness(&page.state.context, &page.state.limits, &[])
        } else {
            brief.nearness()
        },
    };
    header(app, key, session, rows.header.top, theme, buffer);
    let low = rows.forecast.count == 0;
    if rows.facts.count > 0 {
        let next = if low {
            next(page, &shown, theme)
        } else {
            Vec::new()
        };
        let facts = facts(session, page, &shown, next, columns, theme);
        line::write(buffer, (1, rows.facts.top), width, facts);
    }
    let gauge = Gauge {
        context: shown.context,
        limits: shown.limits,
        theme,
        place: Place::Large,
    };
    let across = |rows: Rows| Rect::new(1, rows.top, width.saturating_sub(3), rows.count);
    gauge.scale(across(rows.scale), buffer);
    gauge.bar(across(rows.bar), buffer);
    for y in rows.bar.top..rows.bar.top + rows.bar.count {
        line::write(
            buffer,
            (width - 2, y),
            width,
            [line::span("▕", theme.quiet())],
        );
    }
    let numbers = numbers(&shown, columns, theme);
    line::write(buffer, (1, rows.numbers.top), width, numbers);
    if !low {
        let forecast = forecast(app, session, page, &shown, columns, theme);
        line::write(buffer, (1, rows.forecast.top), width, forecast);
    }
    if rows.transport.count > 0 {
        super::transport::draw(app, page, rows.transport.top, theme, buffer, zones);
    }
    super::roles::draw(app, page, rows.roles, theme, buffer);
    course(app, rows.course, theme, buffer, zones);

    super::tabs::draw(app, page, rows.tabs.top, theme, buffer, zones);
    let list = Rect::new(0, rows.list.top, width, rows.list.count);
    match app.ui.panel {
        Panel::Items => super::items::draw(app, session, page, theme, buffer),
        Panel::Tools => super::tools::draw(app, page, theme, buffer),
        Panel::Compactions => super::compactions::draw(app, session, page, theme, buffer),
        Panel::WhatIf => super::what_if::draw(app, page, theme, buffer),
        Panel::Agents => super::agents::draw(app, page, theme, buffer),
        Panel::Course => {
            let columns = rows.columns.count;
            let area = Rect::new(
                1,
                list.y - columns,
                width.saturating_sub(2),
                list.height + columns,
            );
            course(app, area, theme, buffer, zones);
        }
    }
    if app.ui.panel != Panel::Course {
        zones.add(list, Hit::List);
    }
    if rows.notice.count > 0 {
        super::notices::draw_newest(app, rows.notice.top, theme, buffer);
    }
    super::footer(app, rows.footer.top, theme, buffer, zones);
}

/// What the gauge and its numbers tell of.
struct Shown<'a> {
    context: &'a Context,
    limits: &'a Limits,
    nearness: Nearness,
}

/// The context over time.
fn course(app: &App, area: Rect, theme: Theme, buffer: &mut Buffer, zones: &mut Zones) {
    if let Some(course) = app.course().filter(|_| !area.is_empty()) {
        Chart { course, theme }.draw(area, buffer);
        zones.add(chart::field(area), Hit::Course);
    }
}

/// What is left until the next compaction, in short: `next 9 (6–14)`; empty where there is no forecast.
fn next(page: &Page, shown: &Shown<'_>, theme: Theme) -> Vec<Span<'static>> {
    let forecast = page.forecast.as_ref().ok();
    forecast.map_or_else(Vec::new, |forecast| {
        detail::next_in_short(forecast, shown.nearness, theme)
    })
}

fn header(
    app: &App,
    key: SessionKey,
    session: &Session,
    y: u16,
    theme: Theme,
    buffer: &mut Buffer,
) {
    let age = app.age(key);
    let live = app.is_live(key);
    let width = buffer.area.width;
    let age = age.map_or_else(|| "—".to_owned(), number::age);
    let right = [
        line::span(if live { "● " } else { "" }, theme.live()),
        line::plain(format!("{age} ")),
    ];
    let end = width.saturating_sub(right.iter().map(Span::width).sum::<usize>() as u16 + 1);
    let columns = usize::from(end.saturating_sub(2));

    let name = app::name(&app.fleet, key);
    let label = app
        .fleet
        .facts(key)
        .map_or(session.agent, |facts| facts.label);
    let mut groups = vec![
        vec![line::span(text::cut(&name, columns / 3), theme.accent())],
        vec![line::plain(label)],
    ];
    let mut add = |part: Option<&str>, style: Style| {
        if let Some(part) = part {
            groups.push(vec![line::span(text::cut(part, columns / 3), style)]);
        }
    };
    add(session.model(), Style::new());
    add(session.meta.version.as_deref(), theme.quiet());
    let title = session.meta.title.as_deref();
    add(title.filter(|title| *title != name), theme.quiet());
    let left = line::joined(groups, columns, theme.quiet());
    line::write(buffer, (1, y), end, left);
    line::write_right(buffer, (1, y), width, right);
}

/// When it will compact, or why nobody can say; in a replay what was expected of the next report, and
/// what came.
fn forecast(
    app: &App,
    session: &Session,
    page: &Page,
    shown: &Shown<'_>,
    columns: usize,
    theme: Theme,
) -> Vec<Span<'static>> {
    let said = match &page.forecast {
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

/// How far the numbers can be trusted, and why; what has no row of its own comes before the window.
fn facts(
    session: &Session,
    page: &Page,
    shown: &Shown<'_>,
    next: Vec<Span<'static>>,
    columns: usize,
    theme: Theme,
) -> Vec<Span<'static>> {
    let mut groups = Vec::new();
    if session.unreadable > 0 {
        let lines = if session.unreadable == 1 {
            "line"
        } else {
            "lines"
        };
        groups.push(vec![line::span(
            format!("{} unreadable {lines}", number::short(session.unreadable)),
            theme.warn(),
        )]);
        if let Some((place, why)) = &session.first_unreadable {
            let at = match place.line {
                0 => format!("first: byte {}: {why}", place.offset),
                line => format!("first: line {line}: {why}"),
            };
            groups.push(vec![line::span(text::cut(&at, columns / 3), theme.quiet())]);
        }
    }
    if session.coverage != Coverage::Whole {
        groups.push(vec![line::span("reading…", theme.quiet())]);
    }
    let mut window = window(shown.limits, theme);
    if !next.is_empty() && columns < NARROW {
        window.remove(0);
    }
    groups.push(next);
    groups.push(window);
    groups.push(trigger(shown.limits, theme));
    let resets = page.state.resets as u64;
    if resets > 0 {
        let word = if resets == 1 { "reset" } else { "resets" };
        groups.push(vec![line::span(
            format!("{} {word}", number::short(resets)),
            theme.quiet(),
        )]);
    }
    let skipped = session
        .skipped
        .values()
        .fold(0u64, |a, b| a.saturating_add(*b));
    if skipped > 0 {
        let said = format!("{} records passed over", number::short(skipped));
        groups.push(vec![line::span(said, theme.quiet())]);
    }
    line::joined(groups, columns, theme.quiet())
}

/// The window and how it is known.
pub(super) fn window(limits: &Limits, theme: Theme) -> Vec<Span<'static>> {
    vec![
        line::span("window ", theme.quiet()),
        line::plain(number::short(limits.window)),
        line::span(format!(" ({})", limits.window_source.name()), theme.quiet()),
    ]
}

/// The trigger and how it is known.
pub(super) fn trigger(limits: &Limits, theme: Theme) -> Vec<Span<'static>> {
    match limits.trigger {
        None => {
            let said = limits.no_trigger();
            let words = said.unwrap_or_else(|| "no compaction known".to_owned());
            vec![line::span(words, theme.quiet())]
        }
        Some(trigger) => vec![
            line::span("compacts at ", theme.quiet()),
            line::plain(number::short(trigger)),
            line::span(
                format!(" ({})", limits.trigger_source.name()),
                theme.quiet(),
            ),
        ],
    }
}

/// The gauge in numbers, always in this shape:
/// `124.1k known + 3.9k ±0.4k est · 64% of 200k · compacts at 167k (policy) · headroom 39k`
fn numbers(shown: &Shown<'_>, columns: usize, theme: Theme) -> Vec<Span<'static>> {
    let (context, limits) = (shown.context, shown.limits);
    if context.used == 0 {
        return vec![line::span("no usage reported yet", theme.quiet())];
    }
    if columns < NARROW {
        return numbers_in_short(shown, columns, theme);
    }
    let mut groups = vec![amount(context, theme)];
    if let Some(percent) = number::percent(context.used, limits.window) {
        groups.push(vec![
            line::span(format!("{percent}%"), theme.strong()),
            line::plain(format!(" of {}", number::short(limits.window))),
        ]);
    }
    if let Some(left) = headroom(shown) {
        // Headroom matters more than the trigger, so it comes first where only one of both fits.
        let headroom = vec![
            line::plain("headroom "),
            line::span(number::short(left), theme.nearness(shown.nearness)),
        ];
        let used: usize = groups.iter().flatten().map(Span::width).sum();
        let trigger = trigger(limits, theme);
        let both = used
            + 12
            + trigger
                .iter()
                .chain(&headroom)
                .map(Span::width)
                .sum::<usize>();
        if both <= columns {
            groups.push(trigger);
        }
        groups.push(headroom);
    }
    line::joined(groups, columns, theme.quiet())
}

/// The columns under which the numbers come in short.
const NARROW: usize = 60;

/// The same where there is less room: `124.1k + 3.9k ±0.4k · 64% · 39k left`
fn numbers_in_short(shown: &Shown<'_>, columns: usize, theme: Theme) -> Vec<Span<'static>> {
    let mut amount = amount(shown.context, theme);
    amount.retain(|span| span.content != " known");
    for span in &mut amount {
        if let Some(short) = span.content.strip_suffix(" est") {
            span.content = short.to_owned().into();
        }
    }
    let mut groups = vec![amount];
    if let Some(percent) = number::percent(shown.context.used, shown.limits.window) {
        groups.push(vec![line::span(format!("{percent}%"), theme.strong())]);
    }
    if let Some(left) = headroom(shown) {
        let left = format!("{} left", number::short(left));
        groups.push(vec![line::span(left, theme.nearness(shown.nearness))]);
    }
    line::joined(groups, columns, theme.quiet())
}

fn amount(context: &Context, theme: Theme) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    if context.known > 0 {
        spans.push(line::span(number::tokens(context.known), theme.strong()));
        spans.push(line::plain(" known"));
    }
    if context.estimated > 0 {
        let error = context.high.saturating_sub(context.used);
        spans.push(line::plain(if context.known > 0 { " + " } else { "~" }));
        spans.push(line::span(
            format!(
                "{} ±{} est",
                number::tokens(context.estimated),
                number::error(error)
            ),
            theme.estimated(),
        ));
    }
    spans
}

/// Tokens left before the agent compacts; `None`: it is not known to.
fn headroom(shown: &Shown<'_>) -> Option<u64> {
    Some(shown.limits.trigger?.saturating_sub(shown.context.used))
}
