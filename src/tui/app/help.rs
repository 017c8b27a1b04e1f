//! The lines of the help, the keys and the signs: scrolling needs their number as much as drawing does.

use super::{App, Overlay};
use crate::keymap::{Action, ActionGroup, Binding, KeyPress, Scope};
use crate::paint::{Piece, Tone, piece, plain, quiet};
use model::Role;
use render::item::letter;
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

/// A line of help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelpLine {
    /// Keys and what they do, or a word and what it means; a continued line has no keys.
    Keys(String, String),
    /// Signs and their words.
    Signs(Vec<Sign>),
    /// The heading of a group of keys.
    Heading(&'static str),
    /// A sentence about the lines.
    Note(String),
}

/// A sign that gauges, charts and lists use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// The letter of a role.
    Role(Role),
    /// The fill of what is known.
    Known,
    /// The hatching of what is estimated.
    Estimated,
    /// The line of its error.
    Error,
    /// The mark of the trigger in a gauge.
    Trigger,
    /// The line of the trigger in the timeline.
    TriggerLine,
    /// The shade of the forecast in the timeline.
    Median,
    /// The shade of its band.
    Band,
    /// The mark of a compaction in the timeline.
    Compaction,
    /// The mark of a large growth.
    Jump,
    /// The mark of a request for which the provider's cache was rebuilt.
    Rebuilt,
    /// The mark of a marked item.
    Marked,
    /// The mark of an oversized item.
    Oversized,
    /// The mark of a session whose agent works.
    Works,
    /// The mark of a session that waits for the user.
    Waits,
    /// The mark of a session whose log was written lately.
    Written,
}

impl Sign {
    /// Returns its look where known tokens are filled with this character, and its meaning.
    pub fn shown(self, fill: char) -> (Piece, &'static str) {
        match self {
            Sign::Role(role) => (piece(letter(role).to_string(), role), role.name()),
            Sign::Known => (piece(fill.to_string().repeat(3), Role::Tool), "known"),
            Sign::Estimated => (piece("╱╱╱", Role::Tool), "estimated"),
            Sign::Error => (plain("┄┄"), "error margin"),
            Sign::Trigger => (piece("┃", Tone::Trigger), "compacts here"),
            Sign::TriggerLine => (piece("──", Tone::Trigger), "compacts here"),
            Sign::Median => (piece("▒▒", Tone::Forecast), "forecast"),
            Sign::Band => (piece("░░", Tone::Forecast), "its 80% band"),
            Sign::Compaction => (piece("▾", Tone::Compaction), "compaction"),
            Sign::Jump => (piece("↑", Tone::Chart), "largest growths"),
            Sign::Rebuilt => (piece("∘", Tone::Warn), "cache rebuilt"),
            Sign::Marked => (piece("◆", Tone::Marked), "marked"),
            Sign::Oversized => (piece("!", Tone::Oversized), "oversized"),
            Sign::Works => (piece("●", Tone::Live), "working"),
            Sign::Waits => (quiet("○"), "waiting for you"),
            Sign::Written => (piece("·", Tone::Live), "log written recently"),
        }
    }

    /// Returns its columns, its word and the space around it included.
    fn columns(self) -> usize {
        let (sign, word) = self.shown(' ');
        sign.width() + 1 + word.len() + 2
    }

    /// Signs in lines of at most these columns.
    pub(super) fn in_lines(signs: &[Sign], columns: usize) -> Vec<HelpLine> {
        let mut lines: Vec<Vec<Sign>> = Vec::new();
        let mut taken = 0;
        for sign in signs {
            taken += sign.columns();
            match lines.last_mut() {
                // The last one needs no space after it.
                Some(line) if taken <= columns + 2 => line.push(*sign),
                _ => {
                    lines.push(vec![*sign]);
                    taken = sign.columns();
                }
            }
        }
        lines.into_iter().map(HelpLine::Signs).collect()
    }
}

impl HelpLine {
    /// Returns a word and its meaning, which is wrapped: `word_columns` and the rest of `columns`.
    pub(super) fn wrapped(
        word: &str,
        means: &str,
        word_columns: usize,
        columns: usize,
    ) -> Vec<HelpLine> {
        // A word that is wider than its column has a space after it too.
        let room = columns.saturating_sub(word_columns.max(text::width(word) + 1));
        let mut word = word.to_owned();
        let lines = wrapped(means, room).into_iter();
        lines
            .map(|text| HelpLine::Keys(std::mem::take(&mut word), text))
            .collect()
    }
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
    pub fn help_keys(&self) -> usize {
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
    pub fn help_lines(&self) -> Vec<HelpLine> {
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
                HelpLine::wrapped(&keys_of(binding), binding.help, keys, columns)
            });
            (group, lines.collect::<Vec<_>>())
        });
        let shown = groups.filter(|(_, lines)| !lines.is_empty());
        let heading = |group: ActionGroup| HelpLine::Heading(group.into());
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
            let is_of_it = |line: &HelpLine| matches!(line, HelpLine::Keys(keys, _) if keys == key);
            assert!(app.help_lines().iter().any(is_of_it), "{key}");
        }
        type_keys(&mut app, "zz");
        let shown = text(&app, Theme::default());
        assert!(shown.contains("keys: session, /replayzz▏ ─"), "{shown}");
        assert!(shown.contains("│ no key matches 'replayzz'  "), "{shown}");
    }
}
