//! A text in rows of a screen: wrapped between words, long words cut. Widths are those of the
//! characters as they are shown, see [`visible`].

use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use model::event::is_unsafe_to_show;
use render::inert::{MOST_MARKS, REPLACEMENT, is_mark, visible};
use render::text::{JOINER, joined_emoji};

/// Columns from one tab stop to the next.
const TAB_COLUMNS: usize = 8;
/// A cluster of more bytes than this is taken apart: marks could pile up on one cell without end.
const MOST_CLUSTER_BYTES: usize = 64;

/// One row: a part of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// Its first byte in the text.
    pub from: u32,
    /// The byte after its last, without the newline.
    pub to: u32,
    /// The number of the line that begins here, counted from 0; `None`: it continues the row above.
    pub line: Option<u32>,
}

impl Row {
    /// Returns the part of the text.
    pub fn range(self) -> Range<usize> {
        self.from as usize..self.to as usize
    }
}

/// Returns a part of a row as it is shown, which begins at this column: tabs are spaces.
pub fn shown(part: &str, mut column: usize) -> String {
    let mut out = String::with_capacity(part.len());
    for cluster in clusters(part) {
        let width = width(cluster, column);
        match cluster {
            "\t" => out.extend(std::iter::repeat_n(' ', width)),
            _ if cluster.starts_with(is_mark) => out.push(REPLACEMENT),
            _ => out.extend(without_joiner(cluster).chars().map(visible)),
        }
        column += width;
    }
    out
}

/// Returns the columns that a part of a row takes which begins at this column.
pub fn columns(part: &str, column: usize) -> usize {
    let end = clusters(part).fold(column, |at, cluster| at + width(cluster, at));
    end - column
}

/// Wraps a text into rows of at most `columns` columns. A space right after a full row is part of that
/// row.
pub fn wrap(text: &str, columns: usize) -> Vec<Row> {
    // A wide character must fit.
    let columns = columns.max(TAB_COLUMNS);
    let mut rows = Vec::new();
    let mut from = 0;
    for (number, line) in (0..).zip(text.split('\n')) {
        wrap_line(line, from, number, columns, &mut rows);
        from += line.len() + 1;
    }
    rows
}

fn wrap_line(line: &str, offset: usize, number: u32, columns: usize, rows: &mut Vec<Row>) {
    let mut number = Some(number);
    let mut push = |range: Range<usize>| {
        rows.push(Row {
            from: (offset + range.start) as u32,
            to: (offset + range.end) as u32,
            line: number.take(),
        });
    };
    let (mut from, mut used) = (0, 0);
    // After the last space of the row, and the column there.
    let mut word = (0, 0);
    let mut at = 0;
    while at < line.len() {
        let cluster = first_cluster(&line[at..]);
        let next = at + cluster.len();
        let cells = width(cluster, used);
        if used + cells <= columns {
            used += cells;
            if matches!(cluster, " " | "\t") {
                word = (next, used);
            }
            at = next;
        } else if cluster == " " && used > 0 {
            push(from..next);
            (from, used, at, word) = (next, 0, next, (next, 0));
        } else {
            // Between words if there is a space, and not for the sake of a gap in front.
            let end = if word.0 > from && word.1 * 4 > columns {
                word.0
            } else {
                at
            };
            push(from..end);
            (from, used, at, word) = (end, 0, end, (end, 0));
        }
    }
    if from < line.len() || from == 0 {
        push(from..line.len());
    }
}

/// Returns the columns of a cluster that begins at this column.
fn width(cluster: &str, column: usize) -> usize {
    match cluster.as_bytes() {
        [b'\t'] => TAB_COLUMNS - column % TAB_COLUMNS,
        [_] => 1,
        _ if cluster.starts_with(is_mark) => 1,
        _ => {
            let cluster = without_joiner(cluster);
            if !cluster.contains(is_unsafe_to_show) {
                return cluster.width();
            }
            let visible: String = cluster.chars().map(visible).collect();
            visible.width()
        }
    }
}

/// Returns an emoji without the joiner to the next one. Terminals differ in the columns of joined emoji, not in those
/// of each.
fn without_joiner(cluster: &str) -> &str {
    cluster.strip_suffix(JOINER).unwrap_or(cluster)
}

/// Returns the bytes of an emoji that is joined to another one, with the joiner, if it can be shown as it is.
fn joined_bytes(cluster: &str) -> Option<usize> {
    let emoji = joined_emoji(cluster)?;
    let marks = emoji.chars().filter(|c| is_mark(*c)).count();
    let is_safe = marks <= MOST_MARKS && !emoji.contains(is_unsafe_to_show);
    is_safe.then_some(emoji.len() + JOINER.len_utf8())
}

fn clusters(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let cluster = first_cluster(rest);
        rest = &rest[cluster.len()..];
        (!cluster.is_empty()).then_some(cluster)
    })
}

