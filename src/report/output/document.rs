//! A report for people, put together once, without a format. Text, Markdown and HTML are written from it.
//!
//! Text of a log is a [`Piece`] of its own. Each format makes it inert, so that it cannot become markup.

mod chart;
pub(crate) mod html;
mod markdown;
mod table;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use chart::{Chart, Gauge, Steps, Trigger};
pub(crate) use table::{Row, Table};
pub(crate) use text::write as write_text;

use crate::{Output, OutputFormat};
use anyhow::{Context, Result};
use derive_more::From;
use render::text::{capitalised, inert};
use std::borrow::Cow;

/// One page.
pub const HTML: OutputFormat = OutputFormat {
    name: "html",
    help: "To share: one page that needs nothing else, for browsers and paper",
    end: "html",
    write: |output, _, out| html::write(&document(output)?, out),
    ascii: html::ascii,
    ..MARKDOWN
};

/// Markdown.
pub const MARKDOWN: OutputFormat = OutputFormat {
    name: "markdown",
    help: "To share: for issues, pull requests and notes",
    end: "md",
    for_people: false,
    to_hand_on: true,
    write: |output, style, out| markdown::write(&document(output)?, style.charset, out),
    ascii: crate::output::text::ascii,
};

fn document(output: &dyn Output) -> Result<Document> {
    output
        .document()
        .context("it is written as text and JSON alone")
}

/// The last line of a file to share.
const MADE_BY: &str = concat!(
    "Made by ctxgauge ",
    env!("CARGO_PKG_VERSION"),
    ". Sizes are in tokens: 12.3k are 12,300."
);

/// The content of a report.
#[derive(Debug, Default)]
pub struct Document {
    /// Its subject, or its result in one line; empty: its sections say all.
    pub(crate) title: Line,
    /// Its sections, in their order.
    pub(crate) sections: Vec<Section>,
}

/// A part of it with a heading.
#[derive(Debug, Default)]
pub(crate) struct Section {
    /// Empty: it has none.
    pub(crate) heading: Line,
    pub(crate) blocks: Vec<Block>,
}

impl Section {
    pub(crate) fn new(heading: impl Into<Line>) -> Section {
        Section {
            heading: heading.into(),
            blocks: Vec::new(),
        }
    }

    pub(crate) fn with(mut self, block: impl Into<Block>) -> Section {
        self.blocks.push(block.into());
        self
    }

    pub(crate) fn with_all(
        mut self,
        blocks: impl IntoIterator<Item = impl Into<Block>>,
    ) -> Section {
        self.blocks.extend(blocks.into_iter().map(Into::into));
        self
    }
}

/// A part of a section.
#[derive(Debug, From)]
pub(crate) enum Block {
    /// A result, to be seen first.
    Headline(Line),
    /// A sentence. Text has it on a line, and the others as a paragraph, which begins with a capital.
    #[from(Line, String, &'static str)]
    Sentence(Line),
    /// A remark on how to read the numbers of this section. Text has none.
    Note(Line),
    #[from]
    Facts(Facts),
    /// The size of a context. Text has no drawings.
    #[from]
    Gauge(Gauge),
    #[from]
    Chart(Chart),
    #[from]
    Table(Table),
}

/// Facts, each with its name.
pub(crate) type Facts = Vec<(&'static str, Line)>;

/// Returns those of the facts that are known.
pub(crate) fn facts<const N: usize>(all: [(&'static str, Option<Line>); N]) -> Facts {
    let known = all
        .into_iter()
        .filter_map(|(name, fact)| Some((name, fact?)));
    known.collect()
}

/// A part of a line.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Piece {
    /// Words of this program, and numbers.
    Own(Cow<'static, str>),
    /// Text of a log or of a file's name. It is not safe to print.
    Log(String),
}

/// A sentence or the content of a cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Line(pub(crate) Vec<Piece>);

impl Line {
    /// Returns a line with words of this program.
    pub(crate) fn own(text: impl Into<Cow<'static, str>>) -> Line {
        Line(vec![Piece::Own(text.into())])
    }

    /// Returns a line with text of a log.
    pub(crate) fn log(text: &str) -> Line {
        Line::default().and_log(text)
    }

    /// Appends words of this program.
    pub(crate) fn and(mut self, text: impl Into<Cow<'static, str>>) -> Line {
        self.0.push(Piece::Own(text.into()));
        self
    }

    /// Appends text of a log.
    pub(crate) fn and_log(mut self, text: &str) -> Line {
        let words: Vec<&str> = text.split_whitespace().collect();
        if !words.is_empty() {
            self.0.push(Piece::Log(words.join(" ")));
        }
        self
    }

    /// Appends another line.
    pub(crate) fn and_line(mut self, other: Line) -> Line {
        self.0.extend(other.0);
        self
    }

    /// Joins lines, with the same words between each two.
    pub(crate) fn joined(lines: impl IntoIterator<Item = Line>, between: &'static str) -> Line {
        let mut all = Line::default();
        for (ix, line) in lines.into_iter().enumerate() {
            if ix > 0 {
                all = all.and(between);
            }
            all = all.and_line(line);
        }
        all
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns true if it has text of a log.
    fn is_of_log(&self) -> bool {
        self.0.iter().any(|piece| matches!(piece, Piece::Log(_)))
    }

    /// Returns the line as the beginning of a sentence, if it begins with words of this program.
    fn capitalised(&self) -> Line {
        let mut line = self.clone();
        if let Some(Piece::Own(words)) = line.0.first_mut() {
            *words = capitalised(words).into();
        }
        line
    }

    /// Returns the line as safe text.
    pub(crate) fn plain(&self) -> String {
        self.0
            .iter()
            .map(|piece| match piece {
                Piece::Own(text) => inert(text),
                Piece::Log(text) => inert(text),
            })
            .collect()
    }
}

impl<T: Into<Cow<'static, str>>> From<T> for Line {
    fn from(text: T) -> Line {
        Line::own(text)
    }
}
