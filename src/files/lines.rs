//! Lines that another program sends, in bounded memory.

use std::io::{self, BufRead, Read};

/// A line, without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// The whole line.
    Whole(Vec<u8>),
    /// A last line that has no end: it may have been cut.
    Unfinished(Vec<u8>),
    /// The line was longer than it may be, and was passed over.
    TooLong,
}

/// Reads the next line, which may have so many bytes; `None`: there are no more.
///
/// # Errors
///
/// If nothing can be read any more.
pub fn next_line(from: &mut impl BufRead, most: usize) -> io::Result<Option<Line>> {
    let mut line = Vec::new();
    let at_once = (most as u64).saturating_add(1);
    if from.by_ref().take(at_once).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(if line.pop_if(|byte| *byte == b'\n').is_some() {
        Line::Whole(line)
    } else if line.len() <= most {
        Line::Unfinished(line)
    } else {
        from.skip_until(b'\n')?;
        Line::TooLong
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    fn lines(mut from: impl BufRead, most: usize) -> Vec<Line> {
        let mut lines = Vec::new();
        while let Some(line) = next_line(&mut from, most).unwrap() {
            lines.push(line);
        }
        lines
    }

    fn whole(text: &str) -> Line {
        Line::Whole(text.into())
    }

    #[test]
    fn a_long_line_is_passed_over_and_the_next_is_read() {
        let long = io::repeat(b'x').take(1 << 26).chain(&b"\nnext\ncut"[..]);
        let from = BufReader::new((&b"first\n\n"[..]).chain(long));
        let cut = Line::Unfinished(b"cut".into());
        assert_eq!(
            lines(from, 1 << 20),
            [whole("first"), whole(""), Line::TooLong, whole("next"), cut]
        );
    }

    #[test]
    fn lines_end_where_they_end_and_long_ones_are_passed_over() {
        const MOST: usize = 256 << 10;
        let longest = "y".repeat(MOST);
        let long = "x".repeat(MOST + 1);
        let text = format!("a\r\n\n{long}\nb\n{longest}\n{long}x\nrest");
        for chunk in [1, 7, 1 << 20] {
            let from = BufReader::with_capacity(chunk, text.as_bytes());
            let expected = [
                whole("a\r"),
                whole(""),
                Line::TooLong,
                whole("b"),
                whole(&longest),
                Line::TooLong,
                Line::Unfinished(b"rest".into()),
            ];
            assert_eq!(lines(from, MOST), expected, "{chunk}");
        }
    }
}
