//! Looks at the texts of a log's items while the log is read, for what sizes alone do not show. The texts are not kept.

use crate::event::{Conversation, Event, Measure, NewItem, Place, Size};
use crate::history::Item;
use crate::{Kind, Role};
use std::cell::RefCell;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_64;

/// Lines of no more characters are the same in many texts: brackets, blank lines.
const SHORT_LINE: usize = 15;
/// The most names that are kept of a text.
const MOST_NAMES: usize = 500;
/// The longest name that is kept, in bytes.
const LONGEST_NAME: usize = 80;

/// The facts that were seen of the text of an item.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ItemText {
    /// The characters of its longest line.
    pub longest_line: usize,
    /// True if the agent has cut it, and says so in it.
    pub is_cut: bool,
    /// Hashes of its lines, without the numbers before them and without short lines.
    pub lines: Box<[u64]>,
    /// The names that it lists, each with the bytes that it takes.
    pub listed: Vec<(Box<str>, usize)>,
    /// The names of the skills and agents that it uses.
    pub used: Vec<Box<str>>,
}

/// Measures texts as another measure does, and looks at them.
pub struct Texts<'m> {
    sizes: &'m dyn Measure,
    /// By the record and the hash of an item.
    items: RefCell<HashMap<(u64, u64), ItemText>>,
}

impl<'m> Texts<'m> {
    /// Returns a measure that has seen nothing yet.
    pub fn new(sizes: &'m dyn Measure) -> Texts<'m> {
        Texts {
            sizes,
            items: RefCell::default(),
        }
    }

    /// Gives what was seen of the text of an item, if anything was.
    pub(super) fn with<T>(&self, item: &Item, give: impl FnOnce(&ItemText) -> T) -> Option<T> {
        let items = self.items.borrow();
        items.get(&(item.place.id(), item.hash)).map(give)
    }
}

impl Measure for Texts<'_> {
    fn text(&self, text: &str) -> Size {
        self.sizes.text(text)
    }

    fn call_id(&self, id: &str) -> u16 {
        self.sizes.call_id(id)
    }

    fn prepare(&self, event: &mut Event) {
        self.sizes.prepare(event);
    }

    fn takes_texts(&self) -> bool {
        true
    }

    fn item(&self, lane: Conversation, place: Place, item: &NewItem, text: &str) {
        self.sizes.item(lane, place, item, text);
        if item.kind != Kind::Thinking {
            let seen = look(item, text);
            self.items
                .borrow_mut()
                .insert((place.id(), item.hash), seen);
        }
    }
}

fn look(item: &NewItem, text: &str) -> ItemText {
    let mut seen = ItemText {
        lines: lines(text),
        ..ItemText::default()
    };
    match item.kind {
        Kind::ToolResult => {
            seen.longest_line = longest_line(text);
            seen.is_cut = is_cut(text);
        }
        Kind::ToolList => seen.listed = listed(text),
        Kind::ToolCall | Kind::Skill => seen.used = used(text),
        Kind::Text if item.role == Role::User => seen.used = used(text),
        _ => {}
    }
    seen
}

fn lines(text: &str) -> Box<[u64]> {
    let lines = text.lines().map(|line| without_number(line).trim());
    let long = lines.filter(|line| line.chars().nth(SHORT_LINE).is_some());
    long.map(|line| xxh3_64(line.as_bytes())).collect()
}

/// Returns a line without the number that a tool has written before it: an edit above moves all numbers.
fn without_number(line: &str) -> &str {
    let rest = line.trim_start();
    let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    let is_numbered = number.len() < rest.len() && number.starts_with(['→', '\t', ':', '|']);
    if is_numbered {
        &number[number.chars().next().map_or(0, char::len_utf8)..]
    } else {
        line
    }
}

fn longest_line(text: &str) -> usize {
    // Few lines are long, and those of ASCII need no counting.
    let longest = text.lines().max_by_key(|line| line.len());
    longest.map_or(0, |line| line.chars().count())
}

