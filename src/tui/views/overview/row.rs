//! One row of the list of sessions: names, gauge, numbers.

use crate::model::fleet::Row;
use crate::model::session::Session;
use crate::render::{number, text};
use crate::tui::app::layout::{Fold, GROWTH_FROM, NEXT_FROM};
use crate::tui::app::{self, App, Brief, Nearness};
use crate::tui::theme::Theme;
use crate::tui::widgets::{
    gauge::{Gauge, Place},
    line, sparkline,
};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;

/// A gauge of this width can spare some for names.
const WIDE_GAUGE: u16 = 60;
/// The most that it spares.
const MORE_NAMES: u16 = 18;
/// The widest that a gauge in a row gets: wider, and the eye loses its row.
const WIDEST_GAUGE: u16 = 120;

/// The columns of a width. A column of no width is not shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Columns {
    pub(super) agent: usize,
    pub(super) project: usize,
    pub(super) model: usize,
    pub(super) gauge: u16,
    /// Known, estimated, headroom and age are shown.
    pub(super) numbers: usize,
    pub(super) next: usize,
    pub(super) growth: usize,
}

/// The column of requests until the next compaction: `120 (78–186)`, and a space.
const NEXT: usize = 13;

impl Columns {
    pub(super) fn of(width: u16) -> Columns {
        let (agent, project, model, rest) = match Fold::of(width) {
            // What is not gauge: pointer and mark 3, percent 5, a space after each column.
            Fold::Narrow => (6, 11, 0, 28),
            Fold::Medium => (8, 13, 0, 61),
            Fold::Wide => (8, 16, 14, 80),
        };
        let fold = Fold::of(width);
        let next = if width >= NEXT_FROM { NEXT } else { 0 };
        let growth = if width >= GROWTH_FROM {
            app::GROWTH_BARS
        } else {
            0
        };
        let shown = next + growth + usize::from(growth > 0);
        let free = width.saturating_sub(rest + shown as u16);
        // A wide screen gives to the names first, as much as names need.
        let spare = free.saturating_sub(WIDE_GAUGE).min(MORE_NAMES);
        let gauge = (free - spare).min(WIDEST_GAUGE);
        let spare = usize::from(spare);
        Columns {
            agent,
            project: project + spare * 2 / 3,
            model: if model > 0 {
                model + spare - spare * 2 / 3
            } else {
                0
            },
            gauge,
            numbers: usize::from(fold > Fold::Narrow),
            next,
            growth,
        }
    }
}

/// Draws a session's row.
pub(super) fn draw(
    app: &App,
    row: &Row,
    columns: Columns,
    y: u16,
    theme: Theme,
    buffer: &mut Buffer,
) {
    let key = row.key;
    let (Some(session), Some(brief)) = (app.fleet.get(key), app.brief(key)) else {
        return;
    };
    let selected = app.current() == Some(key);
    let age = app.age(key);
    let live = app.is_live(key);
    // What no longer moves stands back, unless it is selected.
    let name_style = match (selected, live) {
        (true, _) => theme.strong(),
        (false, true) => Style::new(),
        (false, false) => theme.quiet(),
    };
    let pointer = if selected { "▌" } else { " " };
    let mark = if live { "●" } else { " " };
    let mut spans = vec![
        line::span(pointer, theme.accent()),
        line::span(mark, theme.live()),
        line::plain(" "),
        line::span(text::left(&agent(app, row), columns.agent), name_style),
        line::plain(" "),
    ];
    let name = app.fleet.name(key);
    spans.push(line::span(text::left(&name, columns.project), name_style));
    spans.push(line::plain(" "));
    if columns.model > 0 {
        let model = text::short_model(session.model().unwrap_or("—"));
        spans.push(line::span(text::left(model, columns.model), theme.quiet()));
        spans.push(line::plain(" "));
    }
    let x = line::write(buffer, (0, y), buffer.area.right(), spans);
    gauge(
        app,
        session,
        brief,
        Rect::new(x, y, columns.gauge, 1),
        theme,
        buffer,
    );
    let end = buffer.area.right();
    line::write(
        buffer,
        (x + columns.gauge, y),
        end,
        numbers(brief, next(app, session, brief), columns, age, theme),
    );
}

/// Requests until the next compaction.
fn next(app: &App, session: &Session, brief: &Brief) -> Option<String> {
    let forecast = brief.forecast(session, app.now).ok()?;
    Some(if forecast.is_now() {
        "now".to_owned()
    } else {
        number::band(&forecast.requests)
    })
}

