//! The list of sessions: a row each.
//!
//! ```text
//!  ctxgauge  14 sessions, 3 live                                       sort recent ▾   / filter
//!     AGENT   PROJECT      CONTEXT                   KNOWN    EST  HEADROOM  NEXT      GROWTH  AGE
//!  ▌● codex   api-gateway  ████████████████╱┃░ 94%  241.0k  +1.2k      2.6k  1 (1–2)   ▂▁▃▂▂    8s
//!   ● claude  shop         █████████╱╱     ┃░░ 64%  124.1k  +3.9k       39k  9 (6–14)  ▁█▂▂     2s
//!  ──────────────────────────────────────────────────────────────────────────────────────────────
//!  shop · opus-4-6 · 2.1.39 · window 200k (log) · compacts at 167k (policy)
//!  S 27.5k  C 3.2k  U 0.5k  A 5.2k  T 33.9k  · largest: Read src/db.rs 18.4k (9% of window)
//!  ↑↓ move  ⏎ open  / filter  s sort  ? help  q quit
//! ```

mod row;

use crate::render::{number, text};
use crate::tui::app::layout::Fold;
use crate::tui::app::{App, Column, Group, Grouping, Hit, Idle, Listed, Purpose, Zones};
use crate::tui::keymap::{Action, Scope};
use crate::tui::theme::Theme;
use crate::tui::widgets::line;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use row::Columns;

pub(super) fn draw(app: &App, theme: Theme, buffer: &mut Buffer, zones: &mut Zones) {
    let width = buffer.area.width;
    let rows = app.overview_layout();
    if rows.banner.count > 0 {
        let said = text::left(&format!(" {}", app.banner), usize::from(width));
        line::write(
            buffer,
            (0, rows.banner.top),
            width,
            [line::span(said, theme.banner())],
        );
    }
    header(app, rows.header.top, theme, buffer, zones);
    if app.lines().is_empty() {
        nothing(app, rows.list.top, theme, buffer);
    } else {
        let columns = Columns::of(width);
        headings(app, columns, rows.columns.top, theme, buffer, zones);
        for (listed, y) in app.visible_lines().zip(rows.list.top..) {
            match listed {
                Listed::Session(row) => row::draw(app, row, columns, y, theme, buffer),
                Listed::Group(group) => group_row(app, group, y, theme, buffer),
            }
            if app.is_selected(listed) {
                super::lift(y, theme, buffer);
            }
        }
        let list = Rect::new(0, rows.list.top, width, rows.list.count);
        zones.add(list, Hit::List);
        rule(app, rows.rule.top, theme, buffer);
        super::detail::draw(app, rows.detail.top, rows.detail.count, theme, buffer);
    }
    if rows.notice.count > 0 {
        super::notices::draw_newest(app, rows.notice.top, theme, buffer);
    }
    super::footer(app, rows.footer.top, theme, buffer, zones);
}

fn header(app: &App, y: u16, theme: Theme, buffer: &mut Buffer, zones: &mut Zones) {
    let (all, matching) = (app.fleet.len(), app.matching());
    let mut left = vec![line::span("ctxgauge", theme.accent())];
    let counts = match (all, matching) {
        (0, _) => String::new(),
        (1, 1) => "1 session".to_owned(),
        (all, matching) if matching < all => format!("{matching} of {all} sessions"),
        _ => format!("{all} sessions"),
    };
    left.push(line::plain(format!("  {counts}")));
    if app.live() > 0 {
        left.push(line::plain(", "));
        left.push(line::span(format!("{} live", app.live()), theme.live()));
    }
    if !app.fleet.initial_scan_done {
        left.push(line::span("  reading…", theme.quiet()));
    }
    let end = line::write(buffer, (1, y), buffer.area.right(), left);

    let mut right = Vec::new();
    let typing = app.is_typing(Purpose::Filter).is_some();
    if app.ui.idle == Idle::Hidden {
        right.push(line::span("live only  ", theme.accent()));
    }
    if app.ui.grouping != Grouping::None && !typing {
        right.push(line::span(
            format!("{}  ", app.ui.grouping.name()),
            theme.quiet(),
        ));
    }
    if typing || !app.ui.filter.is_empty() {
        let columns = usize::from(buffer.area.width.saturating_sub(end + 8));
        right.push(line::span("/", theme.key()));
        right.push(line::plain(text::tail(&app.ui.filter, columns)));
        right.push(line::span(if typing { "▏" } else { " " }, theme.accent()));
        line::write_right(buffer, (end + 1, y), buffer.area.right(), right);
        return;
    }
    let sort = format!("{} {} ", app.ui.sort.name(), app.ui.direction.arrow());
    let columns = text::width(&sort) as u16 + 5;
    right.push(line::span("sort ", theme.quiet()));
    right.push(line::plain(sort));
    line::write_right(buffer, (end + 1, y), buffer.area.right(), right);
    let at = buffer.area.right().saturating_sub(columns);
    zones.add(Rect::new(at, y, columns, 1), Hit::Action(Action::Sort));
}

