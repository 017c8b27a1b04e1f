//! Lines of any length in bounded memory: of a line that is too long, only its length is kept.

use std::io::{self, BufRead};

/// The longest line that is read, in bytes. A row has about 700.
pub const LONGEST_LINE: usize = 1 << 20;

/// A line of a machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Line {
    /// The line, without its end.
    Whole(Vec<u8>),
    /// A line of so many bytes, which was passed over.
    TooLong(u64),
}

/// Reads the next line; `None`: there is none. A last line without an end was cut and counts as none.
///
/// # Errors
///
/// If nothing can be read any more.
pub fn next(from: &mut impl BufRead) -> io::Result<Option<Line>> {
    let (mut line, mut bytes) = (Vec::new(), 0u64);
    loop {
        let part = match from.fill_buf() {
            Ok(part) => part,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if part.is_empty() {
            return Ok(None);
        }
        let end = part.iter().position(|byte| *byte == b'\n');
        let taken = end.unwrap_or(part.len());
        bytes = bytes.saturating_add(taken as u64);
        if bytes <= LONGEST_LINE as u64 {
            line.extend_from_slice(&part[..taken]);
        } else {
            line = Vec::new();
        }
        from.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            let is_whole = bytes <= LONGEST_LINE as u64;
            return Ok(Some(if is_whole {
                Line::Whole(line)
            } else {
                Line::TooLong(bytes)
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Read};

    #[test]
    fn a_long_line_is_passed_over_and_the_next_is_read() {
        const LENGTH: u64 = 1 << 26;
        let long = io::repeat(b'x').take(LENGTH).chain(&b"\nnext\ncut"[..]);
        let mut from = BufReader::new((&b"first\n\n"[..]).chain(long));
        let mut lines = Vec::new();
        while let Some(line) = next(&mut from).unwrap() {
            lines.push(line);
        }
        let whole = |text: &str| Line::Whole(text.into());
        assert_eq!(
            lines,
            [
                whole("first"),
                whole(""),
                Line::TooLong(LENGTH),
                whole("next")
            ]
        );
    }
}
