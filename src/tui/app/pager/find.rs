//! Finds a string in a text.

use memchr::memmem::Finder;
use std::ops::Range;

/// Returns the ranges of `needle` in a text, without overlaps. Small letters match capitals too, unless `needle` has a
/// capital.
pub fn find(text: &str, needle: &str) -> Vec<Range<u32>> {
    if needle.is_empty() {
        return Vec::new();
    }
    let exact = needle.contains(char::is_uppercase);
    let (text, needle) = if exact {
        (text.into(), needle.into())
    } else {
        (small(text), small(needle))
    };
    let finder = Finder::new(needle.as_bytes());
    let hits = finder.find_iter(text.as_bytes());
    let ranges = hits.map(|at| at..at + needle.len());
    ranges.filter_map(in_text).collect()
}

/// Converts a range of a text; `None`: the text is longer than 4 GiB.
pub fn in_text(range: Range<usize>) -> Option<Range<u32>> {
    Some(u32::try_from(range.start).ok()?..u32::try_from(range.end).ok()?)
}

/// Returns a text in small letters, in which every character has the position that it has in `text`: a letter whose
/// small one takes another number of bytes stays.
fn small(text: &str) -> std::borrow::Cow<'_, str> {
    if text.is_ascii() {
        return text.to_ascii_lowercase().into();
    }
    let small = |c: char| {
        let mut lower = c.to_lowercase();
        match (lower.next(), lower.next()) {
            (Some(small), None) if small.len_utf8() == c.len_utf8() => small,
            _ => c,
        }
    };
    text.chars().map(small).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn matches_are_where_the_text_is(text in "[aAbBéÉİ漢 \n]{0,60}", needle in "[aAbBéÉİ漢]{0,3}") {
            let mut end = 0;
            for found in find(&text, &needle) {
                let at = found.start as usize;
                prop_assert!(at >= end);
                end = found.end as usize;
                prop_assert_eq!(small(&text[at..end]), small(&needle));
            }
        }

        #[test]
        fn what_is_there_is_found(before in "[a-z]{0,9}", needle in "[A-Z]{1,5}", after in "[0-9]{0,9}") {
            let text = format!("{before}{needle}{after}");
            let at = before.len() as u32;
            let here = at..at + needle.len() as u32;
            prop_assert_eq!(find(&text, &needle), vec![here]);
            prop_assert!(!find(&text, &needle.to_lowercase()).is_empty());
        }
    }

    #[test]
    fn a_capital_means_itself() {
        assert_eq!(find("Größe größe GRÖSSE", "größe"), [0..7, 8..15]);
        assert_eq!(find("Größe größe", "Größe").first(), Some(&(0..7)));
        assert_eq!(find("Größe größe", "Größe").len(), 1);
        assert_eq!(find("aaaa", "aa"), [0..2, 2..4]);
    }
}
