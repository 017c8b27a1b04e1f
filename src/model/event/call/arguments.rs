//! Scans the arguments of a call without building a value of them: most calls are never looked at, and the largest
//! arguments are whole files.

use crate::event::cut::beginning;
use std::borrow::Cow;

/// The bytes of arguments that are looked at, and the number of them.
const MOST_BYTES: usize = 4_096;
const MOST_ARGUMENTS: usize = 24;
/// The most words of a list.
const MOST_WORDS: usize = 64;

/// The value of an argument.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'t> {
    /// A string, still escaped.
    Text(&'t str),
    /// A number, true, false or null, as it is written.
    Plain(&'t str),
    /// A list of strings.
    Words(Vec<Cow<'t, str>>),
    /// A list of two numbers; the second may be below 0 for the end.
    Numbers(u64, i64),
    /// Another list or an object.
    Nested(&'t str),
}

impl<'t> Value<'t> {
    /// Returns the value that a text begins with.
    pub(super) fn of(json: &'t str) -> Value<'t> {
        Scan(beginning(json, MOST_BYTES)).value()
    }

    /// Returns it as a person would write it.
    pub(super) fn text(&self) -> String {
        match self {
            Value::Text(text) => unquoted(unescaped(text).into_owned()),
            Value::Plain("null") => String::new(),
            Value::Plain(text) => (*text).to_owned(),
            Value::Words(words) => words.join(", "),
            Value::Numbers(first, last) => format!("{first}, {last}"),
            Value::Nested(text) if text.starts_with('[') => "[…]".to_owned(),
            Value::Nested(_) => "{…}".to_owned(),
        }
    }

    /// Returns it as a number, if it is one.
    pub(super) fn number(&self) -> Option<u64> {
        match self {
            Value::Plain(text) | Value::Text(text) => text.parse().ok(),
            _ => None,
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Value::Text(text) => text.is_empty(),
            Value::Plain(text) => text.is_empty() || *text == "null",
            Value::Words(words) => words.is_empty(),
            Value::Numbers(..) | Value::Nested(_) => false,
        }
    }
}

/// The arguments of a call, as far as they were looked at.
#[derive(Debug)]
pub(super) struct Values<'t>(Vec<(&'t str, Value<'t>)>);

impl<'t> Values<'t> {
    /// Returns the arguments in an object, which may be cut off.
    pub(super) fn of(json: &'t str) -> Values<'t> {
        let mut scan = Scan(beginning(json, MOST_BYTES));
        scan.pass('{');
        let mut values = Vec::new();
        while values.len() < MOST_ARGUMENTS {
            scan.pass(',');
            if !scan.pass('"') {
                break;
            }
            let name = scan.quoted();
            if !scan.pass(':') {
                break;
            }
            values.push((name, scan.value()));
        }
        Values(values)
    }

    /// Returns the first value of these names that says anything.
    pub(super) fn first(&self, names: &[&str]) -> Option<&Value<'t>> {
        names.iter().find_map(|name| {
            let (_, value) = self.0.iter().find(|(own, _)| own == name)?;
            let says = !value.is_empty() && !matches!(value, Value::Nested(_));
            says.then_some(value)
        })
    }

    /// Returns the arguments that say anything, in their order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(&'t str, Value<'t>)> {
        self.0.iter().filter(|(_, value)| !value.is_empty())
    }
}

/// The rest of a text that is scanned.
struct Scan<'t>(&'t str);

impl<'t> Scan<'t> {
    /// Passes a character after white space. `false`: another one follows.
    fn pass(&mut self, c: char) -> bool {
        self.0 = self.0.trim_start();
        let rest = self.0.strip_prefix(c);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Returns a string up to its closing quote, or to the end where it is cut off.
    fn quoted(&mut self) -> &'t str {
        let text = self.0;
        let mut escaped = false;
        let end = text.bytes().position(|byte| {
            let is_end = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            is_end
        });
        let end = end.unwrap_or(text.len());
        self.0 = text.get(end + 1..).unwrap_or_default();
        &text[..end]
    }

    fn value(&mut self) -> Value<'t> {
        if self.pass('"') {
            return Value::Text(self.quoted());
        }
        self.0 = self.0.trim_start();
        let start = self.0;
        match start.as_bytes().first() {
            Some(b'[') => {
                let list = self.nested();
                words(list)
                    .or_else(|| numbers(list))
                    .unwrap_or(Value::Nested(list))
            }
            Some(b'{') => Value::Nested(self.nested()),
            _ => {
                let is_end = |c: char| matches!(c, ',' | '}' | ']') || c.is_whitespace();
                let end = start.find(is_end).unwrap_or(start.len());
                self.0 = &start[end..];
                Value::Plain(&start[..end])
            }
        }
    }

    /// Passes a list or an object with all that is in it.
    fn nested(&mut self) -> &'t str {
        let start = self.0;
        let mut depth = 0_usize;
        loop {
            let Some(at) = self.0.find(['"', '[', ']', '{', '}']) else {
                self.0 = "";
                return start;
            };
            let byte = self.0.as_bytes()[at];
            self.0 = &self.0[at + 1..];
            match byte {
                b'"' => {
                    self.quoted();
                }
                b'[' | b'{' => depth += 1,
                _ => depth = depth.saturating_sub(1),
            }
            if depth == 0 {
                return &start[..start.len() - self.0.len()];
            }
        }
    }
}

/// Returns a string without the quotes around it: Antigravity logs each argument as JSON in a string.
fn unquoted(text: String) -> String {
    let inner = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    match inner.filter(|inner| !inner.contains('"')) {
        Some(inner) => inner.to_owned(),
        None => text,
    }
}

/// Returns a list that has strings alone.
fn words(list: &str) -> Option<Value<'_>> {
    let mut scan = Scan(list);
    scan.pass('[');
    let mut words = Vec::new();
    while scan.pass('"') && words.len() < MOST_WORDS {
        words.push(unescaped(scan.quoted()));
        scan.pass(',');
    }
    (!words.is_empty()).then_some(Value::Words(words))
}

/// Returns a list of two numbers.
fn numbers(list: &str) -> Option<Value<'_>> {
    let inner = list.strip_prefix('[')?.strip_suffix(']')?;
    let (first, last) = inner.split_once(',')?;
    let (first, last) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
    Some(Value::Numbers(first, last))
}

/// Returns the text unescaped from JSON. What is no escape, or is cut off, stays as
/// it is.
fn unescaped(escaped: &str) -> Cow<'_, str> {
    if !escaped.contains('\\') {
        return Cow::Borrowed(escaped);
    }
    let mut text = String::with_capacity(escaped.len());
    let mut rest = escaped;
    while let Some((before, after)) = rest.split_once('\\') {
        text.push_str(before);
        let mut behind = after.chars();
        match behind.next() {
            Some(same @ ('"' | '\\' | '/')) => text.push(same),
            // A patch is known by its lines.
            Some('n' | 'r') => text.push('\n'),
            Some('t') => text.push(' '),
            Some('u') if let Some(c) = code(behind.as_str()) => {
                text.push(c);
                behind = behind.as_str()[4..].chars();
            }
            _ => {
                text.push('\\');
                behind = after.chars();
            }
        }
        rest = behind.as_str();
    }
    text.push_str(rest);
    Cow::Owned(text)
}

/// Returns the character of an escape, unless it is half of one.
fn code(digits: &str) -> Option<char> {
    char::from_u32(u32::from_str_radix(digits.get(..4)?, 16).ok()?)
}
