//! Searches a text that is never held whole.

use super::matcher::{LineCounter, Matcher, line_end, mark};
use super::{Line, Lines};

/// The usual window.
const WINDOW: usize = 4 << 20;
/// The longest match that is found wherever it is, in bytes: so many are searched again with what follows.
const OVERLAP: usize = 64 << 10;
/// The bytes of a very long line that are given on each side of a match.
const BESIDE: usize = 4 << 10;

/// A search in a text that comes in parts, which may end inside a character.
pub(super) struct Search<'m> {
    matcher: &'m Matcher,
    /// The bytes of the text that are searched at once.
    window: usize,
    held: String,
    /// Bytes of a character that is not complete.
    rest: Vec<u8>,
    /// The text before this place in `held` was searched.
    from: usize,
    /// The number of the line in which `held` begins.
    line: u64,
    found: Lines,
}

impl<'m> Search<'m> {
    pub(super) fn new(matcher: &'m Matcher) -> Search<'m> {
        Search::in_windows_of(WINDOW, matcher)
    }

    fn in_windows_of(window: usize, matcher: &'m Matcher) -> Search<'m> {
        Search {
            matcher,
            window,
            held: String::new(),
            rest: Vec::new(),
            from: 0,
            line: 1,
            found: Lines::default(),
        }
    }

    /// Takes the next part.
    pub(super) fn feed(&mut self, part: &[u8]) {
        self.rest.extend_from_slice(part);
        let bytes = std::mem::take(&mut self.rest);
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.held.push_str(chunk.valid());
            match chunk.invalid() {
                [] => {}
                // It may go on in the next part.
                cut if chunks.peek().is_none() && cut.len() < 4 => self.rest = cut.to_vec(),
                _ => self.held.push(char::REPLACEMENT_CHARACTER),
            }
        }
        if self.held.len() >= self.window {
            self.search(self.held.len() - OVERLAP);
        }
    }

    /// Returns the lines that were found.
    pub(super) fn end(mut self) -> Lines {
        if !self.rest.is_empty() {
            self.held.push(char::REPLACEMENT_CHARACTER);
        }
        self.search(usize::MAX);
        self.found
    }

    /// Searches for what begins before `end`, and drops what is then not needed.
    fn search(&mut self, end: usize) {
        let text = &self.held;
        let mut counted = LineCounter::new(self.line);
        let mut searched = self.from;
        let mut ranges = self.matcher.ranges_from(text, self.from).peekable();
        while let Some(first) = ranges.next_if(|found| found.start < end) {
            let number = counted.at(text, first.start);
            // Of a line that is very long, the part around the match.
            let before = floor(text, first.start.saturating_sub(BESIDE));
            let after = ceil(text, first.end.saturating_add(BESIDE));
            let start = text[before..first.start].rfind('\n');
            let start = start.map_or(before, |at| before + at + 1);
            let stop = line_end(&text[..after], &first);
            searched = first.end;
            let mut matches = vec![first];
            while let Some(next) = ranges.next_if(|next| next.end <= stop && next.start < end) {
                searched = next.end;
                mark(&mut matches, next);
            }
            self.found
                .push(Line::of(text, start..stop, number, matches));
        }
        if end == usize::MAX {
            return;
        }
        drop(ranges);
        // Some of what was searched is kept, to see where a line or a word begins.
        let searched = searched.max(floor(text, end));
        let dropped = floor(text, searched.saturating_sub(BESIDE));
        self.line = counted.at_or_after(text, dropped);
        self.from = searched - dropped;
        self.held.drain(..dropped);
    }
}

fn floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    (0..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(0)
}

fn ceil(text: &str, at: usize) -> usize {
    let all = at.min(text.len())..=text.len();
    all.into_iter()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::super::{Case, Syntax};
    use super::*;

    /// A window that is soon full.
    const SMALL: usize = 4 * OVERLAP;

    fn matcher(pattern: &str) -> Matcher {
        Matcher::new(pattern, Syntax::Regex, Case::Smart).unwrap()
    }

    /// The lines that match, of a text that comes in parts of this size.
    fn found(pattern: &str, text: &str, part: usize) -> Vec<Line> {
        let matcher = matcher(pattern);
        let mut search = Search::in_windows_of(SMALL, &matcher);
        text.as_bytes()
            .chunks(part)
            .for_each(|part| search.feed(part));
        search.end().lines
    }

    #[test]
    fn a_text_in_parts_matches_as_a_whole_one() {
        let line = |n: usize| format!("line {n} é{} needle-{n}\n", "x".repeat(n % 900));
        let text: String = (0..2_000).map(line).collect();
        assert!(text.len() > 3 * SMALL);
        for pattern in [
            "needle-(1999|1000|7)$",
            r"^line 999\b",
            r"needle-1234\nline",
        ] {
            let whole = matcher(pattern).lines(&text).lines;
            assert!(!whole.is_empty());
            for part in [1_000, 65_536, usize::MAX] {
                assert_eq!(found(pattern, &text, part), whole, "{pattern} {part}");
            }
        }
        let all = matcher("needle").lines(&text).lines;
        assert_eq!(found("needle", &text, 99_991), all);
    }

    #[test]
    fn the_end_of_a_line_is_in_no_match() {
        for pattern in ["needle.*", "needle$", r"needle\s"] {
            for part in [1, 3, 100] {
                let found = found(pattern, "x needle\r\nneedle\r\n", part);
                assert_eq!(found.len(), 2, "{pattern}");
                for line in &found {
                    let shown = &line.text[line.matches[0].clone()];
                    assert_eq!(shown.trim_end(), "needle", "{pattern}");
                }
            }
        }
    }

    #[test]
    fn a_match_is_found_where_windows_meet_and_a_line_without_an_end_is_shown_in_part() {
        for at in [SMALL - OVERLAP - 3, SMALL - OVERLAP, SMALL - 3, SMALL] {
            let mut text = "x".repeat(at);
            text.push_str("needle");
            text.push_str(&"y".repeat(SMALL));
            let found = found("needle", &text, 65_536);
            assert_eq!(found.len(), 1, "{at}");
            assert!(found[0].text.len() < 3 * BESIDE);
            let shown = found[0].matches[0].clone();
            assert_eq!(&found[0].text[shown], "needle");
        }
    }
}
