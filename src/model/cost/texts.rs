//! Facts that the texts of items show and their sizes do not: long lines, what the agent cut, names in a listing, and lines
//! that the context holds already. They are taken while a log is read, by readers that ask for them. The texts are not
//! kept.

mod look;

use crate::event::{Conversation, Event, Measure, NewItem, Place, Size};
use crate::history::{Item, ItemIx};
use crate::session::Session;
use crate::{Kind, Role};
use std::cell::RefCell;
use std::collections::HashMap;

/// The most lines of a log that are compared.
const MOST_LINES: usize = 2_000_000;

/// Facts about the text of one item. Names are log text: not safe to print.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextFacts {
    /// The characters of its longest line.
    pub longest_line: u32,
    /// Set if the agent cut it.
    pub cut: Option<CutText>,
    /// The names of skills, agents or tools that it lists, in any form.
    pub names: Vec<Box<str>>,
    /// The names that it lists with what they are for, each with the bytes that it takes.
    pub listed: Vec<(Box<str>, usize)>,
    /// The names of the skills and agents that it uses.
    pub used: Vec<Box<str>>,
    /// The hashes and lengths of its lines, without the numbers before them and without short lines.
    pub(crate) lines: Vec<(u64, u32)>,
}

/// A text that the agent cut before the model got it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutText {
    /// The size of the whole text, or of what is missing, as the agent states it: a number and its unit.
    pub stated: Option<(u64, &'static str)>,
}

/// The facts about the texts of a log.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    /// By the record and the hash of an item.
    of: HashMap<(u64, u64), TextFacts>,
    lines: usize,
}

impl TextFacts {
    /// Returns the facts about the text of an item.
    pub fn of(role: Role, kind: Kind, text: &str) -> TextFacts {
        let mut facts = TextFacts {
            longest_line: look::longest_line(text),
            ..TextFacts::default()
        };
        if kind != Kind::Thinking {
            facts.lines = look::lines(text);
        }
        match kind {
            Kind::ToolResult => facts.cut = look::cut(text),
            Kind::ToolList if role == Role::Container => {
                facts.names = look::names(text);
                facts.listed = look::listed(text);
            }
            Kind::ToolCall | Kind::Skill => facts.used = look::used(text),
            Kind::Text if role == Role::User => facts.used = look::used(text),
            _ => {}
        }
        facts
    }
}

impl Texts {
    /// Takes in the text of an item that is read.
    pub fn add(&mut self, place: Place, item: &NewItem, text: &str) {
        let mut facts = TextFacts::of(item.role, item.kind, text);
        if self.lines.saturating_add(facts.lines.len()) > MOST_LINES {
            facts.lines = Vec::new();
        }
        self.lines += facts.lines.len();
        facts.lines.shrink_to_fit();
        self.of.insert((place.id(), item.hash), facts);
    }

    /// Drops all names.
    pub fn clear_names(&mut self) {
        for facts in self.of.values_mut() {
            facts.names.clear();
            facts.listed.clear();
            facts.used.clear();
        }
    }

    /// Returns the facts about the text of an item; `None`: it was not read.
    pub fn of(&self, item: &Item) -> Option<&TextFacts> {
        self.of.get(&(item.place.id(), item.hash))
    }

    /// Returns, for each item, the share of the text of its lines that the context held when it came; `None`: it has no
    /// line that counts.
    pub fn overlaps(&self, session: &Session) -> Vec<Option<f64>> {
        let items = session.items();
        let mut newest: HashMap<u64, ItemIx> = HashMap::new();
        let overlap = |(ix, item): (ItemIx, &Item)| {
            let lines = &self.of(item)?.lines;
            let is_held = |(line, _): &&(u64, u32)| {
                let earlier = newest.get(line);
                earlier.is_some_and(|earlier| items[*earlier].in_context_at(item.record))
            };
            let length = |(_, length): &(u64, u32)| u64::from(*length);
            let held: u64 = lines.iter().filter(is_held).map(length).sum();
            let all: u64 = lines.iter().map(length).sum();
            newest.extend(lines.iter().map(|(line, _)| (*line, ix)));
            (!lines.is_empty()).then(|| held as f64 / all as f64)
        };
        items.iter().enumerate().map(overlap).collect()
    }
}