/// Returns the characters that a terminal shows in one place. ASCII has a fast path. Marks that are too many for one
/// place, or without a character to stand on, are a cluster by themselves.
fn first_cluster(text: &str) -> &str {
    match text.as_bytes() {
        [] => "",
        [first, second, ..] if first.is_ascii() && second.is_ascii() => &text[..1],
        [first] if first.is_ascii() => text,
        _ => {
            // Looking at more than can be shown in one place would cost the square of a pile of marks.
            let most = MOST_CLUSTER_BYTES + 4;
            let end = (most.min(text.len())..=text.len()).find(|end| text.is_char_boundary(*end));
            let head = &text[..end.unwrap_or(text.len())];
            if head.starts_with(is_mark) {
                return &text[..head.find(|c| !is_mark(c)).unwrap_or(head.len())];
            }
            let cluster = head.graphemes(true).next().unwrap_or_default();
            if let Some(bytes) = joined_bytes(cluster) {
                return &text[..bytes];
            }
            let mut marks = cluster.char_indices().filter(|(_, c)| is_mark(*c));
            let cluster = &cluster[..marks.nth(MOST_MARKS).map_or(cluster.len(), |(at, _)| at)];
            // A replaced character is a cluster by itself.
            let alone = |c: char| is_unsafe_to_show(c) && !matches!(c, '\u{200d}' | '\u{200c}');
            let mut chars = cluster.char_indices();
            let first = chars.next().map_or(0, |(_, c)| c.len_utf8());
            let single = cluster.starts_with(alone) || cluster.len() > MOST_CLUSTER_BYTES;
            let end = if single {
                first
            } else {
                cluster.find(is_unsafe_to_show).unwrap_or(cluster.len())
            };
            &text[..end.max(first)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn rows(text: &str, columns: usize) -> Vec<String> {
        let part = |row: &Row| shown(&text[row.range()], 0);
        wrap(text, columns).iter().map(part).collect()
    }

    fn any_text() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            4 => "[a-z ]{0,12}",
            1 => "[ \t\n\r\u{1b}\u{202e}\u{200d}]{1,3}",
            1 => "[é漢字ｶﾞ😀❤️👩‍👧e\u{301}\u{fe0f}\u{1f1e6}]{1,4}",
            1 => any::<char>().prop_map(String::from),
        ];
        prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn rows_are_the_text_and_fit(text in any_text(), columns in 8_usize..50) {
            let wrapped = wrap(&text, columns);
            let mut at = 0;
            let mut lines = 0;
            for row in &wrapped {
                let range = row.range();
                if row.line.is_some() && at > 0 || row.line == Some(1) {
                    prop_assert_eq!(&text[at..range.start], "\n");
                } else {
                    prop_assert_eq!(at, range.start);
                }
                at = range.end;
                lines += row.line.iter().count();
                let part = shown(&text[range.clone()], 0);
                prop_assert!(!part.contains(is_unsafe_to_show), "{part:?}");
                prop_assert_eq!(columns_of(&part), columns_in(&text[range]));
                let part = part.strip_suffix(' ').unwrap_or(&part);
                prop_assert!(part.width() <= columns, "{part:?}");
            }
            prop_assert_eq!(at, text.len());
            prop_assert_eq!(lines, text.split('\n').count());
        }
    }

    fn columns_of(part: &str) -> usize {
        part.graphemes(true).map(UnicodeWidthStr::width).sum()
    }

    fn columns_in(part: &str) -> usize {
        super::columns(part, 0)
    }

    #[test]
    fn words_stay_whole_and_long_ones_are_cut() {
        assert_eq!(
            rows("one two three four", 9),
            ["one two ", "three ", "four"]
        );
        assert_eq!(rows("exactly8 next", 8), ["exactly8 ", "next"]);
        assert_eq!(rows("abcdefghijklmno", 10), ["abcdefghij", "klmno"]);
        assert_eq!(rows("a bcdefghijklmno", 10), ["a bcdefghi", "jklmno"]);
        assert_eq!(rows("漢字漢字漢", 9), ["漢字漢字", "漢"]);
    }

    #[test]
    fn what_could_drive_a_terminal_has_a_picture() {
        assert_eq!(rows("a\u{1b}[31mb\u{202e}c\r", 20), ["a␛[31mb\u{fffd}c␍"]);
        assert_eq!(rows("a\tb\t", 20), ["a       b       "]);
    }

    #[test]
    fn joined_emoji_are_shown_as_their_parts() {
        assert_eq!(rows("👩\u{200d}⚕\u{fe0f}.", 40), ["👩⚕\u{fe0f}."]);
        let text = "a👨\u{200d}👩\u{200d}👧 🏳\u{fe0f}\u{200d}🌈 🧑🏽\u{200d}💻 b\u{200d}";
        assert_eq!(rows(text, 40), ["a👨👩👧 🏳\u{fe0f}🌈 🧑🏽💻 b\u{fffd}"]);
        assert_eq!(columns(text, 0), "a______ ____ ____ b?".len());
    }

    #[test]
    fn five_hundred_marks_do_not_pile_up_in_one_cell() {
        let hostile = format!("a{}b", "\u{301}".repeat(500));
        let rows = rows(&hostile, 10).concat();
        let marks = rows.chars().filter(|c| is_mark(*c)).count();
        assert_eq!(marks, MOST_MARKS);
        assert!(
            rows.starts_with('a') && rows.ends_with("\u{fffd}b"),
            "{rows}"
        );
        assert_eq!(rows_of("e\u{301}o\u{308}"), "e\u{301}o\u{308}");
    }

    fn rows_of(text: &str) -> String {
        rows(text, 10).concat()
    }

    #[test]
    fn empty_lines_have_rows() {
        let numbers: Vec<Option<u32>> = wrap("\n\nabc\n", 10).iter().map(|row| row.line).collect();
        assert_eq!(numbers, [Some(0), Some(1), Some(2), Some(3)]);
    }
}
