//! The lines of the help: scrolling needs their number as much as drawing does.

use super::App;
use crate::app::columns::COLUMNS;
use crate::keymap::Scope;
use model::{Role, Source};
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
    /// Keys and what they do; a continued line has no keys.
    Keys(String, String),
    /// How to read gauges and numbers.
    Signs(Vec<Sign>),
}

/// A sign that gauges and lists use.
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
    /// The mark of the trigger.
    Trigger,
    /// The source of a number.
    Source(Source),
}

impl Sign {
    /// What it means.
    pub fn word(self) -> &'static str {
        match self {
            Sign::Role(role) => role.name(),
            Sign::Known => "known",
            Sign::Estimated => "estimated",
            Sign::Error => "error margin",
            Sign::Trigger => "compacts here",
            Sign::Source(Source::Agent) => "agent's count",
            Sign::Source(source) => source.name(),
        }
    }

    /// Its columns, its word and the space around it included.
    fn columns(self) -> usize {
        let sign = match self {
            Sign::Known | Sign::Estimated => 3,
            Sign::Error | Sign::Source(Source::Derived) => 2,
            Sign::Role(_) | Sign::Trigger | Sign::Source(_) => 1,
        };
        sign + 1 + self.word().len() + 2
    }
}

impl App {
    /// The columns of the keys in the help.
    pub fn help_keys(&self) -> usize {
        if usize::from(self.ui.size.0) < ROOMY_WIDTH {
            NARROW_KEY_COLUMNS
        } else {
            KEY_COLUMNS
        }
    }

    /// The keys of the screen and the signs, in lines that fit.
    pub fn help_lines(&self) -> Vec<HelpLine> {
        let columns = usize::from(self.ui.size.0)
            .saturating_sub(FRAME_COLUMNS)
            .max(1);
        let scope = self.scope();
        let everywhere = self.keymap.in_scope(Scope::Anywhere);
        let bindings = self.keymap.in_scope(scope).chain(everywhere);
        let mut lines = Vec::new();
        let room = columns.saturating_sub(self.help_keys()).max(1);
        let options = textwrap::Options::new(room).word_splitter(WordSplitter::NoHyphenation);
        let mut add = |mut keys: String, help: &str| {
            for text in textwrap::wrap(help, &options) {
                lines.push(HelpLine::Keys(std::mem::take(&mut keys), text.into_owned()));
            }
        };
        for binding in bindings.filter(|binding| !binding.keys.is_empty()) {
            let keys: Vec<String> = binding.keys.iter().map(ToString::to_string).collect();
            add(keys.join(" "), binding.help);
        }
        if scope == Scope::Overview {
            add(String::new(), "");
            for column in COLUMNS {
                add(column.heading.to_owned(), column.help);
            }
        }
        lines.push(HelpLine::Signs(Vec::new()));
        let bar = [Sign::Known, Sign::Estimated, Sign::Error, Sign::Trigger];
        let sources = [
            Source::Reported,
            Source::Derived,
            Source::Shared,
            Source::Estimated,
            Source::Agent,
        ];
        let kinds = [
            Role::ALL.map(Sign::Role).to_vec(),
            bar.to_vec(),
            sources.map(Sign::Source).to_vec(),
        ];
        for signs in kinds {
            let mut line: Vec<Sign> = Vec::new();
            let mut taken = 0;
            for sign in signs {
                // The last one needs no space after it.
                if taken + sign.columns() > columns + 2 && !line.is_empty() {
                    lines.push(HelpLine::Signs(std::mem::take(&mut line)));
                    taken = 0;
                }
                taken += sign.columns();
                line.push(sign);
            }
            lines.push(HelpLine::Signs(line));
        }
        lines
    }
}
