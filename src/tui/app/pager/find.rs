//! Finds a string in a text.

use memchr::memmem::Finder;

/// The positions of `needle` in a text, without overlaps. Small letters match capitals too, unless `needle` has a
/// capital.
pub fn find(text: &str, needle: &str) -> Vec<u32> {
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
    hits.filter_map(|at| u32::try_from(at).ok()).collect()
}

/// A text in small letters, in which every character has the position that it has in `text`: a letter whose small one
/// takes another number of bytes stays.
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
            for at in find(&text, &needle) {
                let at = at as usize;
                prop_assert!(at >= end);
                end = at + needle.len();
                prop_assert_eq!(small(&text[at..end]), small(&needle));
            }
        }

        #[test]
        fn what_is_there_is_found(before in "[a-z]{0,9}", needle in "[A-Z]{1,5}", after in "[0-9]{0,9}") {
            let text = format!("{before}{needle}{after}");
            prop_assert_eq!(find(&text, &needle), [before.len() as u32]);
            prop_assert!(!find(&text, &needle.to_lowercase()).is_empty());
        }
    }

    #[test]
    fn a_capital_means_itself() {
        assert_eq!(find("Größe größe GRÖSSE", "größe"), [0, 8]);
        assert_eq!(find("Größe größe", "Größe"), [0]);
        assert_eq!(find("aaaa", "aa"), [0, 2]);
    }
}
