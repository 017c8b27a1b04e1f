//! The lines of the help, the keys and the signs: scrolling needs their number as much as drawing does.

use super::{App, Overlay};
use crate::keymap::{Action, ActionGroup, Binding, KeyPress, Scope};
use crate::paint::{Piece, Pieces, Tone, piece, plain, width};
use render::text;
use std::borrow::Cow;
use strum::IntoEnumIterator;
use textwrap::WordSplitter;

/// The columns of the keys.
const KEY_COLUMNS: usize = 14;
/// The columns of the keys on narrow screens.
const NARROW_KEY_COLUMNS: usize = 10;
/// The width from which there is room for all keys of a binding.
const ROOMY_WIDTH: usize = 60;
/// The columns of the frame around the help.
const FRAME_COLUMNS: usize = 4;

/// A sign that gauges, charts and lists use, and its meaning.
pub(super) type Sign = [Piece; 2];

/// Returns a sign, with its meaning and the space around that.
pub(super) fn sign(sign: &str, tone: impl Into<Tone>, means: &str) -> Sign {
    [piece(sign, tone), plain(format!(" {means}  "))]
}

/// Returns signs in lines of at most these columns.
pub(super) fn in_lines(signs: impl IntoIterator<Item = Sign>, columns: usize) -> Vec<Pieces> {
    let mut lines: Vec<Pieces> = Vec::new();
    for sign in signs {
        match lines.last_mut() {
            // The last one needs no space after it.
            Some(line) if width(line) + width(&sign) <= columns + 2 => line.extend(sign),
            _ => lines.push(sign.into()),
        }
    }
    lines
}

/// Returns a word and its meaning, which is wrapped: `word_columns` and the rest of `columns`.
pub(super) fn explained(
    word: &str,
    means: &str,
    word_columns: usize,
    columns: usize,
) -> Vec<Pieces> {
    // A word that is wider than its column has a space after it too.
    let first = word_columns.max(text::width(word) + 1);
    let lines = wrapped(means, columns.saturating_sub(first)).into_iter();
    let words = [text::left(word, first)].into_iter();
    let words = words.chain(std::iter::repeat(" ".repeat(word_columns)));
    words
        .zip(lines)
        .map(|(word, means)| vec![piece(word, Tone::Key), plain(means)])
        .collect()
}

/// Returns a text in lines of at most these columns.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let options = textwrap::Options::new(columns.max(1));
    let options = options.word_splitter(WordSplitter::NoHyphenation);
    let lines = textwrap::wrap(text, &options).into_iter();
    lines.map(Cow::into_owned).collect()
}

impl App {
    /// Returns the columns of the keys in the help.
    pub(super) fn help_keys(&self) -> usize {
        if usize::from(self.ui.size.0) < ROOMY_WIDTH {
            NARROW_KEY_COLUMNS
        } else {
            KEY_COLUMNS
        }
    }

    /// Returns the columns inside the frame.
    pub(super) fn help_columns(&self) -> usize {
        let columns = usize::from(self.ui.size.0).saturating_sub(FRAME_COLUMNS);
        columns.max(1)
    }

    /// Returns the keys of the screen that the filter leaves, in groups, in lines that fit.
    pub fn help_lines(&self) -> Vec<Pieces> {
        let wanted = self.ui.help_filter.as_deref().unwrap_or_default();
        let wanted = wanted.to_lowercase();
        let is_wanted = |binding: &&Binding| {
            let group: &str = ActionGroup::of(binding.action).into();
            let texts = [
                keys_of(binding),
                binding.help.to_lowercase(),
                binding.name(),
                group.to_owned(),
            ];
            !binding.keys.is_empty() && texts.iter().any(|text| text.contains(&wanted))
        };
        let everywhere = self.keymap.in_scope(Scope::Anywhere);
        let bindings = self.keymap.in_scope(self.scope()).chain(everywhere);
        let bindings: Vec<&Binding> = bindings.filter(is_wanted).collect();
        let groups = ActionGroup::iter().map(|group| {
            let of = bindings
                .iter()
                .filter(|it| ActionGroup::of(it.action) == group);
            let lines = of.flat_map(|binding| {
                let (keys, columns) = (self.help_keys(), self.help_columns());
                explained(&keys_of(binding), binding.help, keys, columns)
            });
            (group, lines.collect::<Vec<_>>())
        });
        let shown = groups.filter(|(_, lines)| !lines.is_empty());
        let heading = |group: ActionGroup| vec![piece(<&str>::from(group), Tone::Heading)];
        let lines = shown.flat_map(|(group, lines)| std::iter::once(heading(group)).chain(lines));
        lines.collect()
    }

    /// Takes a key that is typed into the filter of the keys, or begins it. Returns false for any other.
    pub(super) fn type_in_help(&mut self, key: KeyPress) -> bool {
        if self.ui.overlay != Some(Overlay::Help) {
            return false;
        }
        let begins = self.keymap.action(self.scope(), key) == Some(Action::Filter);
        match (&mut self.ui.help_filter, key) {
            (filter @ None, _) if begins || key == KeyPress::Char('/') => {
                *filter = Some(String::new());
            }
            (Some(text), KeyPress::Char(c)) if text.len() < LONGEST_FILTER => text.push(c),
            (Some(text), KeyPress::Backspace) => drop(text.pop()),
            (filter @ Some(_), KeyPress::Esc) => *filter = None,
            _ => return false,
        }
        self.ui.overlay_top = 0;
        true
    }
}

/// The longest filter of the keys, in bytes.
const LONGEST_FILTER: usize = 30;

fn keys_of(binding: &Binding) -> String {
    let keys: Vec<String> = binding.keys.iter().map(ToString::to_string).collect();
    keys.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::testing::{app, logs, text, type_keys};
    use crate::theme::Theme;

    #[test]
    fn keys_are_found_by_their_group_and_what_is_typed_is_shown() {
        let mut app = app(logs(), 80, 24);
        type_keys(&mut app, "/opus⏎⏎??/replay");
        for key in ["@", "[", "L"] {
            let is_of_it = |line: &Pieces| line[0].text.trim_end() == key;
            assert!(app.help_lines().iter().any(is_of_it), "{key}");
        }
        type_keys(&mut app, "zz");
        let shown = text(&app, Theme::default());
        assert!(shown.contains("keys: session, /replayzz▏ ─"), "{shown}");
        assert!(shown.contains("│ no key matches 'replayzz'  "), "{shown}");
    }
}