/// The words by which agents say that they cut a text, after the number of what they left out.
const CUT: [&str; 5] = [
    " tokens truncated",
    " lines truncated",
    " chars truncated",
    " characters truncated",
    " bytes truncated",
];

fn is_cut(text: &str) -> bool {
    let follows_number = |word: &str| {
        let mut found = text.match_indices(word);
        found.any(|(at, _)| text[..at].ends_with(|c: char| c.is_ascii_digit()))
    };
    CUT.into_iter().any(follows_number)
}

/// Returns the names in a list, each at the beginning of a line: `- name: what it is for`, or `## name`. Where some name
/// a file, only those are names: the others explain the list.
pub(super) fn listed(text: &str) -> Vec<(Box<str>, usize)> {
    let mut all: Vec<(Box<str>, usize)> = Vec::new();
    let mut with_files: Vec<usize> = Vec::new();
    let (mut is_within, mut is_heading) = (false, false);
    // After the list, or in place of it, Codex explains how to use what it lists, in lines of the same form.
    let list = text
        .split_once("### How to use")
        .map_or(text, |(list, _)| list);
    for line in list.lines() {
        let begun = line.strip_prefix("- ").or(line.strip_prefix("## "));
        let name = begun.map(|rest| rest.split_once(": ").map_or(rest, |(name, _)| name).trim());
        let name = name.filter(|name| is_name(name) && all.len() < MOST_NAMES);
        if let Some(name) = name {
            let has_file = line.contains(FILE) && line.trim_end().ends_with(')');
            with_files.extend(has_file.then_some(all.len()));
            all.push((name.into(), line.len() + 1));
            (is_within, is_heading) = (true, line.starts_with('#'));
            continue;
        }
        // A heading above others is that of a part.
        if line.starts_with("### ") && is_within && is_heading {
            all.pop();
        }
        is_within &= !line.starts_with(['#', '<']);
        if let Some((_, bytes)) = all.last_mut().filter(|_| is_within) {
            *bytes += line.len() + 1;
        }
    }
    if with_files.is_empty() {
        return all;
    }
    let mut nth = 0..;
    all.retain(|_| {
        nth.next()
            .is_some_and(|nth| with_files.binary_search(&nth).is_ok())
    });
    all
}

/// The text that follows the description of a name whose file is listed with it.
const FILE: &str = "(file: ";

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST_NAME && text.chars().all(is_in_name)
}

fn is_in_name(c: char) -> bool {
    c.is_alphanumeric() || "-_:.@".contains(c)
}

/// The texts before a name of a skill or an agent where it is used: in the arguments of a call, in the path of a file
/// that is read, in a command that is typed.
const BEFORE_NAME: [&str; 7] = [
    "/skills/",
    "\\skills\\",
    "\"skill\":",
    "\"subagent_type\":",
    "\"agent_type\":",
    "<command-name>/",
    "<command-name>",
];

fn used(text: &str) -> Vec<Box<str>> {
    let mut all: Vec<Box<str>> = Vec::new();
    let mut add = |name: &str| {
        if is_name(name) && all.len() < MOST_NAMES && all.iter().all(|known| **known != *name) {
            all.push(name.into());
        }
    };
    for before in BEFORE_NAME {
        for (at, _) in text.match_indices(before) {
            let rest = text[at + before.len()..].trim_start_matches(['"', ' ', '\\']);
            add(rest.split(|c| !is_in_name(c)).next().unwrap_or_default());
        }
    }
    for (at, _) in text.match_indices("/SKILL.md") {
        add(text[..at]
            .rsplit(|c| !is_in_name(c))
            .next()
            .unwrap_or_default());
    }
    if let Some(typed) = text.trim_start().strip_prefix('/') {
        add(typed.split_whitespace().next().unwrap_or_default());
    }
    all
}
