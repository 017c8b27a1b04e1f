//! A pattern, and what of a text matches it.

use super::{Line, Lines};
use regex::{Regex, RegexBuilder};
use std::ops::Range;

/// The most matches of a line that are given.
const MOST_MATCHES: usize = 1_000;

/// The syntax of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Syntax {
    /// A regular expression. `^` and `$` match at lines, `.` matches all but their ends. A line ends with `\n`, `\r\n` or
    /// `\r`.
    Regex,
    /// The text itself.
    Fixed,
}

/// The treatment of capitals and small letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Case {
    /// They are the same.
    Insensitive,
    /// They are different.
    Sensitive,
    /// They are the same, unless the pattern has capitals.
    Smart,
}

/// A pattern. `None`: every text has one match, which is empty, in its first line that is not blank.
#[derive(Debug, Clone)]
pub struct Matcher(Option<Regex>);

impl Matcher {
    /// Returns a matcher for a pattern.
    ///
    /// # Errors
    ///
    /// A description of what is wrong with the pattern.
    pub fn new(pattern: &str, syntax: Syntax, case: Case) -> Result<Matcher, String> {
        if pattern.is_empty() {
            return Err("it is empty".to_owned());
        }
        let is_insensitive = match case {
            Case::Insensitive => true,
            Case::Sensitive => false,
            Case::Smart => !has_capitals(pattern, syntax),
        };
        let pattern = match syntax {
            Syntax::Regex => pattern.to_owned(),
            Syntax::Fixed => regex::escape(pattern),
        };
        let regex = RegexBuilder::new(&pattern)
            .case_insensitive(is_insensitive)
            .multi_line(true)
            .crlf(true)
            .build();
        let regex = regex.map_err(|error| error.to_string())?;
        Ok(Matcher(Some(regex)))
    }

    /// Returns a matcher for every text, also for an empty one.
    pub const fn any() -> Matcher {
        Matcher(None)
    }

    /// Returns true if it is for every text.
    pub(super) fn is_any(&self) -> bool {
        self.0.is_none()
    }

    /// Returns true if a text matches. An empty match is no match: `a*` matches a text that has an `a`.
    pub fn is_match(&self, text: &str) -> bool {
        self.is_any() || self.ranges(text).next().is_some()
    }

    /// Returns the matches in a text: ranges of bytes, in order and apart.
    pub fn ranges<'t>(&'t self, text: &'t str) -> impl Iterator<Item = Range<usize>> + 't {
        let found = self.0.iter().flat_map(|regex| regex.find_iter(text));
        let found = found.map(|found| found.range());
        found.filter(|range| !range.is_empty())
    }

    /// Returns the lines of a text that match.
    pub fn lines(&self, text: &str) -> Lines {
        let mut lines = Lines::default();
        if self.is_any() {
            lines.push(first_line(text));
            return lines;
        }
        let (mut counted, mut number) = (0, 1);
        let mut ranges = self.ranges(text).peekable();
        while let Some(first) = ranges.next() {
            let start = text[..first.start].rfind('\n').map_or(0, |at| at + 1);
            let mut end = line_end(text, &first);
            let mut matches = vec![first];
            // The end of a line is a part of it.
            let is_end = |at| text.as_bytes().get(at) == Some(&b'\n');
            while let Some(next) =
                ranges.next_if(|next| next.start < end || next.start == end && is_end(end))
            {
                if next.end > end {
                    end = line_end(text, &next);
                }
                if matches.len() < MOST_MATCHES {
                    matches.push(next);
                }
            }
            number += memchr::memchr_iter(b'\n', &text.as_bytes()[counted..start]).count() as u64;
            counted = start;
            lines.push(Line::of(text, start..end, number, matches));
        }
        lines
    }
}

