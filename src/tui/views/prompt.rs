//! The box in which something is typed; filters are typed where they are shown.

use crate::model::threshold::{Threshold, parse_tokens};
use crate::render::{number, text};
use crate::tui::app::{App, Prompt, Purpose};
use crate::tui::theme::Theme;
use crate::tui::widgets::line;
use ratatui::buffer::Buffer;
use ratatui::text::Span;

/// What can be typed for a window.
const WINDOWS: &str = "200k, 1M, 272000";
/// What can be typed for a threshold.
const THRESHOLDS: &str = "8k, 12000, or 4% of the window";
/// The widest box, in columns.
const WIDEST: u16 = 52;

pub(super) fn draw(app: &App, prompt: &Prompt, theme: Theme, buffer: &mut Buffer) {
    let Some((title, label, mut below)) = asked(app, prompt, theme) else {
        return;
    };
    let columns = buffer.area.width.saturating_sub(8).min(WIDEST);
    let room = usize::from(columns).saturating_sub(label.len() + 1);
    let mut lines = vec![vec![
        line::plain(label),
        line::span(text::tail(&prompt.typed, room), theme.strong()),
        line::span("▏", theme.accent()),
    ]];
    lines.append(&mut below);
    let inside = super::window(&title, (columns, lines.len() as u16), theme, buffer);
    for (spans, y) in lines.into_iter().zip(inside.top()..inside.bottom()) {
        line::write(buffer, (inside.left(), y), inside.right(), spans);
    }
}

type Lines = Vec<Vec<Span<'static>>>;

/// The box's title, what stands before the typed text, and the lines below it; `None`: no box.
fn asked(app: &App, prompt: &Prompt, theme: Theme) -> Option<(String, &'static str, Lines)> {
    match prompt.purpose {
        Purpose::Filter | Purpose::ItemFilter => None,
        Purpose::Window(key) => {
            let session = app.fleet.get(key)?;
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
            let name = text::cut(&app.fleet.name(key), 20);
            let read = read(&prompt.typed, WINDOWS, theme, |typed| {
                parse_tokens(typed).map(|tokens| format!("= {tokens} tokens"))
            });
            let below = vec![read, quiet(now, theme), quiet(empty, theme)];
            Some((format!("window of {name}"), "window: ", below))
        }
        Purpose::Oversized => {
            let window = app.page()?.state.limits.window;
            let now = format!("now {}", app.ui.oversized);
            let read = read(&prompt.typed, THRESHOLDS, theme, |typed| {
                let threshold: Threshold = typed.parse().ok()?;
                let tokens = threshold.tokens(window);
                Some(format!("= {tokens} tokens of this window"))
            });
            let below = vec![read, quiet(now, theme)];
            Some(("oversized from".to_owned(), "size: ", below))
        }
        Purpose::Find => {
            let said = match app.ui.needle.as_str() {
                "" => "part of a tool's name or of an item's beginning".to_owned(),
                needle => format!("empty: '{}' again", text::cut(needle, 24)),
            };
            let below = vec![quiet(said, theme)];
            Some(("find the next record".to_owned(), "text: ", below))
        }
        Purpose::Search => {
            let said = "capitals count where there are any";
            Some((
                "search the text".to_owned(),
                "text: ",
                vec![quiet(said, theme)],
            ))
        }
    }
}

/// What was understood of what is typed.
fn read(
    typed: &str,
    examples: &str,
    theme: Theme,
    understand: impl Fn(&str) -> Option<String>,
) -> Vec<Span<'static>> {
    vec![match understand(typed) {
        Some(said) => line::span(said, theme.quiet()),
        None if typed.trim().is_empty() => line::span(examples, theme.quiet()),
        None => line::span(format!("not a size: {examples}"), theme.warn()),
    }]
}

fn quiet(said: impl AsRef<str>, theme: Theme) -> Vec<Span<'static>> {
    vec![line::span(said, theme.quiet())]
}
