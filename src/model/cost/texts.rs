//! Facts that the texts of items show and their sizes do not: long lines, what the agent cut, names in a listing, and lines
//! that the context holds already. They are taken only by readers that ask for them.

use crate::event::{NewItem, Place};
use crate::history::{Item, ItemIx};
use crate::session::Session;
use crate::{Kind, Role};
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// Shorter lines, in characters, are the same in many texts.
const SHORTEST_LINE: usize = 16;
/// The most lines of a log that are compared, and the most names of a listing.
const MOST_LINES: usize = 2_000_000;
const MOST_NAMES: usize = 500;
/// The longest name of a listing, in bytes.
const LONGEST_NAME: usize = 100;
/// The longest line in which an agent says that it cut a text, in bytes.
const LONGEST_NOTE: usize = 300;

/// Facts about the text of one item.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextFacts {
    /// The characters of its longest line.
    pub longest_line: u32,
    /// Set if the agent cut it.
    pub cut: Option<CutText>,
    /// The names of skills, agents or tools that it lists. They are log text: not safe to print.
    pub names: Vec<Box<str>>,
    /// The hashes of its lines, but for short ones.
    lines: Vec<u64>,
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
    of: HashMap<(Place, u64), TextFacts>,
    lines: usize,
}

impl TextFacts {
    /// Returns the facts about the text of an item.
    pub fn of(role: Role, kind: Kind, text: &str) -> TextFacts {
        let mut facts = TextFacts::default();
        for line in text.lines() {
            let length = line.chars().count();
            facts.longest_line = facts.longest_line.max(crate::event::count(length as u64));
            let content = without_number(line);
            if content.chars().nth(SHORTEST_LINE - 1).is_some() {
                facts.lines.push(xxh3_64(content.as_bytes()));
            }
            if kind == Kind::ToolResult && facts.cut.is_none_or(|cut| cut.stated.is_none()) {
                facts.cut = cut(line).or(facts.cut);
            }
            if role == Role::Container
                && kind == Kind::ToolList
                && facts.names.len() < MOST_NAMES
                && let Some(name) = listed(line)
            {
                facts.names.push(name.into());
            }
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
        self.of.insert((place, item.hash), facts);
    }

    /// Returns these without the names in listings.
    #[must_use]
    pub fn without_names(mut self) -> Texts {
        self.of.values_mut().for_each(|facts| facts.names.clear());
        self
    }

    /// Returns the facts about the text of an item; `None`: it was not read.
    pub fn of(&self, item: &Item) -> Option<&TextFacts> {
        self.of.get(&(item.place, item.hash))
    }

    /// Returns, for each item, the share of its lines that the context held when it came; `None`: it has no line that
    /// counts.
    pub fn overlaps(&self, session: &Session) -> Vec<Option<f64>> {
        let items = session.items();
        let mut newest: HashMap<u64, ItemIx> = HashMap::new();
        let overlap = |(ix, item): (ItemIx, &Item)| {
            let lines = &self.of(item)?.lines;
            let is_held = |line: &&u64| {
                let earlier = newest.get(*line);
                earlier.is_some_and(|earlier| items[*earlier].in_context_at(item.record))
            };
            let held = lines.iter().filter(is_held).count();
            newest.extend(lines.iter().map(|line| (*line, ix)));
            (!lines.is_empty()).then(|| held as f64 / lines.len() as f64)
        };
        items.iter().enumerate().map(overlap).collect()
    }
}

/// Returns a line without the number that an agent puts before it, and without white space around it.
fn without_number(line: &str) -> &str {
    let line = line.trim();
    let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
    match rest.strip_prefix(['→', '\t']) {
        Some(content) if rest.len() < line.len() => content.trim(),
        _ => line,
    }
}

/// Returns what a line says of a text that was cut; `None`: it says nothing of that.
fn cut(line: &str) -> Option<CutText> {
    const SIGNS: [&str; 8] = [
        "truncated…",
        "truncated ...",
        "truncated] ...",
        "[Output truncated",
        "Output too large",
        "original token count: ",
        "Total output lines: ",
        "(Results are truncated",
    ];
    if line.len() > LONGEST_NOTE || !SIGNS.iter().any(|sign| line.contains(sign)) {
        return None;
    }
    let words = line.split(|c: char| c.is_whitespace() || "[]()…".contains(c));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let unit = |word: &str| match word.trim_end_matches([',', '.', ':']) {
        "token" | "tokens" => Some("tokens"),
        "char" | "chars" | "characters" => Some("characters"),
        "line" | "lines" => Some("lines"),
        _ => None,
    };
    let number = |word: &str| {
        word.replace(',', "")
            .trim_end_matches('.')
            .parse::<u64>()
            .ok()
    };
    let after = words
        .windows(2)
        .find_map(|pair| Some((number(pair[0])?, unit(pair[1])?)));
    // "original token count: 5021", "Total output lines: 99".
    let before = || {
        let number = number(words.last()?)?;
        Some((number, words.iter().rev().find_map(|word| unit(word))?))
    };
    Some(CutText {
        stated: after.or_else(before),
    })
}

/// Returns the name that a line of a listing begins with: `- name: what it does`, or a line that is one word.
fn listed(line: &str) -> Option<&str> {
    let line = line.trim();
    let name = match line.strip_prefix("- ") {
        Some(entry) => entry.split_once(": ").map_or(entry, |(name, _)| name),
        None => line,
    };
    let name = name.trim_matches(['*', '`']);
    let is_name = !name.is_empty()
        && name.len() <= LONGEST_NAME
        && !name.contains(char::is_whitespace)
        && !name.starts_with(['<', '#', '[', '{']);
    is_name.then_some(name)
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
            format!("     1→{a}\n     2→another line of text"),
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
