//! The box of a prompt; filters are typed where they are shown.

use crate::app::{App, Prompt, Purpose};
use crate::paint::{Piece, Pieces, Tone, piece, plain, quiet, strong};
use crate::widgets::canvas::Canvas;
use model::threshold::{Threshold, parse_tokens};
use render::{number, text};

/// Examples of a window.
const WINDOW_EXAMPLES: &str = "200k, 1M, 272000";
/// Examples of a threshold.
const THRESHOLD_EXAMPLES: &str = "8k, 12000, or 4% of the window";
/// The widest box, in columns.
const WIDEST_BOX: u16 = 52;

pub(super) fn draw(app: &App, prompt: &Prompt, canvas: &mut Canvas<'_>) {
    let Some((title, label, below)) = asked(app, prompt) else {
        return;
    };
    let columns = canvas.width().saturating_sub(8).min(WIDEST_BOX);
    let room = usize::from(columns).saturating_sub(label.len() + 1);
    let typed = strong(text::tail(&prompt.typed, room));
    let mut lines: Vec<Pieces> = vec![vec![plain(label), typed, piece("▏", Tone::Accent)]];
    lines.extend(below.into_iter().map(|line| vec![line]));
    let inside = canvas.open_box(&title, (columns, lines.len() as u16));
    canvas.write_rows(inside, lines);
}

/// The box's title, the label of the typed text, and the lines below it; `None`: no box.
fn asked(app: &App, prompt: &Prompt) -> Option<(String, &'static str, Vec<Piece>)> {
    match prompt.purpose {
        Purpose::Filter | Purpose::ItemFilter => None,
        Purpose::Window(key) => {
            let session = app.fleet.get(key)?;
            let limits = session.limits();
            let (window, source) = (number::short(limits.window), limits.window_from());
            let empty = match session.set_window_tokens() {
                Some(_) => "empty: reset to the detected size",
                None => "empty: no change",
            };
            let name = text::cut(&app.fleet.name(key), 20);
            let read = read(&prompt.typed, WINDOW_EXAMPLES, |typed| {
                parse_tokens(typed).map(|tokens| format!("= {tokens} tokens"))
            });
            let below = vec![
                read,
                quiet(format!("current: {window} ({source})")),
                quiet(empty),
            ];
            Some((format!("window of {name}"), "window: ", below))
        }
        Purpose::Oversized => {
            let window = app.page()?.state.limits.window;
            let now = quiet(format!("current: {}", app.ui.oversized));
            let read = read(&prompt.typed, THRESHOLD_EXAMPLES, |typed| {
                let threshold: Threshold = typed.parse().ok()?;
                let tokens = threshold.tokens(window);
                Some(format!("= {tokens} tokens of this window"))
            });
            Some(("oversized threshold".to_owned(), "size: ", vec![read, now]))
        }
        Purpose::Find => {
            let hint = match app.ui.needle.as_str() {
                "" => "part of a tool name or of an item's preview".to_owned(),
                needle => format!("empty: repeat '{}'", text::cut(needle, 24)),
            };
            let title = "find the next record".to_owned();
            Some((title, "text: ", vec![quiet(hint)]))
        }
        Purpose::Search => {
            let hint = quiet("case-sensitive if it contains capitals");
            Some(("search the text".to_owned(), "text: ", vec![hint]))
        }
    }
}

/// What the typed text means, or examples.
fn read(typed: &str, examples: &str, meaning: impl Fn(&str) -> Option<String>) -> Piece {
    match meaning(typed) {
        Some(meaning) => quiet(meaning),
        None if typed.trim().is_empty() => quiet(examples),
        None => piece(format!("not a size: {examples}"), Tone::Warn),
    }
}
