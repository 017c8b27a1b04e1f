//! Lines with bytes that are no text: what a crash or a bad disk leaves in a log.

use super::lenient::Raw;
use super::text;
use std::borrow::Cow;

/// A line of a log as text, and whether it is damaged.
///
/// JSON allows no control characters, and nothing but white space between its tokens. Where such bytes are all
/// that is wrong with a line, each is replaced by a space, so that the rest of the line is read.
pub fn line(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    let text = text(bytes);
    let is_utf8 = matches!(text, Cow::Borrowed(_));
    if is_utf8 && !has_controls(bytes) {
        return (text, false);
    }
    if Raw::of(&text).is_some() {
        return (text, !is_utf8);
    }
    let mended = mended(bytes);
    match Raw::of(&mended) {
        Some(_) => (mended.into(), true),
        None => (text, false),
    }
}

/// The line with a space for each control character and each byte that is not UTF-8.
fn mended(bytes: &[u8]) -> String {
    let mut mended = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let spaced = |c: char| if c < ' ' { ' ' } else { c };
        mended.extend(chunk.valid().chars().map(spaced));
        mended.extend(chunk.invalid().iter().map(|_| ' '));
    }
    mended
}

/// Whether a byte is a control character of ASCII. Looks at eight bytes at once, since it looks at every line.
fn has_controls(bytes: &[u8]) -> bool {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    const SPACES: u64 = 0x2020_2020_2020_2020;
    // The high bit of a byte that is below a space, or of one after it.
    let below = |word: &[u8; 8]| {
        let word = u64::from_ne_bytes(*word);
        word.wrapping_sub(SPACES) & !word & HIGH
    };
    let (blocks, rest) = bytes.as_chunks::<64>();
    let is_in = |block: &[u8; 64]| {
        let (words, _) = block.as_chunks::<8>();
        words.iter().fold(0, |found, word| found | below(word)) != 0
    };
    blocks.iter().any(is_in) || rest.iter().any(|byte| *byte < b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_are_found_wherever_they_are() {
        for len in 0..200 {
            let mut bytes = vec![b' '; len];
            bytes.extend([0x7f, 0x80, 0xff]);
            assert!(!has_controls(&bytes));
            for at in 0..len {
                for control in [0, 1, 0x1f] {
                    bytes[at] = control;
                    assert!(has_controls(&bytes), "{len} {at} {control}");
                }
                bytes[at] = b' ';
            }
        }
    }

    #[test]
    fn only_what_is_wrong_is_replaced() {
        let cases: [(&[u8], &str, bool); 9] = [
            (b"{\"a\":\"b\"}", "{\"a\":\"b\"}", false),
            (b"{\t\"a\":\r\"b\"}", "{\t\"a\":\r\"b\"}", false),
            (b"{\"a\":\"\0b\x1b\t\"}", "{\"a\":\" b  \"}", true),
            (b"\0\0{\"a\":1}\0", "  {\"a\":1} ", true),
            (b"{\"a\":\"\x80\"}", "{\"a\":\"\u{fffd}\"}", true),
            (b"{\"a\":\x80\xff1}", "{\"a\":  1}", true),
            (b"{\"a\":\"\xc3\xa9\0\"}", "{\"a\":\"\u{e9} \"}", true),
            // These are no JSON for other reasons.
            (b"\0\0", "\0\0", false),
            (b"{\"a\"\0", "{\"a\"\0", false),
        ];
        for (bytes, expected, is_damaged) in cases {
            assert_eq!(line(bytes), (Cow::Borrowed(expected), is_damaged));
        }
    }
}
