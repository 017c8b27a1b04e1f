//! Lines with bytes that are no text, and lines that are not one record: what a crash, a bad disk, or two writers at the
//! same time leave in a log.

use super::lenient::{Raw, Scanner};
use super::text;
use memchr::memmem;
use std::borrow::Cow;
use std::ops::Range;

/// Returns a line of a log as text, and whether it is damaged.
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

/// The most places in a line at which records are looked for after those that were cut off: most lines have one or two.
const MOST_PLACES: usize = 64;

/// The whole records of a line that is not one record.
pub struct Records {
    text: String,
    whole: Vec<Range<usize>>,
    /// True if there is something else in the line: a record that was cut off.
    pub is_cut: bool,
}

impl Records {
    /// Returns the whole records of a line of JSON; `None`: it is one record, or has none that is whole.
    pub fn of(line: &[u8]) -> Option<Records> {
        let text = mended(line);
        let (mut whole, mut is_cut) = (Vec::new(), false);
        let (mut begin, mut places) = (Some(0), MOST_PLACES);
        while let Some(at) = begin {
            begin = match object_end(&text[at..]) {
                Some(len) => {
                    whole.push(at..at + len);
                    let left = text[at + len..].trim_start();
                    (!left.is_empty()).then(|| text.len() - left.len())
                }
                None => {
                    is_cut = true;
                    after_cut(&text, at, &mut places)
                }
            };
        }
        let is_several = whole.len() + usize::from(is_cut) > 1;
        (is_several && !whole.is_empty()).then_some(Records {
            text,
            whole,
            is_cut,
        })
    }

    /// Returns the whole records, in order.
    pub fn whole(&self) -> impl Iterator<Item = &str> {
        self.whole.iter().map(|range| &self.text[range.clone()])
    }
}

/// Returns the end of the object with which a text begins; `None`: it begins with none, or does not contain all of it.
fn object_end(text: &str) -> Option<usize> {
    let object = Scanner::new(text).value().ok()?.get();
    let blank = text.len() - text.trim_start().len();
    object.starts_with('{').then_some(blank + object.len())
}

/// Returns the beginning of the next whole record after one that begins at `cut` and was cut off. An object within that
/// one follows a colon, a bracket or a comma, and is no record, unless it begins with the same field.
fn after_cut(text: &str, cut: usize, most: &mut usize) -> Option<usize> {
    let is_between = |c: char| matches!(c, ':' | '[' | ',');
    let field = text[cut..].split_once(':').map(|(field, _)| field);
    let rest = text.as_bytes().get(cut + 1..)?;
    let places = memmem::find_iter(rest, b"{\"").map(|at| cut + 1 + at);
    let is_record = |at: &usize| {
        let is_within = text[..*at].trim_end().ends_with(is_between);
        !is_within || field.is_some_and(|field| field.len() > 3 && text[*at..].starts_with(field))
    };
    let mut places = places.filter(is_record).take(*most);
    places.find(|at| {
        *most -= 1;
        let end = object_end(&text[*at..]);
        let left = end.map(|len| text[at + len..].trim_start());
        left.is_some_and(|left| left.is_empty() || left.starts_with('{'))
    })
}

/// Returns the line with a space for each control character and each byte that is not UTF-8.
fn mended(bytes: &[u8]) -> String {
    let mut mended = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let spaced = |c: char| if c < ' ' { ' ' } else { c };
        mended.extend(chunk.valid().chars().map(spaced));
        mended.extend(chunk.invalid().iter().map(|_| ' '));
    }
    mended
}

/// Returns true if a byte is a control character of ASCII. It tests eight bytes at once, since it runs over every line.
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
    fn whole_records_are_found_in_a_line_that_is_not_one() {
        let of = |line: &str| {
            let records = Records::of(line.as_bytes())?;
            let whole: Vec<String> = records.whole().map(str::to_owned).collect();
            Some((whole.join(" "), records.is_cut))
        };
        let (a, b) = (r#"{"t":"}{\"x","m":{"n":[{"k":1}]}}"#, r#"{"u":2}"#);
        let found = |whole: &[&str], is_cut| Some((whole.join(" "), is_cut));
        for one in [
            a,
            " {} ",
            "",
            "[]",
            "1",
            "{",
            r#"{"t":1,"m":{"n":2}"#,
            r#"{"t":[{"n":2}"#,
            "\u{e9}",
            "{\u{e9}",
        ] {
            assert_eq!(of(one), None, "{one}");
        }
        assert_eq!(of(&[a, b].concat()), found(&[a, b], false));
        assert_eq!(of(&[a, " ", b, a].concat()), found(&[a, b, a], false));
        assert_eq!(of(&[a, "\0\0", b].concat()), found(&[a, b], false));
        assert_eq!(of(&[a, b, "u\":2}"].concat()), found(&[a, b], true));
        // Wherever the first record is cut off, but for the places after which an object within it would come.
        for cut in 1..a.len() {
            let line = [&a[..cut], b].concat();
            let expected = if matches!(a.as_bytes()[cut - 1], b':' | b'[' | b',') {
                None
            } else {
                found(&[b], true)
            };
            assert_eq!(of(&line), expected, "{line}");
            let same_field = [&a[..cut], a].concat();
            assert_eq!(of(&same_field), found(&[a], true), "{same_field}");
            let line = [b, &a[..cut]].concat();
            assert_eq!(of(&line), found(&[b], true), "{line}");
        }
        assert_eq!(of(&r#"{"a":"#.repeat(100_000)), None);
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
