//! Makes previews of texts, and finds where a reader cut them.

use super::call::written;
use super::cut::floor_char;

/// The longest preview, in bytes.
pub const PREVIEW_BYTES: usize = 120;

/// The largest believed size of a text, a terabyte: a larger number is forged.
pub(super) const MOST_UNSEEN: u64 = 1 << 40;

/// Appends `text` to a preview: on one line, white space collapsed, without control and format
/// characters, so that no preview can control a terminal. What is cut ends with a sign, after which nothing is appended.
pub(super) fn append_preview(preview: &mut String, text: &str) {
    if is_cut(preview) {
        return;
    }
    let mut gap = !preview.is_empty();
    let mut rest = text;
    // Characters that are looked at, at most.
    let mut left = PREVIEW_BYTES * 4;
    while left > 0
        && let Some(c) = rest.chars().next()
    {
        if preview.len() + c.len_utf8() + 1 > PREVIEW_BYTES {
            if !rest.trim_start().is_empty() {
                cut(preview);
            }
            return;
        }
        let is_shown = c.is_ascii_graphic() || !(c.is_whitespace() || is_unsafe_to_show(c));
        if is_shown && gap {
            preview.push(' ');
            gap = false;
        }
        gap |= c.is_whitespace() && !preview.is_empty();
        // A word at once: previews are made of every item there is.
        let room = (PREVIEW_BYTES - 1)
            .saturating_sub(preview.len())
            .clamp(1, left);
        let word = rest.bytes().take(room).take_while(u8::is_ascii_graphic);
        let (shown, passed) = match word.count() {
            0 => (if is_shown { c.len_utf8() } else { 0 }, c.len_utf8()),
            word => (word, word),
        };
        preview.push_str(&rest[..shown]);
        rest = &rest[passed..];
        left -= if c.is_ascii() { passed } else { 1 };
    }
}

/// Appends a part of a call of a tool to a preview: arguments as a person would write them.
pub(super) fn append_call(preview: &mut String, tool: Option<&str>, text: &str) {
    let room = PREVIEW_BYTES.saturating_sub(preview.len() + 2);
    append_preview(preview, &written(tool, text, room));
}

/// The bytes of the sign after a text that was cut.
const SIGN_BYTES: usize = '…'.len_utf8();

/// Replaces the end of a full preview by the sign that it was cut.
fn cut(preview: &mut String) {
    let most = PREVIEW_BYTES - SIGN_BYTES;
    preview.truncate(floor_char(preview, most));
    preview.truncate(preview.trim_end().len());
    preview.push('…');
}

/// Returns true if a preview lacks the end of its text.
fn is_cut(preview: &str) -> bool {
    // Before the sign at most a character of four bytes and a space are missing.
    preview.ends_with('…') && preview.len() + 2 * SIGN_BYTES + 2 > PREVIEW_BYTES
}

/// Returns true if a character is invisible, could control a terminal, or could reorder a line: controls, bidi marks,
/// invisible format characters, soft hyphens, fillers of Hangul.
pub fn is_unsafe_to_show(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' | '\u{61c}' | '\u{180e}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{ad}' | '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}')
}

/// Marks where a reader cut a very long string out of a very long line: the mark, the number of missing
/// bytes, the mark. A private-use character, so that ordinary text does not contain it. A log that forges
/// it changes its own local counts, never a known number.
pub const ELIDED: char = '\u{f8e1}';

/// Returns a string's text and the bytes that a reader cut from its end.
pub fn split_elided(text: &str) -> (&str, u64) {
    let split = || {
        let (shown, digits) = text.strip_suffix(ELIDED)?.rsplit_once(ELIDED)?;
        let cut = digits.parse().ok()?;
        (cut < MOST_UNSEEN).then_some((shown, cut))
    };
    split().unwrap_or((text, 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A preview, a character at a time.
    fn slowly(preview: &mut String, text: &str) {
        if is_cut(preview) {
            return;
        }
        let mut gap = !preview.is_empty();
        for (at, c) in text.char_indices().take(PREVIEW_BYTES * 4) {
            if preview.len() + c.len_utf8() + 1 > PREVIEW_BYTES {
                if !text[at..].trim_start().is_empty() {
                    cut(preview);
                }
                return;
            }
            if c.is_whitespace() {
                gap = !preview.is_empty();
            } else if !is_unsafe_to_show(c) {
                if gap {
                    preview.push(' ');
                    gap = false;
                }
                preview.push(c);
            }
        }
    }

    #[test]
    fn a_text_that_was_cut_has_a_sign() {
        let made = |texts: &[&str]| {
            let mut preview = String::new();
            texts
                .iter()
                .for_each(|text| append_preview(&mut preview, text));
            preview
        };
        let long = "word ".repeat(60);
        let preview = made(&[&long, "more"]);
        assert!(
            preview.ends_with("word wo…") && preview.len() <= PREVIEW_BYTES,
            "{preview}"
        );
        let whole = "a".repeat(PREVIEW_BYTES - 1);
        assert_eq!(made(&[&whole, " \n"]), whole);
        let preview = made(&[&whole, "b"]);
        assert_eq!(preview, format!("{}…", "a".repeat(PREVIEW_BYTES - 3)));
        assert_eq!(made(&["waits…", "more"]), "waits… more");
    }

    proptest! {
        #[test]
        fn words_at_once_make_the_same_preview(
            texts in prop::collection::vec("([a-z]{0,9}[ \n\u{200b}é漢\u{7}]{0,3}){0,20}", 0..4),
            spaces in 0_usize..600,
        ) {
            let (mut quick, mut slow) = (String::new(), String::new());
            for text in texts.iter().map(|text| format!("{}{text}", " ".repeat(spaces))).chain(texts.clone()) {
                append_preview(&mut quick, &text);
                slowly(&mut slow, &text);
                prop_assert_eq!(&quick, &slow);
            }
        }
    }
}
