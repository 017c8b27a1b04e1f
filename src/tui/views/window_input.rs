//! The box in which a session's window is typed.

use crate::tui::app::{self, App, WindowInput, parse_tokens};
use crate::tui::theme::Theme;
use crate::tui::widgets::{line, number, text};
use ratatui::buffer::Buffer;

/// What can be typed.
const EXAMPLES: &str = "200k, 1M, 272000";

pub(super) fn draw(app: &App, input: &WindowInput, theme: Theme, buffer: &mut Buffer) {
    let Some(session) = app.fleet.get(input.key) else {
        return;
    };
    let limits = session.limits();
    let now = format!(
        "now {} ({})",
        number::short(limits.window),
        limits.window_source.name()
    );
    let empty = match session.set_window_tokens() {
        Some(_) => "empty: back to what is known",
        None => "empty: as it is",
    };
    let read = match parse_tokens(&input.typed) {
        Some(tokens) => line::span(format!("= {tokens} tokens"), theme.quiet()),
        None if input.typed.trim().is_empty() => line::span(EXAMPLES, theme.quiet()),
        None => line::span(format!("not a size: {EXAMPLES}"), theme.warn()),
    };
    let columns = buffer.area.width.saturating_sub(8).min(48);
    let name = text::cut(&app::name(&app.fleet, input.key), 20);
    let inside = super::window(&format!("window of {name}"), (columns, 4), theme, buffer);
    let lines = [
        vec![
            line::plain("window: "),
            line::span(&input.typed, theme.strong()),
            line::span("▏", theme.accent()),
        ],
        vec![read],
        vec![line::span(now, theme.quiet())],
        vec![line::span(empty, theme.quiet())],
    ];
    for (spans, y) in lines.into_iter().zip(inside.top()..inside.bottom()) {
        line::write(buffer, (inside.left(), y), inside.right(), spans);
    }
}
