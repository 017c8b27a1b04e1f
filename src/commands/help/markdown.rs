//! Markdown for a terminal: the parts of it that the documentation uses.

use super::table;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::mem::take;
use textwrap::WordSplitter;
use textwrap::core::display_width;

/// The marks of emphasis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Emphasis {
    /// By escape sequences of a terminal.
    Styled,
    /// By characters.
    Plain,
}

impl Emphasis {
    fn strong(self, text: &str) -> String {
        match self {
            Emphasis::Styled => format!("\u{1b}[1m{text}\u{1b}[22m"),
            Emphasis::Plain => text.to_owned(),
        }
    }

    fn code(self, text: &str) -> String {
        match self {
            Emphasis::Styled => format!("\u{1b}[36m{text}\u{1b}[39m"),
            Emphasis::Plain => format!("`{text}`"),
        }
    }
}

/// The columns that a list indents its items by.
const INDENT: usize = 2;
/// The columns before a line of code.
const CODE_INDENT: usize = 4;

/// Renders Markdown in lines of at most these columns. Longer code and words are not cut. Pictures and links to files
/// that are not installed are left out.
pub(super) fn rendered(markdown: &str, columns: usize, emphasis: Emphasis) -> String {
    let mut page = Page {
        columns,
        emphasis,
        out: String::new(),
        line: String::new(),
        lists: Vec::new(),
        bullet: String::new(),
        inline: Vec::new(),
        table: Vec::new(),
    };
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES) {
        page.take(event);
    }
    page.out.trim_end().to_owned() + "\n"
}

/// A page while it is written.
struct Page {
    columns: usize,
    emphasis: Emphasis,
    out: String,
    /// The text of the block that is not written yet.
    line: String,
    /// The open lists; the number of the next item, where they are numbered.
    lists: Vec<Option<u64>>,
    /// The beginning of the next block.
    bullet: String,
    /// The targets of the open links and pictures, and the places where their texts begin.
    inline: Vec<(String, usize)>,
    /// The rows of the open table.
    table: Vec<Vec<String>>,
}

