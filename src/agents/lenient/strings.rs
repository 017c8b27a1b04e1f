//! Finds where JSON strings end, and decodes them.
//!
//! Nearly all bytes of a log are inside strings, and most of those are skipped unread. So the search looks at sixteen
//! bytes at once, and stops only at a quote, a backslash or a control character.

use std::borrow::Cow;
use wide::u8x16;

/// Bytes that are looked at together.
const BLOCK: usize = 16;

/// The bits of the bytes of a block that are a quote, a backslash or a control character.
#[inline]
fn special(block: [u8; BLOCK]) -> u32 {
    let bytes = u8x16::new(block);
    let quotes = bytes.simd_eq(u8x16::splat(b'"'));
    let backslashes = bytes.simd_eq(u8x16::splat(b'\\'));
    let controls = bytes.min(u8x16::splat(0x1f)).simd_eq(bytes);
    (quotes | backslashes | controls).to_bitmask()
}

fn is_special(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | 0..=0x1f)
}

/// Where the next quote, backslash or control character is, from `at` on; the length if there is none.
#[inline]
fn next_special(bytes: &[u8], mut at: usize) -> usize {
    while let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let found = special(*block);
        if found != 0 {
            return at + found.trailing_zeros() as usize;
        }
        at += BLOCK;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    let found = rest.iter().position(|byte| is_special(*byte));
    found.map_or(bytes.len(), |found| at + found)
}

/// The body of a string: where its closing quote is, and where its first backslash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Body {
    /// The offset of the closing quote.
    pub end: usize,
    /// The offset of the first backslash, if there is one.
    pub first_escape: Option<usize>,
}

/// Finds the end of a string whose body begins at `at`. `None`: it is no JSON string.
#[inline]
pub(super) fn body(bytes: &[u8], mut at: usize) -> Option<Body> {
    let mut first_escape = None;
    loop {
        at = next_special(bytes, at);
        match bytes.get(at)? {
            b'"' => {
                return Some(Body {
                    end: at,
                    first_escape,
                });
            }
            b'\\' => {
                first_escape.get_or_insert(at);
                at += 2 + match bytes.get(at + 1)? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 0,
                    b'u' => {
                        let digits = bytes.get(at + 2..at + 6)?;
                        digits.iter().all(u8::is_ascii_hexdigit).then_some(4)?
                    }
                    _ => return None,
                };
            }
            _ => return None,
        }
    }
}

/// The text of a JSON string, borrowed where it contains no escapes; `None` for any other value. A lone
/// surrogate, which agents write where they cut an emoji in two, becomes U+FFFD.
pub fn string(json: &str) -> Option<Cow<'_, str>> {
    let body = json.strip_prefix('"')?.strip_suffix('"')?;
    match memchr::memchr(b'\\', body.as_bytes()) {
        None => Some(Cow::Borrowed(body)),
        Some(first) => unescape(body, first).map(Cow::Owned),
    }
}

/// The text of the body of a JSON string whose first backslash is at `first`. `None`: the body ends inside an
/// escape.
pub(super) fn unescape(body: &str, first: usize) -> Option<String> {
    let mut text = String::with_capacity(body.len());
    text.push_str(&body[..first]);
    let mut rest = &body[first..];
    while let Some(escape) = rest.strip_prefix('\\') {
        let (c, len) = match escape.as_bytes().first()? {
            b'n' => ('\n', 1),
            b't' => ('\t', 1),
            b'r' => ('\r', 1),
            b'b' => ('\u{8}', 1),
            b'f' => ('\u{c}', 1),
            b'u' => {
                let (c, after) = code_point(escape.get(1..)?);
                (c, escape.len() - after.len())
            }
            _ => {
                let c = escape.chars().next()?;
                (c, c.len_utf8())
            }
        };
        text.push(c);
        rest = &escape[len..];
        // Escapes are often close to each other: most calls end in the first block.
        let plain = next_backslash(rest.as_bytes());
        text.push_str(&rest[..plain]);
        rest = &rest[plain..];
    }
    Some(text)
}

/// Where the first backslash is; the length if there is none.
fn next_backslash(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at = next_special(bytes, at);
        match bytes.get(at) {
            None | Some(b'\\') => return at,
            Some(_) => at += 1,
        }
    }
}

/// The character of a `\u` escape, or of a pair of them, and what follows it. `escape` begins after
/// the `u`.
fn code_point(escape: &str) -> (char, &str) {
    let unit = |text: &str| u32::from_str_radix(text.get(..4)?, 16).ok();
    let after = escape.get(4..).unwrap_or_default();
    let high = unit(escape).unwrap_or(0xfffd);
    if let 0xd800..0xdc00 = high
        && let Some(second) = after.strip_prefix("\\u")
        && let Some(low @ 0xdc00..0xe000) = unit(second)
    {
        let c = char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
        return (
            c.unwrap_or(char::REPLACEMENT_CHARACTER),
            second.get(4..).unwrap_or_default(),
        );
    }
    let c = char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER);
    (c, after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_are_decoded() {
        let json = r#""a\n\t\r\b\f\"\\\/\u00e9\ud83d\ude00z""#;
        let text = "a\n\t\r\u{8}\u{c}\"\\/\u{e9}\u{1f600}z";
        assert_eq!(string(json).as_deref(), Some(text));
        assert_eq!(string("7"), None);
        assert_eq!(string("null"), None);
    }

    #[test]
    fn lone_surrogates_are_replaced() {
        assert_eq!(string(r#""a\ud83d""#).as_deref(), Some("a\u{fffd}"));
        assert_eq!(string(r#""\ude00b""#).as_deref(), Some("\u{fffd}b"));
        assert_eq!(
            string(r#""\ud83d\ud83d\ude00""#).as_deref(),
            Some("\u{fffd}\u{1f600}")
        );
    }

    #[test]
    fn every_byte_at_every_place_of_a_block() {
        for byte in 0..=u8::MAX {
            for at in 0..BLOCK {
                let mut block = [b'x'; BLOCK];
                block[at] = byte;
                assert_eq!(special(block), u32::from(is_special(byte)) << at);
            }
        }
    }

    proptest! {
        #[test]
        fn a_string_reads_as_serde_json_reads_it(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let read = string(&json);
            prop_assert_eq!(read.as_deref(), Some(&*text));
            let escaped: String = text
                .encode_utf16()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect();
            let json = format!("\"{escaped}\"");
            let read = string(&json);
            prop_assert_eq!(read.as_deref(), Some(&*text));
        }

        #[test]
        fn no_text_panics(json in any::<String>()) {
            let _ = string(&json);
            let _ = string(&format!("\"\\{json}\""));
            let _ = string(&format!("\"\\u{json}\""));
        }
    }
}
