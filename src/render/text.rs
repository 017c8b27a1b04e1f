//! Text of logs: made safe to print, cut and padded to columns.

use super::inert::{MOST_MARKS, Marks, REPLACEMENT, is_mark};
use model::event::is_unsafe_to_show;
use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Joins emoji into one, in terminals that can. In others its columns are those of the parts.
pub const JOINER: char = '\u{200d}';

/// Returns the text on one line, with one space in the place of any white space. It is not yet safe to show.
pub fn one_line(text: &str) -> Cow<'_, str> {
    let is_one = !text.contains(|c: char| c != ' ' && c.is_whitespace());
    if is_one {
        return Cow::Borrowed(text);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").into()
}

/// Returns the text as the beginning of a sentence.
pub fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}

/// Returns the text without characters that control a terminal, reorder a line or pile up in one cell. All text of logs
/// and file names goes through here before it is shown.
pub fn inert(text: &str) -> Cow<'_, str> {
    if is_inert(text) {
        return Cow::Borrowed(text);
    }
    let safe = |c| if is_unsafe_to_show(c) { REPLACEMENT } else { c };
    let mut marks = Marks::default();
    let apart = without_joiners(text);
    let shown = apart.chars().map(safe);
    Cow::Owned(shown.filter_map(|c| marks.pass(c)).collect())
}

/// Returns the text with joined emoji as their parts, whose columns are the same in every terminal. Joiners between
/// other characters stay.
fn without_joiners(text: &str) -> Cow<'_, str> {
    if !text.contains(JOINER) {
        return Cow::Borrowed(text);
    }
    let mut apart = String::with_capacity(text.len());
    for cluster in text.graphemes(true) {
        if joined_emoji(cluster).is_some() {
            apart.extend(cluster.split(JOINER));
        } else {
            apart.push_str(cluster);
        }
    }
    Cow::Owned(apart)
}

/// Returns the first of emoji that are joined in a cluster; `None`: it is none of that.
pub fn joined_emoji(cluster: &str) -> Option<&str> {
    let (first, _) = cluster.split_once(JOINER)?;
    let mut parts = cluster.split(JOINER);
    parts.all(|part| part.width() == 2).then_some(first)
}

fn is_inert(text: &str) -> bool {
    if is_plain(text) {
        return true;
    }
    let mut marks = 0;
    text.chars().all(|c| {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        marks <= MOST_MARKS && !is_unsafe_to_show(c)
    })
}

/// Returns true if each byte is a character that takes one column, as in most texts: lists of ten thousand rows are cut
/// in a third of the time.
fn is_plain(text: &str) -> bool {
    text.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

/// Returns the columns that a text takes. Terminals place it cluster by cluster, and a halfwidth sound mark in a cell
/// of its own.
pub fn width(text: &str) -> usize {
    if is_plain(text) {
        return text.len();
    }
    if text.is_ascii() {
        return text.width();
    }
    let is_sound_mark = |c: &char| matches!(c, '\u{ff9e}' | '\u{ff9f}');
    let clusters = text.graphemes(true).map(UnicodeWidthStr::width);
    clusters.sum::<usize>() + text.chars().filter(is_sound_mark).count()
}

/// Returns the inert text in at most `columns`, with `…` where it was cut. No number is cut: one that does not fit is
/// left out whole, since `16…` could be read as 16.
pub fn cut(text: &str, columns: usize) -> String {
    // Combining marks have no width: without a limit any number of them would fit.
    let most_chars = columns.saturating_mul(4).saturating_add(16);
    let end = text
        .char_indices()
        .nth(most_chars)
        .map_or(text.len(), |(at, _)| at);
    let head = inert(&text[..end]);
    if end == text.len() && width(&head) <= columns {
        return head.into_owned();
    }
    let mut kept = String::new();
    if is_plain(&head) {
        kept.push_str(&head[..columns.saturating_sub(1).min(head.len())]);
    } else {
        let mut taken = 1;
        for cluster in head.graphemes(true) {
            taken += width(cluster);
            if taken > columns {
                break;
            }
            kept.push_str(cluster);
        }
    }
    if kept.ends_with(|c: char| c.is_ascii_digit()) {
        let is_part = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',');
        let whole = kept.trim_end_matches(is_part).len();
        kept.truncate(whole);
    }
    // What was cut before is cut once more, with one sign.
    kept.truncate(kept.trim_end_matches('…').len());
    if columns > 0 {
        kept.push('…');
    }
    kept
}

/// Returns the inert text in exactly `columns`, cut or padded at its end.
pub fn left(text: &str, columns: usize) -> String {
    let mut text = cut(text, columns);
    let fill = columns.saturating_sub(width(&text));
    text.extend(std::iter::repeat_n(' ', fill));
    text
}

/// Returns the inert text in exactly `columns`, padded at its start: for numbers, of which a part would be another
/// number. What does not fit is left out.
pub fn right(text: &str, columns: usize) -> String {
    let text = inert(text);
    match columns.checked_sub(width(&text)) {
        Some(fill) => format!("{:fill$}{text}", ""),
        None => " ".repeat(columns),
    }
}

/// Returns the end of the text that fits into `columns`.
pub fn tail(text: &str, columns: usize) -> &str {
    text.char_indices()
        .rev()
        .map(|(at, _)| &text[at..])
        .take_while(|end| width(end) <= columns)
        .last()
        .unwrap_or_default()
}

