//! Writes status lines: one session on a line or two, for an agent's own status line, tmux or a prompt.
//!
//! An agent runs it again and again, so it reads little: the log that the agent names, back to the last reset. A size
//! that no report covers is estimated from its length, and marked as an estimate.

pub mod find;
pub(crate) mod fit;
pub mod pane;
mod session;
pub mod template;
pub(crate) mod values;

pub use fit::{Colours, Fill};
pub use session::{LineSession, passed};

use crate::output::text::in_charset;
use fit::lines;
use integrations::line::Input;
use model::values::threshold::Threshold;
use render::text::inert;
use std::io::{self, Write};
use template::Template;
use values::Values;

/// The look of a status line.
#[derive(Debug, Clone)]
pub struct LineStyle {
    /// The values and the words of the line.
    pub template: Template,
    /// The kind of colour codes.
    pub colours: Colours,
    /// The shares at which the colour changes.
    pub fill: Fill,
    /// The columns that it may take; `None`: any number.
    pub columns: Option<usize>,
    /// Its characters: any, or ASCII only.
    pub charset: crate::Charset,
    /// Items from this size on are oversized.
    pub oversized: Threshold,
}

/// A problem, in a word for the line and in a sentence for standard error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineProblem {
    /// The word.
    pub word: &'static str,
    /// The sentence.
    pub sentence: String,
}

impl LineProblem {
    /// Creates a trouble with a word and a sentence.
    pub fn new(word: &'static str, sentence: impl Into<String>) -> LineProblem {
        let sentence = sentence.into();
        LineProblem { word, sentence }
    }
}

/// Writes the status line of a session, at least one line. What is wrong is a word in it.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn write(
    shown: &LineSession,
    input: &Input,
    trouble: Option<&LineProblem>,
    look: &LineStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut values = Values::of(shown, look.oversized);
    values.effort.clone_from(&input.effort);
    // It has what the log lacks, such as `[1m]`.
    if input.model.is_some() {
        values.model.clone_from(&input.model);
    }
    if values.version.is_none() {
        values.version.clone_from(&input.version);
    }
    let word = trouble.map(|trouble| trouble.word);
    let how = (look.colours, look.fill);
    for line in lines(&look.template, &values, word, look.columns, how) {
        writeln!(out, "{}", in_charset(line.into(), look.charset))?;
    }
    Ok(())
}

/// Returns values in a format that is known to be right, on one line without colours.
pub(crate) fn words(format: &str, values: &Values) -> String {
    let template = Template::read(format).unwrap_or_else(|_| Template::usual());
    let how = (
        Colours::None,
        Fill {
            high: 1.0,
            full: 1.0,
        },
    );
    lines(&template, values, None, None, how).join(" ")
}

/// Returns a path as sentences have it.
pub(crate) fn named(path: &std::path::Path) -> String {
    format!("'{}'", inert(&path.to_string_lossy()))
}