/// Returns the first line of a text that is not blank, without matches.
fn first_line(text: &str) -> Line {
    let start = text.len() - text.trim_start().len();
    let at = text[..start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[start..]
        .find('\n')
        .map_or(text.len(), |end| start + end);
    let number = memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() as u64 + 1;
    Line::of(text, at..end, number, Vec::new())
}

/// Returns the end of the last line that a match is in. A match that ends with the end of a line does not go on in the
/// next one.
fn line_end(text: &str, found: &Range<usize>) -> usize {
    if text[..found.end].ends_with('\n') {
        return found.end;
    }
    let rest = &text[found.end..];
    rest.find('\n').map_or(text.len(), |at| found.end + at)
}

/// Returns true if a pattern has capitals, other than those of classes such as `\\S`.
fn has_capitals(pattern: &str, syntax: Syntax) -> bool {
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        if c == '\\' && syntax == Syntax::Regex {
            if let Some('p' | 'P') = chars.next()
                && chars.next() == Some('{')
            {
                chars.find(|c| *c == '}');
            }
        } else if c.is_uppercase() {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, text: &str) -> Vec<(u64, String, Vec<[usize; 2]>)> {
        let matcher = Matcher::new(pattern, Syntax::Regex, Case::Smart).unwrap();
        let lines = matcher.lines(text);
        assert_eq!(matcher.is_match(text), !lines.is_empty(), "{pattern}");
        let lines = lines.lines.into_iter();
        lines
            .map(|line| {
                let ends = |range: &Range<usize>| [range.start, range.end];
                (
                    line.number,
                    line.text,
                    line.matches.iter().map(ends).collect(),
                )
            })
            .collect()
    }

    #[test]
    fn without_a_pattern_every_text_has_its_first_line() {
        let first = |text: &str| {
            let lines = Matcher::any().lines(text).lines;
            let line = lines.into_iter().next().unwrap();
            (line.number, line.text, line.matches.len())
        };
        assert_eq!(first(""), (1, String::new(), 0));
        assert_eq!(first("one\r\ntwo"), (1, "one".to_owned(), 0));
        assert_eq!(first("\n \n  two\nthree"), (3, "  two".to_owned(), 0));
        assert!(Matcher::any().is_match(""));
    }

    #[test]
    fn a_line_is_given_once_with_all_of_its_matches() {
        let text = "one two\r\ntwo one two\n\nthree";
        let line = |number, text: &str, matches: &[[usize; 2]]| {
            (number, text.to_owned(), matches.to_vec())
        };
        assert_eq!(
            found("two", text),
            [
                line(1, "one two", &[[4, 7]]),
                line(2, "two one two", &[[0, 3], [8, 11]])
            ]
        );
        assert_eq!(found("^three$", text), [line(4, "three", &[[0, 5]])]);
        // A match over several lines is given with all of them.
        assert_eq!(
            found(r"two\n\nth", text),
            [line(2, "two one two\n\nthree", &[[8, 15]])]
        );
        assert_eq!(
            found(r"one two\n", text)[..],
            [line(2, "two one two\n", &[[4, 12]])]
        );
        // A carriage return ends a line.
        assert_eq!(found("wo$", text)[0], line(1, "one two", &[[5, 7]]));
        assert_eq!(found("o.*", text)[0], line(1, "one two", &[[0, 7]]));
        // A match that contains it is shown whole.
        assert_eq!(found(r"two\s", "two\r\n"), [line(1, "two\r", &[[0, 4]])]);
        assert_eq!(found("four", text), []);
        assert_eq!(
            found("a|\\n", "a\nb\na")[..1],
            [line(1, "a\n", &[[0, 1], [1, 2]])]
        );
    }

    #[test]
    fn a_line_of_a_million_matches_is_one_line_with_a_thousand_of_them() {
        let text = "x".repeat(1_000_000);
        let lines = Matcher::new("x", Syntax::Fixed, Case::Smart)
            .unwrap()
            .lines(&text);
        assert_eq!((lines.lines.len(), lines.more), (1, 0));
        assert_eq!(lines.lines[0].matches.len(), MOST_MATCHES);
        assert_eq!(lines.lines[0].text, text);
    }

    #[test]
    fn nothing_is_no_match() {
        assert_eq!(found("x*", "abc"), []);
        assert_eq!(found("x*", "aéxx")[0].2, [[3, 5]]);
        assert_eq!(found("^", "a\nb"), []);
    }

    #[test]
    fn capitals_count_if_the_pattern_has_some() {
        let matches = |pattern, syntax, case, text| {
            Matcher::new(pattern, syntax, case).unwrap().is_match(text)
        };
        for (pattern, text, is_match) in [
            ("error", "ERROR", true),
            ("Error", "ERROR", false),
            (r"\Serror", "xERROR", true),
            (r"\p{Lu}rror", "xerror", true),
            (r"\pLrror", "xERROR", true),
            ("größe", "GRÖSSE GRÖßE", true),
        ] {
            assert_eq!(
                matches(pattern, Syntax::Regex, Case::Smart, text),
                is_match,
                "{pattern}"
            );
        }
        assert!(matches("Error", Syntax::Regex, Case::Insensitive, "ERROR"));
        assert!(!matches("error", Syntax::Regex, Case::Sensitive, "ERROR"));
        assert!(matches("a.b(", Syntax::Fixed, Case::Smart, "xA.B(y"));
        assert!(!matches(r"\S", Syntax::Fixed, Case::Smart, r"\s x"));
        assert!(Matcher::new("a(", Syntax::Regex, Case::Smart).is_err());
        assert!(Matcher::new("", Syntax::Fixed, Case::Smart).is_err());
    }
}
