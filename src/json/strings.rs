//! Finds where JSON strings end, and decodes them.
//!
//! Nearly all bytes of a log are inside strings, and most of those are skipped unread. So the search looks at sixteen
//! bytes at once, and stops only at a quote, a backslash or a control character.

use std::borrow::Cow;
use std::cell::RefCell;
use wide::u8x16;

/// Bytes that are looked at together.
const BLOCK: usize = 16;

/// The special bytes of a block, a bit for each byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct SpecialBytes {
    quotes: u64,
    backslashes: u64,
    controls: u64,
}

impl SpecialBytes {
    #[cfg_attr(not(debug_assertions), inline)]
    fn of(block: [u8; BLOCK]) -> SpecialBytes {
        let bytes = u8x16::new(block);
        let bits = |found: u8x16| u64::from(found.to_bitmask());
        SpecialBytes {
            quotes: bits(bytes.simd_eq(u8x16::splat(b'"'))),
            backslashes: bits(bytes.simd_eq(u8x16::splat(b'\\'))),
            controls: bits(bytes.min(u8x16::splat(0x1f)).simd_eq(bytes)),
        }
    }

    /// Finds the special bytes of four blocks at once, so that the loop over them ends once, not at each escape.
    #[cfg_attr(not(debug_assertions), inline)]
    fn of_four(blocks: &[u8; 4 * BLOCK]) -> SpecialBytes {
        let mut all = SpecialBytes::default();
        let (blocks, _) = blocks.as_chunks::<BLOCK>();
        for (n, block) in blocks.iter().enumerate() {
            let SpecialBytes {
                quotes,
                backslashes,
                controls,
            } = SpecialBytes::of(*block);
            all.quotes |= quotes << (n * BLOCK);
            all.backslashes |= backslashes << (n * BLOCK);
            all.controls |= controls << (n * BLOCK);
        }
        all
    }
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
#[cfg_attr(not(debug_assertions), inline)]
pub(super) fn body(bytes: &[u8], at: usize) -> Option<Body> {
    // Most strings are names and ids of a few bytes.
    if let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let SpecialBytes {
            quotes,
            backslashes,
            controls,
        } = SpecialBytes::of(*block);
        if let Some(first) = first_bit(quotes | backslashes | controls)
            && quotes >> first & 1 == 1
        {
            return Some(Body {
                end: at + first,
                first_escape: None,
            });
        }
    }
    long_body(bytes, at)
}

fn long_body(bytes: &[u8], mut at: usize) -> Option<Body> {
    let mut first_escape = None;
    // True if the last block ended in a backslash that escapes the next byte.
    let mut is_escaped = false;
    loop {
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let special = match rest.first_chunk() {
            Some(blocks) => SpecialBytes::of_four(blocks),
            None => {
                let mut blocks = [b' '; 4 * BLOCK];
                blocks[..rest.len()].copy_from_slice(rest);
                SpecialBytes::of_four(&blocks)
            }
        };
        if special.backslashes == 0 && !is_escaped {
            if let Some(end) = first_bit(special.quotes) {
                return no_controls(special, end).then_some(Body {
                    end: at + end,
                    first_escape,
                });
            }
        } else {
            let backslash = first_bit(special.backslashes).map(|n| at + n);
            let (escaped, carries) = escaped(special.backslashes, is_escaped);
            let end = first_bit(special.quotes & !escaped);
            let inside = end.map_or(u64::MAX, below);
            if let Some(first) = backslash.filter(|first| end.is_none_or(|end| *first < at + end)) {
                first_escape.get_or_insert(first);
            }
            let mut escapes = escaped & inside;
            while let Some(n) = first_bit(escapes) {
                escapes &= escapes - 1;
                if !is_escape(bytes, at + n)? {
                    return None;
                }
            }
            is_escaped = carries;
            if let Some(end) = end {
                return no_controls(special, end).then_some(Body {
                    end: at + end,
                    first_escape,
                });
            }
        }
        if special.controls != 0 {
            return None;
        }
        at += 4 * BLOCK;
    }
}

/// Returns the bits of the bytes before this one.
fn below(n: usize) -> u64 {
    (1 << n) - 1
}

fn first_bit(bits: u64) -> Option<usize> {
    (bits != 0).then_some(bits.trailing_zeros() as usize)
}

/// Returns true if no control character comes before the closing quote.
fn no_controls(special: SpecialBytes, end: usize) -> bool {
    special.controls & below(end) == 0
}

/// Returns the bytes that are escaped by the backslash before them, and whether the byte after the blocks is.
/// `is_first`: the first byte is escaped.
fn escaped(backslashes: u64, is_first: bool) -> (u64, bool) {
    let mut escaped = u64::from(is_first);
    let mut escaping = backslashes & !escaped;
    if escaping & escaping << 1 == 0 {
        return (escaped | escaping << 1, escaping >> 63 == 1);
    }
    // A backslash that is escaped escapes nothing.
    let mut carries = false;
    while let Some(n) = first_bit(escaping) {
        let next = 1_u64.checked_shl(n as u32 + 1).unwrap_or(0);
        carries = next == 0;
        escaped |= next;
        escaping &= !(1 << n) & !next;
    }
    (escaped, carries)
}

