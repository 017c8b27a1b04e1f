//! Represents the place of a record in its log.

use super::count;
use serde::{Deserialize, Serialize};

/// The place of a record in its log, ordered as records are. Only the store that made it interprets
/// the offset and the length.
///
/// The line and the length have 32 bits each, since a log may have a million items. Larger numbers are taken for the
/// largest: such lines keep their order and identity by the offset.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub struct Place {
    offset: u64,
    line: u32,
    length: u32,
}

impl Place {
    /// Returns the place of a record that begins at `offset` and has `length` bytes, on this line.
    pub fn new(line: u64, offset: u64, length: u64) -> Place {
        Place {
            offset,
            line: count(line),
            length: count(length),
        }
    }

    /// Returns the place of a line of which no more than its number is known.
    pub fn of_line(line: u64) -> Place {
        Place::new(line, 0, 0)
    }

    /// Returns this place with another line number.
    #[must_use]
    pub fn on_line(self, line: u64) -> Place {
        Place::new(line, self.offset, self.length())
    }

    /// Returns the offset; for a file of lines, that of the line's first byte.
    pub fn offset(self) -> u64 {
        self.offset
    }

    /// Returns the number of the line, element or row, counted from 1; 0 if reading began in the middle of the log and
    /// the number is not known.
    pub fn line(self) -> u64 {
        self.line.into()
    }

    /// Returns the length; for a file of lines, that of the line in bytes, without its newline.
    pub fn length(self) -> u64 {
        self.length.into()
    }

    /// Returns a number that no other record of the log has, however much of the log was read.
    pub fn id(self) -> u64 {
        match self.length {
            0 => self.line() << 40,
            _ => self.offset,
        }
    }

    /// Returns true if both are the place of the same record. One of them may lack the number of its line.
    pub fn is_same(self, other: Place) -> bool {
        (self.id(), self.length) == (other.id(), other.length)
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            0 => write!(f, "byte {}", self.offset),
            line => write!(f, "line {line}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_beyond_32_bits_keep_their_order_and_identity() {
        let line = u64::from(u32::MAX);
        let [a, b] = [1_u64 << 50, 1 << 51].map(|offset| Place::new(offset, offset, line + 7));
        assert!(a < b && !a.is_same(b) && a.id() != b.id());
        assert_eq!((a.line(), a.length(), a.offset()), (line, line, 1 << 50));
    }
}
