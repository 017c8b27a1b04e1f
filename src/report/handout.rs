//! Reports to hand on: files for people who were not there. Their content is put together once, without a format; a file
//! for each format writes all of it.
//!
//! Text of a log is a [`Piece`] of its own. A format makes it inert, so that it cannot become markup.

mod chart;
pub(crate) mod html;
pub(crate) mod markdown;
#[cfg(test)]
mod tests;

pub(crate) use chart::{Chart, Gauge, Steps, Trigger};

use super::OutputFormat;
use derive_more::From;
use model::Role;
use render::NONE;
use render::text::inert;
use std::borrow::Cow;

/// One page.
pub const HTML: OutputFormat = OutputFormat {
    name: "html",
    help: "To hand on: one page that needs nothing else, for browsers and paper",
    end: "html",
    write: |output, _, out| output.html(out),
    ascii: html::ascii,
    ..MARKDOWN
};

/// Markdown.
pub const MARKDOWN: OutputFormat = OutputFormat {
    name: "markdown",
    help: "To hand on: for issues, pull requests and notes",
    end: "md",
    for_people: false,
    to_hand_on: true,
    write: |output, style, out| output.markdown(style.charset, out),
    ascii: super::text::ascii,
};

/// The content of a report to hand on.
#[derive(Debug, Default)]
pub struct Handout {
    /// The subject: the session's name.
    pub(crate) title: Line,
    /// Facts about the session, each with its name.
    pub(crate) facts: Vec<(&'static str, Line)>,
    /// Its sections, in their order.
    pub(crate) sections: Vec<Section>,
    /// The program and version that made it.
    pub(crate) made_by: Line,
}

/// A part of it with a heading.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) heading: &'static str,
    pub(crate) blocks: Vec<Block>,
}

impl Section {
    pub(crate) fn new(heading: &'static str) -> Section {
        Section {
            heading,
            blocks: Vec::new(),
        }
    }

    pub(crate) fn with(mut self, block: impl Into<Block>) -> Section {
        self.blocks.push(block.into());
        self
    }
}

/// A part of a section.
#[derive(Debug, From)]
pub(crate) enum Block {
    /// A result, to be seen first.
    #[from(skip)]
    Headline(Line),
    /// A sentence.
    Sentence(Line),
    /// A remark on how to read the numbers of this section.
    #[from(skip)]
    Note(Line),
    Gauge(Gauge),
    Chart(Chart),
    Table(Table),
}

/// A table.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
}

impl Table {
    /// A table with columns by their headings, divided by bars; those of numbers have a `#` before them.
    pub(crate) fn new(headings: &'static str, rows: impl IntoIterator<Item = Row>) -> Table {
        let column = |heading: &'static str| match heading.strip_prefix('#') {
            Some(heading) => Column {
                heading,
                holds: Holds::Numbers,
            },
            None => Column {
                heading,
                holds: Holds::Words,
            },
        };
        Table {
            columns: headings.split(" | ").map(column).collect(),
            rows: rows.into_iter().collect(),
        }
    }
}

/// A column of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) heading: &'static str,
    pub(crate) holds: Holds,
}

/// The kind of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Holds {
    Numbers,
    Words,
}

/// A row of it.
#[derive(Debug, Default)]
pub(crate) struct Row {
    /// Its cells, one for each column.
    pub(crate) cells: Vec<Line>,
    /// The role that it is about.
    pub(crate) role: Option<Role>,
    /// A share that is drawn, 0 to 1.
    pub(crate) share: Option<f64>,
}

impl<const N: usize> From<[Line; N]> for Row {
    fn from(cells: [Line; N]) -> Row {
        Row {
            cells: cells.into(),
            ..Row::default()
        }
    }
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

    /// Returns the line, or the sign for an unknown value if it is empty.
    pub(crate) fn or_none(self) -> Line {
        if self.0.is_empty() {
            Line::own(NONE)
        } else {
            self
        }
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

impl From<String> for Line {
    fn from(text: String) -> Line {
        Line::own(text)
    }
}

impl From<&'static str> for Line {
    fn from(text: &'static str) -> Line {
        Line::own(text)
    }
}
