//! Puts a status line together: leaves out what is not known, and what does not fit.

use super::template::{Field, Part, Template, Tint};
use super::values::Values;
use render::text::width;

/// How colours are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Colours {
    /// Not at all.
    #[default]
    None,
    /// As escape sequences of terminals.
    Ansi,
    /// As tmux writes them in its own status line.
    Tmux,
}

/// How full a context is, by the shares from which on it is so: each above 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Fill {
    /// From here on it is filling up.
    pub high: f64,
    /// From here on it is nearly full.
    pub full: f64,
}

/// The colour of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Colour {
    Green,
    Yellow,
    Red,
}

/// A piece of a line that is shown whole or not at all.
struct Piece {
    text: String,
    tint: Tint,
    /// The section that it is in, counted from 1 in the order in which they end; 0: none. Those with a larger number are
    /// left out before.
    section: usize,
    is_value: bool,
}

/// The lines of a template, each in at most `columns` (`None`: of any length), without those that are empty. `note` is
/// added to the first. There is always a line, and no number is cut: the last value that is left may be wider.
pub fn lines(
    template: &Template,
    values: &Values,
    note: Option<&str>,
    columns: Option<usize>,
    (colours, fill): (Colours, Fill),
) -> Vec<String> {
    let paint = |pieces: &[Piece]| -> String {
        let painted = pieces.iter().map(|piece| {
            let colour = || colour(values, fill);
            painted(&piece.text, piece.tint, colours, colour)
        });
        painted.collect::<String>().trim().to_owned()
    };
    let mut note = note;
    let mut lines: Vec<String> = Vec::new();
    for line in &template.0 {
        let mut pieces = Vec::new();
        let mut sections = 0;
        collect(line, values, 0, &mut sections, &mut pieces);
        if !pieces.iter().any(|piece| piece.is_value) {
            continue;
        }
        if let Some(note) = note.take() {
            pieces.push(text(format!(" · {note}"), 0));
        }
        if let Some(columns) = columns {
            fit(&mut pieces, columns, values);
        }
        // What separated it from a value that is left out.
        if let Some(first) = pieces.first_mut().filter(|piece| !piece.is_value) {
            first.text = first.text.trim_start_matches(SEPARATORS).to_owned();
        }
        lines.push(paint(&pieces));
    }
    lines.retain(|line| !line.is_empty());
    if lines.is_empty() {
        let nothing = if values.has_begun { NOTHING } else { NOT_BEGUN };
        lines.push(note.unwrap_or(nothing).to_owned());
    }
    lines
}

/// What separates values, besides words.
const SEPARATORS: [char; 3] = [' ', '·', '|'];
/// Shown where the format has nothing that is known.
const NOTHING: &str = "ctxgauge";
/// Shown before anything was sent or said.
const NOT_BEGUN: &str = "no request yet";

/// Collects what is known of these parts, in order.
fn collect(
    parts: &[Part],
    values: &Values,
    section: usize,
    sections: &mut usize,
    pieces: &mut Vec<Piece>,
) {
    for part in parts {
        match part {
            Part::Text(known) => pieces.push(text(known.clone(), section)),
            Part::Field(field) => pieces.extend(value(field, values, section)),
            Part::Section(parts) if is_known(parts, values) => {
                *sections += 1;
                collect(parts, values, *sections, sections, pieces);
            }
            Part::Section(_) => {}
        }
    }
}

/// Whether all values of a section are known, apart from sections in it.
fn is_known(parts: &[Part], values: &Values) -> bool {
    parts.iter().all(|part| match part {
        Part::Field(field) => values.text(field).is_some(),
        Part::Text(_) | Part::Section(_) => true,
    })
}

fn text(text: String, section: usize) -> Piece {
    Piece {
        text,
        tint: Tint::Plain,
        section,
        is_value: false,
    }
}

fn value(field: &Field, values: &Values, section: usize) -> Option<Piece> {
    Some(Piece {
        text: values.text(field)?,
        tint: field.tint,
        section,
        is_value: true,
    })
}

/// Leaves out sections, the last first, then values, the last first, until the rest fits.
fn fit(pieces: &mut Vec<Piece>, columns: usize, values: &Values) {
    let is_wide = |pieces: &[Piece]| {
        let all: String = pieces.iter().map(|piece| &*piece.text).collect();
        width(all.trim()) > columns
    };
    while is_wide(pieces) {
        let last = pieces.iter().map(|piece| piece.section).max().unwrap_or(0);
        if last > 0 {
            pieces.retain(|piece| piece.section < last);
            continue;
        }
        let shown = pieces.iter().filter(|piece| piece.is_value).count();
        if shown <= 1 {
            pieces.retain(|piece| piece.is_value);
            break;
        }
        // A bar is the first to go: it is no number.
        let bar = pieces.iter().position(|piece| piece.text.starts_with(['█', '▒', '░']));
        let of_value = |piece: &Piece| piece.is_value;
        let at = bar.or_else(|| pieces.iter().rposition(of_value)).unwrap_or(0);
        pieces.remove(at);
        // With it goes the text around it that was not of another value.
        while at < pieces.len() && !pieces[at].is_value {
            pieces.remove(at);
        }
        if at == pieces.len() {
            while pieces.last().is_some_and(|piece| !piece.is_value) {
                pieces.pop();
            }
        }
    }
    if is_wide(pieces)
        && let Some(share) = values.share()
        && let Some(piece) = pieces.first_mut()
        && width(&share) < width(&piece.text)
    {
        piece.text = share;
    }
}

fn colour(values: &Values, fill: Fill) -> Colour {
    let (filled, end) = values.filled();
    let share = filled as f64 / end.max(1) as f64;
    match share {
        share if share >= fill.full => Colour::Red,
        share if share >= fill.high => Colour::Yellow,
        _ => Colour::Green,
    }
}

fn painted(text: &str, tint: Tint, colours: Colours, colour: impl Fn() -> Colour) -> String {
    let (on, off) = match (colours, tint) {
        (Colours::None, _) | (_, Tint::Plain) => return text.to_owned(),
        (Colours::Ansi, Tint::Bold) => ("\u{1b}[1m", "\u{1b}[22m"),
        (Colours::Ansi, Tint::Dim) => ("\u{1b}[2m", "\u{1b}[22m"),
        (Colours::Ansi, Tint::ByFill) => match colour() {
            Colour::Green => ("\u{1b}[32m", "\u{1b}[39m"),
            Colour::Yellow => ("\u{1b}[33m", "\u{1b}[39m"),
            Colour::Red => ("\u{1b}[31m", "\u{1b}[39m"),
        },
        (Colours::Tmux, Tint::Bold) => ("#[bold]", "#[nobold]"),
        (Colours::Tmux, Tint::Dim) => ("#[dim]", "#[nodim]"),
        (Colours::Tmux, Tint::ByFill) => match colour() {
            Colour::Green => ("#[fg=green]", "#[fg=default]"),
            Colour::Yellow => ("#[fg=yellow]", "#[fg=default]"),
            Colour::Red => ("#[fg=red]", "#[fg=default]"),
        },
    };
    format!("{on}{text}{off}")
}
