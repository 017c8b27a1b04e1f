//! Finds the topics of `help`: commands, pages of the documentation, and sections of them.

use crate::nearest::nearest;
use assets::{PAGES, Page};

/// Returns the page of this name.
pub(super) fn page(name: &str) -> Option<&'static Page> {
    PAGES
        .iter()
        .find(|page| page.name.eq_ignore_ascii_case(name))
}

/// Returns the sections whose headings have this word: each the page and the section's text.
pub(super) fn sections(word: &str) -> Vec<(&'static Page, &'static str)> {
    let pages = PAGES.iter();
    let sections = pages.flat_map(|page| split(page.text).map(move |section| (page, section)));
    sections
        .filter(|(_, section)| heading_words(section).any(|it| it.eq_ignore_ascii_case(word)))
        .collect()
}

/// Returns the topic that a mistyped word is nearest to.
pub(super) fn meant(word: &str, commands: &[&str]) -> Option<String> {
    let pages = PAGES.iter().map(|page| page.name);
    let names = commands.iter().copied().chain(pages);
    nearest(word, names).map(str::to_owned)
}

/// Splits a page below its title into sections, each from its heading to the next of the same level. Lines of code that
/// begin with `#` are no headings.
fn split(text: &'static str) -> impl Iterator<Item = &'static str> {
    let (mut begins, mut at, mut is_code) = (Vec::new(), 0, false);
    for line in text.split_inclusive('\n') {
        is_code ^= line.starts_with("```");
        if !is_code && line.starts_with("## ") {
            begins.push(at);
        }
        at += line.len();
    }
    let ends: Vec<usize> = begins.iter().skip(1).copied().chain([text.len()]).collect();
    let sections = begins.into_iter().zip(ends);
    sections.filter_map(|(begin, end)| text.get(begin..end))
}

/// Returns the words of a section's heading.
fn heading_words(section: &str) -> impl Iterator<Item = &str> {
    let heading = section.lines().next().unwrap_or_default();
    let is_part = |c: char| c.is_alphanumeric() || c == '-';
    heading
        .split(move |c| !is_part(c))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_sections_are_found_by_their_names() {
        assert!(page("Keys").is_some() && page("key").is_none());
        let found = |word| {
            let sections = sections(word).into_iter();
            let found = sections.map(|(page, text)| (page.name, text.lines().next().unwrap()));
            found.collect::<Vec<_>>()
        };
        assert_eq!(found("alerts"), [("configuration", "## Alerts")]);
        assert_eq!(
            found("trigger"),
            [("numbers", "## Window, trigger, headroom")]
        );
        assert_eq!(found("nothing-of-it"), []);
        assert_eq!(
            meant("configuratoin", &["ls"]).as_deref(),
            Some("configuration")
        );
    }
}
