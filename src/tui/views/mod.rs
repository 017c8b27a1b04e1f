//! The screens, pure: an [`App`] that was prepared, into cells, and what lies where for the mouse.

mod agents;
mod compactions;
mod detail;
mod help;
mod items;
mod notices;
mod overview;
mod prompt;
mod reader;
mod roles;
mod session;
mod tabs;
mod text;
mod tools;
mod transport;
mod what_if;

use crate::model::session::{Coverage, Session};
use crate::render::text as words;
use crate::tui::app::{App, Hit, Overlay, Purpose, Screen, Zones, layout};
use crate::tui::keymap::{Hint, Press};
use crate::tui::theme::Theme;
use crate::tui::widgets::line;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Color;

/// Draws all there is to see, and tells what lies where. The buffer is blank and as large as the screen.
pub fn draw(app: &App, theme: Theme, buffer: &mut Buffer) -> Zones {
    let mut zones = Zones::default();
    let area = buffer.area;
    let (columns, rows) = layout::SMALLEST;
    if area.width < columns || area.height < rows {
        too_small(area, buffer);
    } else {
        match app.ui.screen {
            Screen::Overview => overview::draw(app, theme, buffer, &mut zones),
            Screen::Session(key) => session::draw(app, key, theme, buffer, &mut zones),
            Screen::Text(_) => text::draw(app, theme, buffer, &mut zones),
        }
        if let Some(prompt) = &app.ui.prompt {
            prompt::draw(app, prompt, theme, buffer);
        }
        match app.ui.overlay {
            Some(Overlay::Help) => help::draw(app, theme, buffer),
            Some(Overlay::Notices) => notices::draw_all(app, theme, buffer),
            None => {}
        }
        if app.ui.overlay.is_some() {
            zones.add(area, Hit::Overlay);
        }
    }
    theme.finish(buffer);
    zones
}

fn too_small(area: Rect, buffer: &mut Buffer) {
    let (columns, rows) = layout::SMALLEST;
    let said = format!(
        "{columns}×{rows} needed, this is {}×{}",
        area.width, area.height
    );
    let x = (usize::from(area.width).saturating_sub(words::width(&said)) / 2) as u16;
    line::write(
        buffer,
        (x, area.height / 2),
        area.right(),
        [line::plain(said)],
    );
}

/// The keys that matter here, as many as fit; a click on one is the key.
fn footer(app: &App, y: u16, theme: Theme, buffer: &mut Buffer, zones: &mut Zones) {
    let typing = |keys: [(Press, &'static str); 2]| {
        keys.map(|(press, word)| Hint {
            keys: press.to_string(),
            word,
            action: None,
        })
        .to_vec()
    };
    let mut hints = match app.ui.prompt.as_ref().map(|prompt| prompt.purpose) {
        None => app.keymap.hints(app.scope()),
        Some(Purpose::Filter | Purpose::ItemFilter) => {
            typing([(Press::Enter, "keep the filter"), (Press::Esc, "clear it")])
        }
        Some(Purpose::Window(_) | Purpose::Oversized) => {
            typing([(Press::Enter, "set it"), (Press::Esc, "leave it")])
        }
        Some(Purpose::Find | Purpose::Search) => {
            typing([(Press::Enter, "find"), (Press::Esc, "leave it")])
        }
    };
    let columns = |hint: &Hint| words::width(&hint.keys) + words::width(hint.word) + 3;
    // The last two, help and quit, are what a newcomer needs most: the others make room.
    while hints.len() > 2
        && hints.iter().map(columns).sum::<usize>() > usize::from(buffer.area.width)
    {
        hints.remove(hints.len() - 3);
    }
    let mut x = 1;
    for hint in hints {
        let spans = [
            line::span(hint.keys, theme.key()),
            line::span(format!(" {}", hint.word), theme.quiet()),
        ];
        let end = line::write(buffer, (x, y), buffer.area.right(), spans);
        if let Some(action) = hint.action {
            zones.add(Rect::new(x, y, end - x, 1), Hit::Action(action));
        }
        x = end + 2;
    }
}

/// Why a session's context has no size.
fn nothing(session: &Session) -> &'static str {
    match session.coverage {
        Coverage::Unread => "reading…",
        _ if session.unreadable > 0 && session.items().is_empty() => "nothing readable",
        _ => "empty so far",
    }
}

/// Whether a list row is the selected one: the pointer before it.
fn pointer(row: usize, selected: usize, theme: Theme) -> ratatui::text::Span<'static> {
    line::span(if row == selected { "▌" } else { " " }, theme.accent())
}

/// Lays the style of the selected row beneath what a row's parts have of their own.
fn lift(y: u16, theme: Theme, buffer: &mut Buffer) {
    let style = theme.selected();
    for x in buffer.area.left()..buffer.area.right() {
        let cell = &mut buffer[(x, y)];
        if let (Some(bg), Color::Reset) = (style.bg, cell.bg) {
            cell.bg = bg;
        }
        if let (Some(fg), Color::Reset) = (style.fg, cell.fg) {
            cell.fg = fg;
        }
        cell.modifier |= style.add_modifier;
    }
}

/// A box in the middle of the screen, wiped. Returns its inside.
fn window(title: &str, (columns, rows): (u16, u16), theme: Theme, buffer: &mut Buffer) -> Rect {
    let all = buffer.area;
    let (width, height) = ((columns + 4).min(all.width), (rows + 2).min(all.height));
    let frame = Rect::new(
        (all.width - width) / 2,
        (all.height - height) / 2,
        width,
        height,
    );
    for y in frame.top()..frame.bottom() {
        for x in frame.left()..frame.right() {
            let glyph = match (x, y) {
                (x, y) if x == frame.left() && y == frame.top() => '┌',
                (x, y) if x + 1 == frame.right() && y == frame.top() => '┐',
                (x, y) if x == frame.left() && y + 1 == frame.bottom() => '└',
                (x, y) if x + 1 == frame.right() && y + 1 == frame.bottom() => '┘',
                (_, y) if y == frame.top() || y + 1 == frame.bottom() => '─',
                (x, _) if x == frame.left() || x + 1 == frame.right() => '│',
                _ => ' ',
            };
            let cell = &mut buffer[(x, y)];
            cell.reset();
            cell.set_char(glyph).set_style(theme.quiet());
            if glyph == ' ' {
                cell.reset();
            }
        }
    }
    let at = (frame.left() + 2, frame.top());
    let heading = line::span(format!(" {title} "), theme.over());
    line::write(buffer, at, frame.right().saturating_sub(1), [heading]);
    Rect::new(
        frame.left() + 2,
        frame.top() + 1,
        width.saturating_sub(4),
        height.saturating_sub(2),
    )
}
