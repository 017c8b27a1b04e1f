//! Looks at the text of one item.

use super::CutText;
use crate::event::count;
use memchr::memmem;
use xxhash_rust::xxh3::xxh3_64;

/// Lines of no more characters are the same in many texts: brackets, blank lines.
const SHORT_LINE: usize = 15;
/// The most names that are kept of a text.
const MOST_NAMES: usize = 500;
/// The longest name that is kept, in bytes.
const LONGEST_NAME: usize = 100;
/// The longest line in which an agent says that it cut a text, in bytes.
const LONGEST_NOTE: usize = 300;

/// Returns the characters of the longest line.
pub(super) fn longest_line(text: &str) -> u32 {
    let lengths = text.lines().map(|line| line.chars().count());
    count(lengths.max().unwrap_or(0) as u64)
}

/// Returns the hashes and lengths of the lines, without the numbers before them and without short lines.
pub(super) fn lines(text: &str) -> Vec<(u64, u32)> {
    let lines = text.lines().map(|line| without_number(line).trim());
    let long = lines.filter(|line| line.chars().nth(SHORT_LINE).is_some());
    long.map(|line| (xxh3_64(line.as_bytes()), count(line.len() as u64)))
        .collect()
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

/// Returns what a text says of having been cut: the first line that states a size, or else that says so.
pub(super) fn cut(text: &str) -> Option<CutText> {
    // One of them is in each note. Looking for the notes line by line took two fifths of the time of `ctxgauge why`.
    const WORDS: [&str; 4] = [
        "truncated",
        "Output too large",
        "original token count: ",
        "Total output lines: ",
    ];
    if !WORDS
        .iter()
        .any(|words| memmem::find(text.as_bytes(), words.as_bytes()).is_some())
    {
        return None;
    }
    let mut found = None;
    for cut in text.lines().filter_map(said_cut) {
        if cut.stated.is_some() {
            return Some(cut);
        }
        found = Some(cut);
    }
    found
}

/// Returns what a line says of a text that was cut; `None`: it says nothing of that.
fn said_cut(line: &str) -> Option<CutText> {
    if let Some(cut) = truncated(line) {
        return Some(cut);
    }
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

/// Finds the note `812 tokens truncated`, which may be in the middle of a long line.
fn truncated(line: &str) -> Option<CutText> {
    const UNITS: [(&str, Option<&str>); 5] = [
        (" tokens truncated", Some("tokens")),
        (" lines truncated", Some("lines")),
        (" chars truncated", Some("characters")),
        (" characters truncated", Some("characters")),
        (" bytes truncated", None),
    ];
    UNITS.into_iter().find_map(|(words, unit)| {
        let notes = line.match_indices(words);
        let numbers = notes.filter_map(|(at, _)| {
            let before = &line[..at];
            let digits = before.trim_end_matches(|c: char| c.is_ascii_digit() || c == ',');
            before[digits.len()..].replace(',', "").parse::<u64>().ok()
        });
        let number = numbers.into_iter().next()?;
        let stated = unit.map(|unit| (number, unit));
        Some(CutText { stated })
    })
}

/// Returns the names in a list, in any form.
pub(super) fn names(text: &str) -> Vec<Box<str>> {
    let names = text.lines().filter_map(named).take(MOST_NAMES);
    names.map(Box::from).collect()
}

/// Returns the name that a line of a listing begins with: `- name: what it does`, or a line that is one word.
fn named(line: &str) -> Option<&str> {
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

/// Returns the names in a list, each at the beginning of a line: `- name: what it is for`, or `## name`. Where some name
/// a file, only those are names: the others explain the list.
pub(super) fn listed(text: &str) -> Vec<(Box<str>, usize)> {
    // Each name with its bytes, and true if it names a file.
    let mut all: Vec<((Box<str>, usize), bool)> = Vec::new();
    let (mut is_within, mut is_heading) = (false, false);
    // After the list, or in place of it, Codex explains how to use what it lists, in lines of the same form.
    // Its heading is read, because the heading above it may be that of a part.
    let end = text.find("### How to use").map(|at| at + "### ".len());
    for line in text[..end.unwrap_or(text.len())].lines() {
        let begun = line.strip_prefix("- ").or(line.strip_prefix("## "));
        let name = begun.map(|rest| rest.split_once(": ").map_or(rest, |(name, _)| name).trim());
        let name = name.filter(|name| is_name(name) && all.len() < MOST_NAMES);
        if let Some(name) = name {
            let has_file = line.contains(FILE) && line.trim_end().ends_with(')');
            all.push(((name.into(), line.len() + 1), has_file));
            (is_within, is_heading) = (true, line.starts_with('#'));
            continue;
        }
        // A heading above others is that of a part.
        if line.starts_with("### ") && is_within && is_heading {
            all.pop();
        }
        is_within &= !line.starts_with(['#', '<']);
        if let Some(((_, bytes), _)) = all.last_mut().filter(|_| is_within) {
            *bytes += line.len() + 1;
        }
    }
    let some_have_files = all.iter().any(|(_, has_file)| *has_file);
    all.retain(|(_, has_file)| *has_file || !some_have_files);
    all.into_iter().map(|(name, _)| name).collect()
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

/// Returns the names of the skills and agents that a text uses.
pub(super) fn used(text: &str) -> Vec<Box<str>> {
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