/// The agent's name; a sub-agent's stands indented below its parent's.
fn agent(app: &App, row: &Row) -> String {
    let facts = app.fleet.facts(row.key);
    let label = facts.map_or("", |facts| facts.label);
    match row.depth {
        0 => label.to_owned(),
        depth => format!("{}└ {label}", " ".repeat(usize::from(depth.min(3)) - 1)),
    }
}

/// The gauge, with what the session just went through written into its free space.
fn gauge(
    app: &App,
    session: &Session,
    brief: &Brief,
    area: Rect,
    theme: Theme,
    buffer: &mut Buffer,
) {
    if brief.context.used == 0 {
        let said = crate::tui::views::nothing(session);
        let said = text::cut(said, usize::from(area.width));
        line::write(
            buffer,
            (area.x, area.y),
            area.right(),
            [line::span(said, theme.quiet())],
        );
        return;
    }
    let gauge = Gauge {
        context: &brief.context,
        limits: &brief.limits,
        theme,
        place: Place::Row,
    };
    gauge.bar(area, buffer);
    let Some(compacted) = brief.just_compacted(app.now) else {
        return;
    };
    let after = compacted.after.unwrap_or(brief.context.used);
    let sizes = format!(
        "{} → {}",
        number::short(compacted.before),
        number::short(after)
    );
    let room = gauge.room(area.width);
    let columns = room.end.saturating_sub(room.start);
    let said = [
        format!(" compacted {sizes} "),
        format!(" {sizes} "),
        format!(" ↓{} ", number::short(compacted.before)),
    ]
    .into_iter()
    .find(|said| text::width(said) <= usize::from(columns));
    if let Some(said) = said {
        let at = (area.x + room.start, area.y);
        line::write(buffer, at, area.right(), [line::span(said, theme.over())]);
    }
}

fn numbers(
    brief: &Brief,
    next: Option<String>,
    columns: Columns,
    age: Option<i64>,
    theme: Theme,
) -> Vec<Span<'static>> {
    let context = &brief.context;
    // One number of the row shouts; the other says the same in a lower voice.
    let loud = match brief.nearness() {
        Nearness::Calm => theme.strong(),
        near => theme.nearness(near),
    };
    let nearness = theme.nearness(brief.nearness().min(Nearness::Near));
    let none = || "—".to_owned();
    let percent = number::percent(context.used, brief.limits.window)
        .filter(|_| context.used > 0)
        .map_or_else(none, |p| format!("{p}%"));
    let fill = 5usize.saturating_sub(text::width(&percent));
    let mut spans = vec![line::plain(" ".repeat(fill)), line::span(percent, loud)];
    if columns.numbers == 0 {
        return spans;
    }
    let known = if context.known > 0 {
        number::tokens(context.known)
    } else {
        none()
    };
    let estimated = match (context.known, context.estimated) {
        (_, 0) => String::new(),
        (0, n) => format!("~{}", number::tokens(n)),
        (_, n) => format!("+{}", number::tokens(n)),
    };
    let headroom = match brief.headroom().filter(|_| context.used > 0) {
        Some(0) => "now".to_owned(),
        Some(left) => number::short(left),
        None => none(),
    };
    spans.push(line::plain(text::right(&known, 8)));
    spans.push(line::span(text::right(&estimated, 7), theme.estimated()));
    let fill = 9usize.saturating_sub(text::width(&headroom));
    spans.push(line::plain(" ".repeat(fill)));
    spans.push(match brief.headroom() {
        Some(_) => line::span(headroom, nearness),
        None => line::span(headroom, theme.quiet()),
    });
    if columns.next > 0 {
        let style = next.as_ref().map_or(theme.quiet(), |_| Style::new());
        let next = next.unwrap_or_else(none);
        // The column begins with a space: where the band would take it, the median stands alone.
        let next = if text::width(&next) < columns.next {
            next.as_str()
        } else {
            next.split(' ').next().unwrap_or_default()
        };
        spans.push(line::span(text::right(next, columns.next), style));
    }
    if columns.growth > 0 {
        let bars = sparkline::bars(&brief.growth, brief.limits.window);
        spans.push(line::plain(" "));
        spans.push(line::span(
            text::right(&bars, columns.growth),
            theme.quiet(),
        ));
    }
    let age = age.map_or_else(none, number::age);
    spans.push(line::span(text::right(&age, 5), theme.quiet()));
    spans
}