/// Returns both ends of a text that is wider than so many columns, which must be at least 3.
pub fn both_ends(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let half = columns.saturating_sub(1) / 2;
    let head: usize = text
        .graphemes(true)
        .scan(0, |taken, cluster| {
            *taken += width(cluster);
            Some((*taken, cluster.len()))
        })
        .take_while(|(taken, _)| *taken <= half)
        .map(|(_, len)| len)
        .sum();
    let end = tail(&text[head..], columns.saturating_sub(half + 1));
    Cow::Owned(format!("{}…{end}", &text[..head]))
}

/// Returns inert text in at most `columns`, with a sign where it was cut: a path loses its beginning, so that the file's
/// name stays; any other text its end, but for a path that ends it.
pub fn shortened(text: &str, columns: usize) -> String {
    let shown = inert(text);
    if width(&shown) <= columns {
        return shown.into_owned();
    }
    if columns < 3 {
        return cut(&shown, columns);
    }
    let last = shown.rsplit(' ').next().unwrap_or_default();
    let is_path = last.contains(['/', '\\']);
    match is_path && last.len() == shown.len() {
        true => format!("…{}", tail(&shown, columns - 1)),
        false if is_path && shown.contains(" in ") => both_ends(&shown, columns).into_owned(),
        false => cut(&shown, columns),
    }
}

/// Returns a model's id without vendor, path and date.
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
    use proptest::prelude::*;

    #[test]
    fn both_ends_of_a_text_stay() {
        assert_eq!(both_ends("agent:codex", 11), "agent:codex");
        assert_eq!(both_ends("agent:codex >80% live", 11), "agent… live");
        for columns in 3..30 {
            let short = both_ends("project:日本語 model:opus title:x", columns);
            assert!(width(&short) <= columns, "{short}");
        }
    }

    #[test]
    fn a_file_keeps_its_name() {
        let shown = |text| shortened(text, 20);
        assert_eq!(
            shown("test/spotter_web/live/project_live_test.exs"),
            "…oject_live_test.exs"
        );
        assert_eq!(
            shown("fn connect in src/ingest/worker.rs"),
            "fn connec…/worker.rs"
        );
        assert_eq!(
            shown("cargo test --test it src/worker"),
            "cargo test --test i…"
        );
        assert_eq!(shown("src/db.rs"), "src/db.rs");
        assert_eq!(shortened("src/a/b.rs", 2), "s…");
    }

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
    fn joined_emoji_are_shown_as_their_parts() {
        let family = "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        assert_eq!(inert(family), "\u{1f469}\u{1f469}\u{1f467}");
        assert_eq!(width(&inert(family)), 6);
        let heart = "\u{1f468}\u{200d}\u{2764}\u{fe0f}\u{200d}\u{1f468}";
        assert_eq!(inert(heart), heart.replace('\u{200d}', ""));
        assert_eq!(inert("ad\u{200d}min"), "ad\u{fffd}min");
    }

    #[test]
    fn no_number_is_cut() {
        assert_eq!(cut("read 12,345 lines", 8), "read …");
        // A text that was cut before has one sign.
        assert_eq!(cut("cat go.mod | head -… 8.1k", 20), "cat go.mod | head -…");
        assert_eq!(cut("cat go.mod | head -… 8.1k", 21), "cat go.mod | head -…");
        assert_eq!(cut("read 12,345 lines", 12), "read …");
        assert_eq!(cut("118, 301, 455", 8), "118, …");
        assert_eq!(cut("12345", 3), "…");
        assert_eq!(
            (right("12345", 4), right("1234", 4)),
            ("    ".into(), "1234".into())
        );
    }

    fn any_text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            3 => "[a-z0-9 .,…]{0,9}",
            2 => "[漢字ｶﾞ😀❤️👩‍👩‍👧🏳️‍🌈👍🏽e\u{301}\u{fe0f}\u{200d}\u{1f1e6}لا]{1,6}",
            1 => any::<char>().prop_map(String::from),
        ];
        prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn a_cell_has_its_columns_and_no_cut_number(text in any_text(), columns in 0_usize..40) {
            let cell = left(&text, columns);
            prop_assert_eq!(width(&cell), columns, "{:?}", cell);
            prop_assert_eq!(width(&right(&text, columns)), columns);
            let own: usize = text.matches('…').count();
            let cut = cut(&text, columns);
            if cut.matches('…').count() > own {
                let head = cut.strip_suffix('…').unwrap_or_default();
                prop_assert!(!head.ends_with(|c: char| c.is_ascii_digit()), "{cut:?}");
            }
        }

        #[test]
        fn the_columns_of_parts_add_up(text in any_text()) {
            let shown = inert(&text);
            let parts: usize = shown.graphemes(true).map(width).sum();
            prop_assert_eq!(width(&shown), parts);
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

    #[test]
    fn a_text_of_several_lines_is_one() {
        for (text, line) in [
            ("a b", "a b"),
            ("a\n\n  b\tc", "a b c"),
            ("\u{2028}a", "a"),
            ("", ""),
        ] {
            assert_eq!(one_line(text), line, "{text:?}");
        }
    }
}