/// Why the list is empty.
fn nothing(app: &App, y: u16, theme: Theme, buffer: &mut Buffer) {
    let mut lines = Vec::new();
    if !app.fleet.is_empty() {
        let key = |action| {
            let press = app.keymap.press(Scope::Overview, action);
            press.map_or_else(String::new, |press| press.to_string())
        };
        if !app.ui.filter.is_empty() {
            lines.push(line::plain(format!("nothing matches '{}'", app.ui.filter)));
            let said = format!("{} shows all sessions again", key(Action::Back));
            lines.push(line::span(said, theme.quiet()));
        }
        if app.ui.idle == Idle::Hidden {
            let said = format!(
                "no session is live; {} shows the idle ones",
                key(Action::Idle)
            );
            lines.push(line::span(said, theme.quiet()));
        }
    } else if app.fleet.initial_scan_done {
        lines.push(line::plain("no agent logs found in:"));
        lines.extend(
            app.looked_in
                .iter()
                .map(|root| line::span(format!("  {root}"), theme.quiet())),
        );
        lines.push(line::plain("new ones show up here by themselves"));
    } else {
        lines.push(line::span("looking for the logs of agents…", theme.quiet()));
    }
    let end = app.overview_layout().list;
    for (said, y) in lines.into_iter().zip(y..end.top + end.count) {
        let columns = usize::from(buffer.area.width).saturating_sub(4);
        let said = line::span(text::cut(&said.content, columns), said.style);
        line::write(buffer, (3, y), buffer.area.right(), [said]);
    }
}

fn headings(
    app: &App,
    columns: Columns,
    y: u16,
    theme: Theme,
    buffer: &mut Buffer,
    zones: &mut Zones,
) {
    let mut x = 0;
    let mut head = |by: Option<Column>, said: String| {
        let here = by.is_some_and(|by| by == app.ui.sort);
        let style = if here {
            theme.strong()
        } else {
            theme.heading()
        };
        let end = line::write(
            buffer,
            (x, y),
            buffer.area.right(),
            [line::span(said, style)],
        );
        if let Some(by) = by {
            zones.add(Rect::new(x, y, end - x, 1), Hit::Column(by));
        }
        x = end;
    };
    head(None, text::left("", 3));
    head(Some(Column::Agent), text::left("AGENT", columns.agent + 1));
    head(
        Some(Column::Project),
        text::left("PROJECT", columns.project + 1),
    );
    if columns.model > 0 {
        head(Some(Column::Model), text::left("MODEL", columns.model + 1));
    }
    let gauge = usize::from(columns.gauge) + 5;
    head(Some(Column::Context), text::left("CONTEXT", gauge));
    if columns.numbers > 0 {
        head(Some(Column::Known), text::right("KNOWN", 8));
        head(Some(Column::Estimated), text::right("EST", 7));
        head(Some(Column::Headroom), text::right("HEADROOM", 9));
    }
    if columns.next > 0 {
        head(Some(Column::Next), text::right("NEXT", columns.next));
    }
    if columns.growth > 0 {
        let growth = format!(" {}", text::left("GROWTH", columns.growth));
        head(Some(Column::Growth), growth);
    }
    if columns.numbers > 0 {
        head(Some(Column::Recent), text::right("AGE", 5));
    }
}

/// A group's name and how many sessions it has.
fn group_row(app: &App, group: &Group, y: u16, theme: Theme, buffer: &mut Buffer) {
    let selected = app.selected_group() == Some(group.id);
    let sign = if app.ui.folded.contains(&group.id) {
        "▸"
    } else {
        "▾"
    };
    let sessions = match group.sessions {
        1 => "1 session".to_owned(),
        n => format!("{n} sessions"),
    };
    let name = text::cut(&group.name, usize::from(buffer.area.width / 2));
    let mut spans = vec![
        line::span(if selected { "▌" } else { " " }, theme.accent()),
        line::span(format!("{sign} "), theme.quiet()),
        line::span(name, theme.strong()),
        line::span(format!("  {sessions}"), theme.quiet()),
    ];
    if group.live > 0 {
        spans.push(line::span(format!(", {} live", group.live), theme.live()));
    }
    line::write(buffer, (0, y), buffer.area.right(), spans);
}

/// The line below the list: what the listed sessions hold together, and where in the list one is, if not
/// all of it is on screen.
fn rule(app: &App, y: u16, theme: Theme, buffer: &mut Buffer) {
    let width = buffer.area.width;
    let bar = "─".repeat(usize::from(width.saturating_sub(2)));
    line::write(buffer, (1, y), width, [line::span(bar, theme.quiet())]);
    let totals = app.totals();
    let tokens = match Fold::of(width) {
        Fold::Narrow => number::short,
        _ => number::tokens,
    };
    let said = match (totals.known, totals.estimated) {
        (known, 0) => format!(" {} known ", tokens(known)),
        (0, estimated) => format!(" ~{} est ", tokens(estimated)),
        (known, estimated) => format!(" {} known + {} est ", tokens(known), tokens(estimated)),
    };
    let mut spans = vec![line::span(said, theme.quiet())];
    if totals.near > 0 {
        spans.push(line::span("· ", theme.quiet()));
        let near = match Fold::of(width) {
            Fold::Narrow => format!("{} near ", totals.near),
            _ => format!("{} near the trigger ", totals.near),
        };
        spans.push(line::span(near, theme.near()));
    }
    if totals.missing > 0 {
        spans.push(line::span("… ", theme.quiet()));
    }
    let end = line::write(buffer, (3, y), width, spans);
    let (lines, count) = (app.lines().len(), app.overview_layout().list.count);
    if lines > usize::from(count) {
        let at = format!(" {} of {lines} ", app.ui.sessions.index() + 1);
        line::write_right(
            buffer,
            (end, y),
            width.saturating_sub(3),
            [line::span(at, theme.quiet())],
        );
    }
}
