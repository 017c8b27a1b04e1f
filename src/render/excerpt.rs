//! A line of a log's text with matches in it, safe to print: all of it, or the part that fits.

use crate::text::{cut, inert, tail, width};
use std::borrow::Cow;
use std::ops::Range;

/// A part of a line, safe to print.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part<'t> {
    /// The text.
    pub text: Cow<'t, str>,
    /// True if it matches.
    pub is_match: bool,
}

/// Returns all of a line whose matches are these ranges of bytes.
pub fn whole<'t>(line: &str, matches: &[Range<usize>]) -> Vec<Part<'t>> {
    let mut parts = Vec::new();
    let mut at = 0;
    // A range that is not in the line is left out.
    let mut push = |range: Range<usize>, is_match| {
        if let Some(text) = line.get(range).filter(|text| !text.is_empty()) {
            let text = Cow::Owned(one_line(text));
            parts.push(Part { text, is_match });
        }
    };
    for found in matches {
        push(at..found.start, false);
        push(found.clone(), true);
        at = found.end;
    }
    push(at..line.len(), false);
    parts
}

/// Returns the part of a line that fits in so many columns: its first match, at least a third of them before it, and
/// what follows.
pub fn fitted<'t>(line: &str, matches: &[Range<usize>], columns: usize) -> Vec<Part<'t>> {
    let mut parts = whole(line, matches);
    let after = parts.iter().skip(1).map(|part| width(&part.text));
    let after: usize = after.sum();
    if let Some(first) = parts.first_mut()
        && !first.is_match
    {
        let begins = first.text.trim_start();
        let room = columns.saturating_sub(after).max(columns / 3);
        first.text = if width(begins) <= room {
            begins.to_owned().into()
        } else {
            format!("…{}", tail(begins, room.saturating_sub(1))).into()
        };
    }
    let mut left = columns;
    let last = parts.len().saturating_sub(1);
    let mut shown = Vec::new();
    for (nth, part) in parts.into_iter().enumerate() {
        let Part { text, is_match } = part;
        let wide = width(&text);
        let room = if nth == last {
            left
        } else {
            left.saturating_sub(1)
        };
        if wide <= room {
            left -= wide;
            shown.push(Part { text, is_match });
            continue;
        }
        // With a mark, also where only what follows it has no room.
        let text = Cow::Owned(cut(&format!("{text}…"), left));
        shown.push(Part { text, is_match });
        break;
    }
    shown
}

/// Returns a text on one line, safe to print.
pub fn one_line(text: &str) -> String {
    let sign = |c| match c {
        '\n' => '⏎',
        '\t' | '\r' => ' ',
        c => c,
    };
    inert(&text.chars().map(sign).collect::<String>()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(needle: &str, text: &str, columns: usize) -> String {
        let found = text.match_indices(needle);
        let matches: Vec<_> = found.map(|(at, it)| at..at + it.len()).collect();
        let mark = |part: &Part<'_>| {
            if part.is_match {
                format!("[{}]", part.text)
            } else {
                part.text.to_string()
            }
        };
        fitted(text, &matches, columns).iter().map(mark).collect()
    }

    #[test]
    fn the_match_is_in_sight_at_any_width() {
        let text = format!(
            "{} \u{1b}[31mneedle\u{202e} {}",
            "before ".repeat(40),
            "after ".repeat(40)
        );
        for columns in 10..200 {
            let shown = shown("needle", &text, columns);
            let bare = shown.replace(['[', ']'], "");
            assert!(shown.contains("[needle]"), "{columns}: {shown}");
            assert!(width(&bare) <= columns, "{columns}: {shown}");
            assert!(!shown.contains(['\u{1b}', '\u{202e}']), "{shown:?}");
        }
        assert_eq!(shown("b", "  a b\tc", 40), "a [b] c");
        assert_eq!(shown("a\nb", "x a\nb y", 40), "x [a⏎b] y");
        assert_eq!(
            shown("needle", &"needle ".repeat(9), 20),
            "[needle] [needle] [needl…]"
        );
    }

    #[test]
    fn wide_characters_fit() {
        let text = "前の文章がここにある 漢字 後の文章もここにある";
        for columns in 6..60 {
            let shown = shown("漢字", text, columns);
            let bare = shown.replace(['[', ']'], "");
            assert!(width(&bare) <= columns, "{columns}: {shown}");
        }
        assert_eq!(shown("漢字", text, 20), "…ある [漢字] 後の文章…");
    }
}
