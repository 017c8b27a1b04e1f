//! The screens, pure: an [`App`] that was prepared, into cells.

mod compactions;
mod detail;
mod help;
mod items;
mod notices;
mod overview;
mod session;
mod window_input;

use crate::tui::app::{App, Mode, Overlay, Screen, layout};
use crate::tui::keymap::Press;
use crate::tui::theme::Theme;
use crate::tui::widgets::{line, text};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Draws all there is to see. The buffer is blank and as large as the screen.
pub fn draw(app: &App, theme: Theme, buffer: &mut Buffer) {
    let area = buffer.area;
    let (columns, rows) = layout::SMALLEST;
    if area.width < columns || area.height < rows {
        too_small(area, buffer);
    } else {
        match app.ui.screen {
            Screen::Overview => overview::draw(app, theme, buffer),
            Screen::Session(key) => session::draw(app, key, theme, buffer),
        }
        match app.ui.overlay {
            Some(Overlay::Help) => help::draw(&app.keymap, app.scope(), theme, buffer),
            Some(Overlay::Problems) => notices::draw_all(app, theme, buffer),
            None => {}
        }
        if let Some(input) = &app.ui.window {
            window_input::draw(app, input, theme, buffer);
        }
    }
    theme.finish(buffer);
}

fn too_small(area: Rect, buffer: &mut Buffer) {
    let (columns, rows) = layout::SMALLEST;
    let said = format!(
        "{columns}×{rows} needed, this is {}×{}",
        area.width, area.height
    );
    let x = (usize::from(area.width).saturating_sub(text::width(&said)) / 2) as u16;
    line::write(
        buffer,
        (x, area.height / 2),
        area.right(),
        [line::plain(said)],
    );
}

/// The keys that matter here, as many as fit.
fn footer(app: &App, y: u16, theme: Theme, buffer: &mut Buffer) {
    let mut hints = match app.ui.mode {
        _ if app.ui.window.is_some() => vec![
            (Press::Enter.to_string(), "set the window"),
            (Press::Esc.to_string(), "leave it"),
        ],
        Mode::Filter => vec![
            (Press::Enter.to_string(), "keep the filter"),
            (Press::Esc.to_string(), "clear it"),
        ],
        Mode::Browse => app.keymap.hints(app.scope()),
    };
    let columns = |hint: &(String, &str)| text::width(&hint.0) + text::width(hint.1) + 3;
    // The last two, help and quit, are what a newcomer needs most: the others make room.
    while hints.len() > 2
        && hints.iter().map(columns).sum::<usize>() > usize::from(buffer.area.width)
    {
        hints.remove(hints.len() - 3);
    }
    let mut x = 1;
    for (keys, word) in hints {
        let spans = [
            line::span(keys, theme.key()),
            line::span(format!(" {word}"), theme.quiet()),
        ];
        x = line::write(buffer, (x, y), buffer.area.right(), spans) + 2;
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