impl Page {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.line.push_str(&text),
            Event::Code(code) => self.line.push_str(&self.emphasis.code(&code)),
            Event::SoftBreak | Event::HardBreak => self.line.push(' '),
            _ => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Image { dest_url, .. } | Tag::Link { dest_url, .. } => {
                self.inline.push((dest_url.to_string(), self.line.len()));
            }
            Tag::List(first) => {
                // An item that contains a list ends before it.
                self.block();
                self.lists.push(*first);
            }
            Tag::Item => {
                self.bullet = match self.lists.last_mut() {
                    Some(Some(number)) => {
                        *number += 1;
                        format!("{}. ", *number - 1)
                    }
                    _ => "• ".to_owned(),
                };
            }
            Tag::TableHead | Tag::TableRow => self.table.push(Vec::new()),
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => self.heading(),
            TagEnd::Paragraph => {
                self.block();
                if self.lists.is_empty() && !self.out.ends_with("\n\n") && !self.out.is_empty() {
                    self.out.push('\n');
                }
            }
            TagEnd::Item => self.block(),
            TagEnd::List(_) => {
                self.lists.pop();
                if self.lists.is_empty() {
                    self.out.push('\n');
                }
            }
            TagEnd::CodeBlock => self.code(),
            TagEnd::Image => {
                let begin = self.inline.pop().map_or(0, |(_, begin)| begin);
                self.line.truncate(begin);
            }
            TagEnd::Link => self.link(),
            TagEnd::TableCell => {
                let cell = take(&mut self.line);
                if let Some(row) = self.table.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::Table => {
                let heading = |text: &str| self.emphasis.strong(text);
                self.out += &table::rendered(&self.table, self.columns, &heading);
                self.out.push('\n');
                self.table.clear();
            }
            _ => {}
        }
    }

    fn heading(&mut self) {
        let heading = take(&mut self.line);
        let lines = textwrap::wrap(&heading, self.columns);
        for line in &lines {
            self.out += &self.emphasis.strong(line);
            self.out.push('\n');
        }
        if self.emphasis == Emphasis::Plain {
            let width = lines.iter().map(|line| display_width(line)).max();
            self.out += &"─".repeat(width.unwrap_or(0));
            self.out.push('\n');
        }
        self.out.push('\n');
    }

    /// Writes the text of a block.
    fn block(&mut self) {
        let text = take(&mut self.line);
        if text.trim().is_empty() {
            return;
        }
        let indent = self.lists.len() * INDENT;
        let first = format!("{:>indent$}", take(&mut self.bullet));
        let rest = " ".repeat(indent);
        let options = textwrap::Options::new(self.columns)
            .initial_indent(&first)
            .subsequent_indent(&rest)
            .break_words(false)
            .word_splitter(WordSplitter::NoHyphenation);
        self.out += &textwrap::fill(text.trim(), &options);
        self.out.push('\n');
    }

    fn code(&mut self) {
        let code = take(&mut self.line);
        let indent = " ".repeat(self.lists.len() * INDENT + CODE_INDENT);
        for line in code.lines() {
            self.out += format!("{indent}{line}").trim_end();
            self.out.push('\n');
        }
        self.out.push('\n');
    }

    /// Adds the target of a link: the command that shows another page, or an address of the web.
    fn link(&mut self) {
        let Some((target, begin)) = self.inline.pop() else {
            return;
        };
        if target.starts_with("http") {
            self.line += &format!(" ({target})");
            return;
        }
        let file = target
            .split('#')
            .next()
            .and_then(|path| path.rsplit('/').next());
        let name = file.and_then(|file| file.strip_suffix(".md"));
        let Some(page) = name.filter(|name| super::topics::page(name).is_some()) else {
            return;
        };
        let command = self.emphasis.code(&format!("ctxgauge help {page}"));
        let text = self.line.get(begin..).unwrap_or_default();
        if text.ends_with(".md") {
            self.line.truncate(begin);
            self.line += &command;
        } else {
            self.line += &format!(" ({command})");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(markdown: &str) -> String {
        rendered(markdown, 40, Emphasis::Plain)
    }

    #[test]
    fn blocks_are_set_apart_and_wrapped() {
        let page = "# A title\n\nOne two three four five six seven eight nine ten.\n\n\
            * an item that is longer than a line can be here\n* `code`\n  1. inner\n\n\
            ```sh\ncargo run  # not wrapped, however long the line of code may be\n```\n\nThe end.\n";
        let expected = "\
A title
───────

One two three four five six seven eight
nine ten.

• an item that is longer than a line can
  be here
• `code`
 1. inner

    cargo run  # not wrapped, however long the line of code may be

The end.
";
        assert_eq!(plain(page), expected);
    }

    #[test]
    fn comments_and_pictures_are_left_out_and_links_name_their_page() {
        let page = "<!-- keys -->\n![a picture](a.svg)\n\nSee [keys.md](keys.md), [the themes](configuration.md#themes),\n\
            [a file](../models.toml) or [the web](https://example.org).\n";
        let expected = "See `ctxgauge help keys`, the themes\n\
            (`ctxgauge help configuration`), a file\nor the web (https://example.org).\n";
        assert_eq!(plain(page), expected);
    }

    #[test]
    fn a_terminal_gets_styles() {
        let styled = rendered("# A\n\n`b` c\n", 40, Emphasis::Styled);
        assert_eq!(styled, "\u{1b}[1mA\u{1b}[22m\n\n\u{1b}[36mb\u{1b}[39m c\n");
    }

    #[test]
    fn every_page_fits() {
        for page in &assets::PAGES {
            for columns in [40, 80, 120] {
                let text = rendered(page.text, columns, Emphasis::Plain);
                let is_code = |line: &str| line.starts_with("    ");
                for line in text.lines().filter(|line| !is_code(line)) {
                    let width = display_width(line);
                    let has_room = width <= columns || !line.trim().contains(' ');
                    assert!(has_room, "{} at {columns}: {line}", page.name);
                }
                assert!(!text.contains("<!--") && !text.contains("](") && !text.contains("|--"));
            }
        }
    }
}