/// Measures texts as another measure does, and takes the facts about them.
pub struct TextReader<'m> {
    sizes: &'m dyn Measure,
    texts: RefCell<Texts>,
}

impl<'m> TextReader<'m> {
    /// Returns a reader that has seen nothing yet.
    pub fn new(sizes: &'m dyn Measure) -> TextReader<'m> {
        TextReader {
            sizes,
            texts: RefCell::default(),
        }
    }

    /// Returns the facts about the texts that were read.
    pub fn into_texts(self) -> Texts {
        self.texts.into_inner()
    }
}

impl Measure for TextReader<'_> {
    fn text(&self, text: &str) -> Size {
        self.sizes.text(text)
    }

    fn prepare(&self, event: &mut Event) {
        self.sizes.prepare(event);
    }

    fn takes_texts(&self) -> bool {
        true
    }

    fn item(&self, conversation: Conversation, place: Place, item: &NewItem, text: &str) {
        self.sizes.item(conversation, place, item, text);
        self.texts.borrow_mut().add(place, item, text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Log, new_item};

    fn result(text: &str) -> TextFacts {
        TextFacts::of(Role::Tool, Kind::ToolResult, text)
    }

    #[test]
    fn a_cut_text_is_found_by_what_the_agents_write() {
        for (line, stated) in [
            ("…1234 tokens truncated…", Some((1_234, "tokens"))),
            (
                "... [12,345 characters truncated] ...",
                Some((12_345, "characters")),
            ),
            (
                "Warning: truncated output (original token count: 5021)",
                Some((5_021, "tokens")),
            ),
            ("Total output lines: 99", Some((99, "lines"))),
            (
                "Output too large (1.2MB). Full output saved to: /tmp/a",
                None,
            ),
            (
                "(Results are truncated. Consider a more specific path.)",
                None,
            ),
        ] {
            let cut = result(&format!("before\n{line}\nafter")).cut;
            assert_eq!(cut, Some(CutText { stated }), "{line}");
        }
        assert_eq!(result("the list was truncated by the user").cut, None);
        // What a model wrote is not cut.
        let written = TextFacts::of(Role::Assistant, Kind::Text, "…9 tokens truncated…");
        assert_eq!(written.cut, None);
    }

    #[test]
    fn the_longest_line_counts_characters() {
        assert_eq!(result("short\nlänger\n").longest_line, 6);
        assert_eq!(result("").longest_line, 0);
    }

    #[test]
    fn listings_have_names() {
        let text = "The following skills are available:\n- commit: writes one\n- `a:b`: c\nWebFetch\n\n<x>";
        let facts = TextFacts::of(Role::Container, Kind::ToolList, text);
        let names: Vec<&str> = facts.names.iter().map(|name| &**name).collect();
        assert_eq!(names, ["commit", "a:b", "WebFetch"]);
        assert!(result(text).names.is_empty());
    }

    #[test]
    fn lines_that_the_context_holds_overlap() {
        let (a, b) = ("the first long line", "the second long line");
        let mut texts = Texts::default();
        let item = |hash, role| NewItem {
            hash,
            ..new_item(role, Kind::ToolResult, 100)
        };
        let contents = [
            format!("{a}\n{b}\n}}"),
            format!("     1→{a}\n     2→one more line of it"),
            "}".to_owned(),
        ];
        let mut log = Log::new();
        for (n, text) in (1..).zip(&contents) {
            log = log.node(&n.to_string(), vec![item(n, Role::Tool)]);
            let place = log.session.items().last().unwrap().place;
            texts.add(place, &item(n, Role::Tool), text);
        }
        let log = log.compact(9_500);
        let log = log.node("4", vec![item(1, Role::Tool)]);
        let place = log.session.items().last().unwrap().place;
        texts.add(place, &item(1, Role::Tool), a);
        let overlaps = texts.overlaps(&log.session);
        assert_eq!(&overlaps[..3], [Some(0.0), Some(0.5), None]);
        // After a compaction the context holds it no more.
        assert_eq!(overlaps.last(), Some(&Some(0.0)));
    }
}
