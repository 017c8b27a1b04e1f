//! The box of a prompt; filters are typed where they are shown.

use crate::app::{App, Prompt, Purpose, Reach, Syntax};
use crate::keymap::KeyPress;
use crate::paint::{Piece, Pieces, Tone, piece, plain, quiet, strong};
use crate::widgets::canvas::Canvas;
use model::values::threshold::{Threshold, parse_tokens};
use render::{number, text};

/// Examples of a window.
const WINDOW_EXAMPLES: &str = "200k, 1M, 272_000";
/// Examples of a threshold.
const THRESHOLD_EXAMPLES: &str = "8k, 12000, or 4% of the window";
/// The widest box, in columns.
const WIDEST_BOX: u16 = 52;

pub(super) fn draw(app: &App, prompt: &Prompt, canvas: &mut Canvas<'_>) {
    let columns = canvas.width().saturating_sub(8).min(WIDEST_BOX);
    let Some((title, label, below)) = asked(app, prompt, usize::from(columns)) else {
        return;
    };
    let room = usize::from(columns).saturating_sub(label.len() + 1);
    let typed = strong(text::tail(&prompt.typed, room));
    let mut lines: Vec<Pieces> = vec![vec![plain(label), typed, piece("▏", Tone::Accent)]];
    lines.extend(below);
    let inside = canvas.open_box(&title, (columns, lines.len() as u16));
    canvas.write_rows(inside, lines);
}

/// Returns the box's title, the label of the typed text, and the lines below it; `None`: no box.
fn asked(
    app: &App,
    prompt: &Prompt,
    columns: usize,
) -> Option<(String, &'static str, Vec<Pieces>)> {
    match prompt.purpose {
        Purpose::Filter | Purpose::ItemFilter => None,
        Purpose::Window(key, reach) => {
            let session = app.sessions.gauge(key)?;
            let limits = session.limits();
            let (window, source) = (number::short(limits.window), limits.window_from());
            let empty = match app.window_set(key, reach) {
                Some(_) => "empty: reset to the detected size",
                None => "empty: no change",
            };
            let name = text::cut(&app.sessions.name(key), 20);
            let read = read(&prompt.typed, WINDOW_EXAMPLES, |typed| {
                parse_tokens(typed).map(|tokens| format!("= {tokens} tokens"))
            });
            let below = vec![
                vec![read],
                reaches(session.model(), reach, columns),
                vec![quiet(format!("current: {window} ({source})"))],
                vec![quiet(empty)],
            ];
            Some((format!("window of {name}"), "window: ", below))
        }
        Purpose::Oversized => {
            let window = app.page()?.state.limits.window;
            let now = quiet(format!("current: {}", app.oversized()));
            let read = read(&prompt.typed, THRESHOLD_EXAMPLES, |typed| {
                let threshold: Threshold = typed.parse().ok()?;
                let tokens = threshold.tokens(window);
                Some(format!("= {tokens} tokens of this window"))
            });
            let below = vec![vec![read], vec![now]];
            Some(("oversized threshold".to_owned(), "size: ", below))
        }
        Purpose::GoTo => {
            let hint = match prompt.wrong.as_str() {
                "" => quiet("a request: #50; a time: 19:10"),
                wrong => piece(text::cut(wrong, columns), Tone::Warn),
            };
            Some(("go to".to_owned(), "request or time: ", vec![vec![hint]]))
        }
        Purpose::Search => {
            let hint = quiet("case-sensitive if it contains capitals");
            Some(("search the text".to_owned(), "text: ", vec![vec![hint]]))
        }
        Purpose::Pattern(syntax) => Some(pattern(app, prompt, syntax, columns)),
    }
}

/// Returns the prompt for a search over the listed sessions.
fn pattern(
    app: &App,
    prompt: &Prompt,
    syntax: Syntax,
    columns: usize,
) -> (String, &'static str, Vec<Pieces>) {
    let title = format!("search {}", app.searchable_place());
    let mark = |of| if of == syntax { "●" } else { "○" };
    let (regex, fixed) = (mark(Syntax::Regex), mark(Syntax::Text));
    let tab = KeyPress::Tab;
    let long = format!("{regex} regular expression  {fixed} text  {tab} changes");
    let short = format!("{regex} regex  {fixed} text  {tab}");
    let fits = text::width(&long) <= columns;
    let hint = match (prompt.wrong.as_str(), &app.search) {
        ("", Some(search)) if prompt.typed.is_empty() => {
            let last = text::cut(search.title(), 20);
            quiet(format!("empty: what was found for '{last}'"))
        }
        ("", _) => quiet("case-sensitive if it contains capitals"),
        (wrong, _) => piece(text::cut(wrong, columns), Tone::Warn),
    };
    let below = vec![vec![plain(if fits { long } else { short })], vec![hint]];
    (title, "pattern: ", below)
}

/// Returns the choice of the sessions that get the window: this one, or all with its model. Tab changes it.
fn reaches(model: Option<&str>, reach: Reach, columns: usize) -> Pieces {
    let mark = |of| if of == reach { "●" } else { "○" };
    let session = format!("{} this session", mark(Reach::Session));
    let Some(model) = model else {
        return vec![plain(session)];
    };
    let (other, tab) = (mark(Reach::Model), KeyPress::Tab);
    let long = format!(
        "  {other} all of {}  {tab} changes",
        text::short_model(model)
    );
    let short = format!("  {other} its model  {tab}");
    let fits = text::width(&session) + text::width(&long) <= columns;
    vec![plain(session), plain(if fits { long } else { short })]
}

/// Returns the meaning of the typed text, or examples.
fn read(typed: &str, examples: &str, meaning: impl Fn(&str) -> Option<String>) -> Piece {
    match meaning(typed) {
        Some(meaning) => quiet(meaning),
        None if typed.trim().is_empty() => quiet(examples),
        None => piece(format!("not a size: {examples}"), Tone::Warn),
    }
}
