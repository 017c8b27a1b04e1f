//! Text of logs: made safe to print, cut and padded to columns.

use super::inert::{MOST_MARKS, Marks, REPLACEMENT, is_mark};
use model::event::is_unsafe_to_show;
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr;

/// The text without characters that control a terminal, reorder a line or pile up in one cell. All text of
/// logs and file names goes through here before it is shown.
pub fn inert(text: &str) -> Cow<'_, str> {
    if is_inert(text) {
        return Cow::Borrowed(text);
    }
    let safe = |c| if is_unsafe_to_show(c) { REPLACEMENT } else { c };
    let mut marks = Marks::default();
    let shown = text.chars().map(safe);
    Cow::Owned(shown.filter_map(|c| marks.pass(c)).collect())
}

fn is_inert(text: &str) -> bool {
    let mut marks = 0;
    text.chars().all(|c| {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        marks <= MOST_MARKS && !is_unsafe_to_show(c)
    })
}

/// The columns that a text takes.
pub fn width(text: &str) -> usize {
    text.width()
}

/// The inert text in at most `columns`, with `…` where it was cut.
pub fn cut(text: &str, columns: usize) -> String {
    // Combining marks have no width: without a limit any number of them would fit.
    let most_chars = columns.saturating_mul(4).saturating_add(16);
    let end = text
        .char_indices()
        .nth(most_chars)
        .map_or(text.len(), |(at, _)| at);
    let head = inert(&text[..end]);
    if end == text.len() && head.width() <= columns {
        return head.into_owned();
    }
    let mut kept = String::new();
    for c in head.chars() {
        kept.push(c);
        // Measure the whole: some characters change the width of the one before.
        if kept.width() + 1 > columns {
            kept.pop();
            break;
        }
    }
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// The inert text in exactly `columns`, cut or padded at its end.
pub fn left(text: &str, columns: usize) -> String {
    let mut text = cut(text, columns);
    let fill = columns.saturating_sub(text.width());
    text.extend(std::iter::repeat_n(' ', fill));
    text
}

/// The inert text in exactly `columns`, cut or padded at its start.
pub fn right(text: &str, columns: usize) -> String {
    let text = cut(text, columns);
    let fill = columns.saturating_sub(text.width());
    format!("{:fill$}{text}", "")
}

/// The end of the text that fits into `columns`.
pub fn tail(text: &str, columns: usize) -> &str {
    text.char_indices()
        .rev()
        .map(|(at, _)| &text[at..])
        .take_while(|end| width(end) <= columns)
        .last()
        .unwrap_or_default()
}

/// A model's id without vendor, path and date.
pub fn short_model(id: &str) -> &str {
    let id = id.rsplit('/').next().unwrap_or(id);
    let id = id.strip_prefix("claude-").unwrap_or(id);
    match id.rsplit_once('-') {
        Some((name, date)) if date.len() == 8 && date.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_bidi_marks_become_visible() {
        assert_eq!(inert("a\u{1b}[31mb\u{202e}c"), "a\u{fffd}[31mb\u{fffd}c");
        assert!(matches!(inert("日本 plain"), Cow::Borrowed(_)));
    }

    #[test]
    fn wide_characters_count_double() {
        assert_eq!(left("日本語", 5), "日本…");
        assert_eq!(left("日本語", 4), "日… ");
        assert_eq!(left("日本", 6), "日本  ");
        assert_eq!(right("ab", 4), "  ab");
        assert_eq!(cut("abc", 0), "");
    }

    #[test]
    fn emoji_that_grow_with_their_selector_stay_in_their_column() {
        let hearts = "❤\u{fe0f}".repeat(9);
        for columns in 0..20 {
            assert_eq!(width(&left(&hearts, columns)), columns, "{columns}");
        }
    }

    #[test]
    fn marks_do_not_pile_up() {
        let hostile = format!("a{}", "\u{301}".repeat(100_000));
        assert!(cut(&hostile, 10).chars().count() < 100);
    }

    #[test]
    fn model_ids_lose_vendor_and_date() {
        assert_eq!(short_model("claude-sonnet-4-5-20250929"), "sonnet-4-5");
        assert_eq!(short_model("anthropic/claude-opus-4-6"), "opus-4-6");
        assert_eq!(short_model("gpt-5.4"), "gpt-5.4");
    }
}
