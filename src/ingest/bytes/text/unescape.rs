//! A JSON string's text from its bytes as written, given in any pieces (RFC 8259, section 7).

use json::unescaped;
use std::io;

/// Takes the text that comes out.
pub(crate) type OnBytes<'g> = dyn FnMut(&[u8]) -> io::Result<()> + 'g;

/// The replacement of half a surrogate pair: U+FFFD.
const REPLACEMENT: &[u8] = "\u{fffd}".as_bytes();

/// The state of reading a string.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum UnescapeState {
    #[default]
    Plain,
    /// It is after a backslash.
    Escape,
    /// Inside a `\u` escape: the digits still to come and the value so far.
    Hex(u8, u32),
}

/// Reads one string.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unescape {
    at: UnescapeState,
    /// The first half of a surrogate pair, until the second comes.
    high: Option<u32>,
}

impl Unescape {
    /// Takes the next bytes.
    pub(crate) fn feed(&mut self, mut bytes: &[u8], give: &mut OnBytes<'_>) -> io::Result<()> {
        while let Some(&byte) = bytes.first() {
            let used = match self.at {
                UnescapeState::Plain => {
                    let end = memchr::memchr(b'\\', bytes).unwrap_or(bytes.len());
                    if end > 0 {
                        self.end(give)?;
                        give(&bytes[..end])?;
                    }
                    if end < bytes.len() {
                        self.at = UnescapeState::Escape;
                    }
                    (end + 1).min(bytes.len())
                }
                UnescapeState::Escape => {
                    self.at = UnescapeState::Plain;
                    match byte {
                        b'u' => self.at = UnescapeState::Hex(4, 0),
                        _ => {
                            self.end(give)?;
                            give(&[unescaped(byte)])?;
                        }
                    }
                    1
                }
                UnescapeState::Hex(left, value) => match char::from(byte).to_digit(16) {
                    Some(digit) => {
                        let value = value << 4 | digit;
                        self.at = UnescapeState::Hex(left - 1, value);
                        if left == 1 {
                            self.at = UnescapeState::Plain;
                            self.unit(value, give)?;
                        }
                        1
                    }
                    None => {
                        self.at = UnescapeState::Plain;
                        0
                    }
                },
            };
            bytes = &bytes[used..];
        }
        Ok(())
    }

    /// Ends the string: writes what was held back for a second half.
    pub(crate) fn end(&mut self, give: &mut OnBytes<'_>) -> io::Result<()> {
        match self.high.take() {
            Some(_) => give(REPLACEMENT),
            None => Ok(()),
        }
    }

    /// Takes one UTF-16 unit.
    fn unit(&mut self, unit: u32, give: &mut OnBytes<'_>) -> io::Result<()> {
        let whole = match (self.high, unit) {
            (Some(high), 0xdc00..0xe000) => {
                self.high = None;
                0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00)
            }
            (_, 0xd800..0xdc00) => {
                self.end(give)?;
                self.high = Some(unit);
                return Ok(());
            }
            _ => unit,
        };
        self.end(give)?;
        match char::from_u32(whole) {
            Some(c) => give(c.encode_utf8(&mut [0; 4]).as_bytes()),
            None => give(REPLACEMENT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(written: &[u8], chunk: usize) -> Vec<u8> {
        let (mut out, mut unescape) = (Vec::new(), Unescape::default());
        let mut give = |bytes: &[u8]| {
            out.extend_from_slice(bytes);
            Ok(())
        };
        for part in written.chunks(chunk) {
            unescape.feed(part, &mut give).unwrap();
        }
        unescape.end(&mut give).unwrap();
        out
    }

    proptest! {
        #[test]
        fn it_reads_what_a_parser_reads(meant in any::<String>(), chunk in 1_usize..9) {
            let plain = serde_json::to_string(&meant).unwrap();
            let escaped: String = meant.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect();
            for written in [&plain[1..plain.len() - 1], &escaped] {
                prop_assert_eq!(text(written.as_bytes(), chunk), meant.as_bytes());
            }
        }

        #[test]
        fn pieces_do_not_matter(written in r#"([a-z]|\\["\\nu]|\\u[dD][8-f][0-9]{2}|[0-9a-f]){0,40}"#, chunk in 1_usize..9) {
            let whole = text(written.as_bytes(), usize::MAX);
            prop_assert_eq!(&text(written.as_bytes(), chunk), &whole);
            prop_assert!(String::from_utf8(whole).is_ok());
        }
    }

    #[test]
    fn half_a_pair_is_replaced() {
        for written in [
            r"a\ud83db",
            r"a\ude00b",
            r"a\ud83d\nb",
            r"a\ud83d\ud83d\ude00",
        ] {
            let text = String::from_utf8(text(written.as_bytes(), 1)).unwrap();
            assert!(text.starts_with("a\u{fffd}"), "{written}: {text:?}");
        }
    }
}
