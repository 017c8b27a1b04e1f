//! What could not be read: one quiet line, and all of it on demand.

use crate::tui::app::App;
use crate::tui::theme::Theme;
use crate::tui::widgets::{line, text};
use ratatui::buffer::Buffer;

/// The newest problem in a line.
pub(super) fn draw_newest(app: &App, y: u16, theme: Theme, buffer: &mut Buffer) {
    let Some((path, what)) = app.fleet.problems.last() else {
        return;
    };
    let count = match app.fleet.problems.len() {
        1 => String::new(),
        n => format!("{n} problems, the newest: "),
    };
    let said = format!("{count}{}: {what}", path.display());
    let columns = usize::from(buffer.area.width).saturating_sub(4);
    let spans = [
        line::span("! ", theme.warn()),
        line::span(text::cut(&said, columns), theme.quiet()),
    ];
    line::write(buffer, (1, y), buffer.area.right(), spans);
}

/// All problems, the newest first.
pub(super) fn draw_all(app: &App, theme: Theme, buffer: &mut Buffer) {
    let problems = &app.fleet.problems;
    let rows = (problems.len() * 2)
        .max(1)
        .min(usize::from(buffer.area.height)) as u16;
    let columns = buffer.area.width.saturating_sub(8);
    let inside = super::window("what could not be read", (columns, rows), theme, buffer);
    if problems.is_empty() {
        let said = line::span("nothing: all that was found could be read", theme.quiet());
        line::write(
            buffer,
            (inside.left(), inside.top()),
            inside.right(),
            [said],
        );
    }
    let width = usize::from(inside.width);
    for ((path, what), y) in problems
        .iter()
        .rev()
        .zip((inside.top()..inside.bottom()).step_by(2))
    {
        let path = text::cut(&path.display().to_string(), width);
        line::write(
            buffer,
            (inside.left(), y),
            inside.right(),
            [line::span(path, theme.strong())],
        );
        if y + 1 < inside.bottom() {
            let what = line::span(text::cut(what, width), theme.quiet());
            line::write(buffer, (inside.left(), y + 1), inside.right(), [what]);
        }
    }
}
