//! The first prompt of a session, which may name it.

use crate::event::{Conversation, Entry, Event, NewItem, PREVIEW_BYTES, is_unsafe_to_show};
use crate::{Kind, Role};
use std::borrow::Cow;

/// Returns true if a text has something to see.
pub fn shows(text: &str) -> bool {
    text.chars()
        .any(|c| !c.is_whitespace() && !is_unsafe_to_show(c))
}

/// Returns the first prompt of the main session, by the entries of its log's beginning.
pub fn prompt_of(entries: &[Entry]) -> Option<Box<str>> {
    let mut prompt = None;
    for entry in entries
        .iter()
        .filter(|entry| entry.conversation == Conversation::Main)
    {
        match &entry.event {
            Event::Node(node) => first_prompt(&mut prompt, &node.items),
            // The decoder knows better how it was typed.
            Event::Meta(meta) if prompt.is_none() => prompt.clone_from(&meta.prompt),
            _ => {}
        }
    }
    prompt
}

/// Sets the prompt to the first text of the user's. A text that begins with a tag is a command's or the harness's, and a
/// command without arguments says nothing of the session: the first other text takes its place.
pub(crate) fn first_prompt(prompt: &mut Option<Box<str>>, items: &[NewItem]) {
    let is_command =
        |text: &str| text.starts_with('/') && !text.trim().contains(char::is_whitespace);
    let is_typed = |text: &str| !text.starts_with('<') && !is_command(text);
    if prompt.as_deref().is_some_and(is_typed) {
        return;
    }
    // Some logs have only the length of a text.
    let said = items
        .iter()
        .filter(|item| item.role == Role::User && item.kind == Kind::Text && item.size.bytes > 0)
        .map(|item| &*item.preview)
        .filter(|text| shows(text));
    for text in said {
        if prompt.is_none() || is_typed(text) {
            *prompt = Some(text.into());
        }
        if is_typed(text) {
            return;
        }
    }
}

/// A preview that is shorter than the longest by fewer bytes than this may have been cut.
const CUT_BYTES: usize = 8;

/// Returns the text without its tags, if it begins with one.
pub(crate) fn without_tags(text: &str) -> Cow<'_, str> {
    if !text.starts_with('<') {
        return Cow::Borrowed(text);
    }
    let is_tag = |c: char| c.is_ascii_alphanumeric() || "-_/".contains(c);
    let is_cut = text.len() + CUT_BYTES >= PREVIEW_BYTES;
    let mut parts = text.split('<');
    let mut shown = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('>') {
            Some((tag, rest)) if !tag.is_empty() && tag.chars().all(is_tag) => {
                shown.extend([" ", rest]);
            }
            // The end of a preview may be the beginning of a tag.
            _ if is_cut && part.chars().all(is_tag) => {}
            _ => shown.extend(["<", part]),
        }
    }
    let words: Vec<&str> = shown.split_whitespace().collect();
    Cow::Owned(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Key;
    use crate::testing::new_item;

    fn item(text: &str) -> NewItem {
        let mut item = new_item(Role::User, Kind::Text, 9);
        item.preview = text.into();
        item
    }

    #[test]
    fn tags_are_left_out() {
        let long = format!("<a>{} <comm", "x".repeat(PREVIEW_BYTES - 9));
        for (text, shown) in [
            ("<task>mend the cart</task>", "mend the cart"),
            ("<task>if a <b and c> d", "if a <b and c> d"),
            ("<a href=\"x\">b", "<a href=\"x\">b"),
            ("a <b> c", "a <b> c"),
            ("<cut", "<cut"),
            (
                &long,
                long.trim_start_matches("<a>").trim_end_matches(" <comm"),
            ),
            ("", ""),
        ] {
            assert_eq!(without_tags(text), shown, "{text}");
        }
    }

    #[test]
    fn the_first_prompt_is_the_main_sessions() {
        let entry = |conversation, text| {
            let items = vec![item(text)];
            let node = crate::event::Node {
                items,
                ..Default::default()
            };
            Entry {
                conversation,
                place: Default::default(),
                at: None,
                event: Event::Node(Box::new(node)),
            }
        };
        let side = Conversation::Side(Key::new(1));
        let entries = [
            entry(side, "a sub-agent's"),
            entry(Conversation::Main, "mine"),
        ];
        assert_eq!(prompt_of(&entries).as_deref(), Some("mine"));
    }
}
