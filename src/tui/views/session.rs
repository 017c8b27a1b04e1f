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

mod facts;
mod forecast;
mod numbers;

pub(super) use facts::{notice, trigger, window};
pub(super) use numbers::agent;

use crate::model::agent_estimate::AgentEstimate;
use crate::model::context::Context;
use crate::model::fleet::SessionKey;
use crate::model::session::Session;
use crate::model::window::Limits;
use crate::render::{number, text};
use crate::tui::app::layout::Rows;
use crate::tui::app::{self, App, Hit, Nearness, Panel, Zones};
use crate::tui::theme::Theme;
use crate::tui::widgets::{
    chart::{self, Chart},
    gauge::{Gauge, Place},
    line,
};
use facts::Room;
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
        said: page.state.agent_estimate,
        nothing: super::nothing(session),
        nearness: if app.ui.replay.is_on() {
            app::nearness(&page.state.context, &page.state.limits, &[])
        } else {
            brief.nearness()
        },
    };
    header(app, key, session, rows.header.top, theme, buffer);
    let low = rows.forecast.count == 0;
    if rows.facts.count > 0 {
        let room = if low { Room::Low } else { Room::Enough };
        let facts = facts::facts(session, page, &shown, room, columns, theme);
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
    let numbers = numbers::numbers(&shown, columns, theme);
    line::write(buffer, (1, rows.numbers.top), width, numbers);
    if !low {
        let forecast = forecast::forecast(app, session, page, &shown, columns, theme);
        line::write(buffer, (1, rows.forecast.top), width, forecast);
    }
    if rows.transport.count > 0 {
        super::transport::draw(app, page, rows.transport.top, theme, buffer, zones);
    }
    super::roles::draw(app, session, page, rows.roles, theme, buffer);
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
    /// The agent's own number.
    said: Option<AgentEstimate>,
    /// Why there is nothing to tell of, where there is not.
    nothing: &'static str,
    nearness: Nearness,
}

/// The context over time.
fn course(app: &App, area: Rect, theme: Theme, buffer: &mut Buffer, zones: &mut Zones) {
    if let Some(course) = app.course().filter(|_| !area.is_empty()) {
        Chart { course, theme }.draw(area, buffer);
        zones.add(chart::field(area), Hit::Course);
    }
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

    let name = app.fleet.name(key);
    let label = app
        .fleet
        .facts(key)
        .map_or(session.agent, |facts| facts.label);
    let mut groups = vec![
        vec![line::span(text::cut(&name, columns / 3), theme.accent())],
        vec![line::plain(label)],
    ];
    let taken: usize = groups.iter().flatten().map(|span| span.width() + 3).sum();
    if let Some(model) = session.model() {
        let model = text::cut(model, columns.saturating_sub(taken));
        groups.push(vec![line::plain(model)]);
    }
    let mut add = |part: Option<&str>, style: Style| {
        if let Some(part) = part {
            groups.push(vec![line::span(text::cut(part, columns / 3), style)]);
        }
    };
    add(session.meta.version.as_deref(), theme.quiet());
    let title = session.meta.title.as_deref();
    add(title.filter(|title| *title != name), theme.quiet());
    let left = line::joined(groups, columns, theme.quiet());
    line::write(buffer, (1, y), end, left);
    line::write_right(buffer, (1, y), width, right);
}