/// Returns true if a backslash may come before this byte; `None`: the text ends.
fn is_escape(bytes: &[u8], at: usize) -> Option<bool> {
    Some(match bytes.get(at)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => true,
        b'u' => {
            let digits = bytes.get(at + 1..at + 5)?;
            digits.iter().all(u8::is_ascii_hexdigit)
        }
        _ => false,
    })
}

/// Returns the text of a JSON string, borrowed where it contains no escapes; `None` for any other value. A lone
/// surrogate, which agents write where they cut an emoji in two, becomes U+FFFD.
pub fn string(json: &str) -> Option<Cow<'_, str>> {
    without_escapes(json.strip_prefix('"')?.strip_suffix('"')?)
}

/// Returns the text of what is written in a JSON string, or in several, borrowed where it contains no escapes; `None`: it
/// ends inside an escape.
pub fn without_escapes(body: &str) -> Option<Cow<'_, str>> {
    match memchr::memchr(b'\\', body.as_bytes()) {
        None => Some(Cow::Borrowed(body)),
        Some(first) => unescape(body, first).map(Cow::Owned),
    }
}

thread_local! {
    /// The buffer in which texts are decoded: memory that is neither requested nor cleared for each of them.
    static SCRATCH: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The most bytes that are kept for the next text. Each thread keeps so many; longer texts are rare.
const KEPT_BYTES: usize = 128 << 10;

/// Returns the text of the body of a JSON string whose first backslash is at `first`. `None`: the body ends inside an
/// escape.
pub(super) fn unescape(body: &str, first: usize) -> Option<String> {
    // Whole blocks are copied, whatever is still missing of them; no text is longer than its body.
    let needed = body.len() + FEW;
    SCRATCH.with_borrow_mut(|scratch| {
        if scratch.len() < needed {
            scratch.resize(needed, 0);
        }
        let text = unescape_into(scratch, body, first);
        if needed > KEPT_BYTES {
            *scratch = Vec::new();
        }
        text
    })
}

fn unescape_into(text: &mut [u8], body: &str, first: usize) -> Option<String> {
    let bytes = body.as_bytes();
    text[..first].copy_from_slice(&bytes[..first]);
    let (mut at, mut len) = (first, first);
    while at < bytes.len() {
        match *bytes.get(at + 1)? {
            b'u' => {
                let (c, after) = code_point(body.get(at + 2..)?);
                len += c.encode_utf8(text.get_mut(len..)?).len();
                at = body.len() - after.len();
            }
            byte => {
                *text.get_mut(len)? = unescaped(byte);
                len += 1;
                at += 2;
            }
        }
        // Up to the next backslash.
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            let plain = match rest.first_chunk() {
                Some(few) => {
                    text.get_mut(len..len + FEW)?.copy_from_slice(few);
                    first_bit(backslashes(few))
                }
                None => {
                    text.get_mut(len..len + rest.len())?.copy_from_slice(rest);
                    let found = rest.iter().position(|byte| *byte == b'\\');
                    Some(found.unwrap_or(rest.len()))
                }
            };
            at += plain.unwrap_or(FEW);
            len += plain.unwrap_or(FEW);
            if plain.is_some() {
                break;
            }
        }
    }
    // A copy and this check take less time than the standard library's check alone.
    let text = simdutf8::basic::from_utf8(text.get(..len)?).ok()?;
    Some(text.to_owned())
}

/// Bytes that are copied together: the next escape is most often among them.
const FEW: usize = 4 * BLOCK;

/// Returns the bits of the backslashes.
#[inline]
fn backslashes(bytes: &[u8; FEW]) -> u64 {
    let (blocks, _) = bytes.as_chunks::<BLOCK>();
    let bits = blocks.iter().enumerate().map(|(n, block)| {
        let found = u8x16::new(*block).simd_eq(u8x16::splat(b'\\'));
        u64::from(found.to_bitmask()) << (n * BLOCK)
    });
    bits.fold(0, |all, bits| all | bits)
}

/// Returns the byte that a backslash and this byte stand for; not for `u`, after which four digits follow.
fn unescaped(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b't' => b'\t',
        b'r' => b'\r',
        b'b' => 8,
        b'f' => 12,
        other => other,
    }
}

/// Returns the character of a `\u` escape, or of a pair of them, and what follows it. `escape` begins after the `u`.
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
            for at in 0..4 * BLOCK {
                let mut blocks = [b'x'; 4 * BLOCK];
                blocks[at] = byte;
                let bit = |is: bool| u64::from(is) << at;
                let special = SpecialBytes {
                    quotes: bit(byte == b'"'),
                    backslashes: bit(byte == b'\\'),
                    controls: bit(byte < 0x20),
                };
                assert_eq!(SpecialBytes::of_four(&blocks), special);
            }
        }
    }

    #[test]
    fn runs_of_backslashes_at_every_place() {
        for before in 0..140 {
            for run in 0..70 {
                let json = format!("{}{}\"", "x".repeat(before), "\\".repeat(run));
                let end = (run % 2 == 0).then_some(before + run);
                let found = body(json.as_bytes(), 0);
                assert_eq!(found.map(|body| body.end), end, "{before} {run}");
                let first = found.and_then(|body| body.first_escape);
                assert_eq!(first, end.filter(|_| run > 0).map(|_| before));
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
