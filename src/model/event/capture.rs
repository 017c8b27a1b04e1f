//! Holds the texts of items until they are emitted, where a reader takes them.

use super::NewItem;
use std::collections::HashMap;

/// The texts of the items of a record, by their hashes: an item may be emitted in several conversations.
#[derive(Default)]
pub(super) struct CapturedTexts {
    texts: HashMap<u64, String>,
    /// True if any of them was emitted.
    is_emitted: bool,
}

impl CapturedTexts {
    pub(super) fn add(&mut self, hash: u64, text: String) {
        self.texts.insert(hash, text);
    }

    /// Returns the text of an item that is being emitted.
    pub(super) fn of(&mut self, item: &NewItem) -> Option<&str> {
        self.is_emitted = true;
        self.texts.get(&item.hash).map(String::as_str)
    }

    /// Begins another record. Entries that were held back for it stay.
    pub(super) fn next(&mut self) {
        if std::mem::take(&mut self.is_emitted) {
            self.texts.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::event::{Conversation, Event, EventSink, Measure, NewItem, Node, Place, Size};
    use crate::{Kind, Role};
    use std::cell::RefCell;

    /// Takes the texts of items.
    struct Texts(RefCell<Vec<String>>);

    impl Measure for Texts {
        fn text(&self, _: &str) -> Size {
            Size::default()
        }
        fn takes_texts(&self) -> bool {
            true
        }
        fn item(&self, _: Conversation, _: Place, _: &NewItem, text: &str) {
            self.0.borrow_mut().push(text.to_owned());
        }
    }

    #[test]
    fn the_label_of_an_image_is_in_its_place() {
        let texts = Texts(RefCell::default());
        let mut out = EventSink::new(&texts);
        let item = out.item(Role::User, Kind::Text).text("Look:");
        let item = item.fixed(85, "[image]").fixed(10, "").text("Well?").done();
        let node = Node {
            items: vec![item],
            ..Node::default()
        };
        let place = Place::default();
        out.push(Conversation::Main, place, None, Event::Node(Box::new(node)));
        assert_eq!(texts.0.take(), ["Look:\n[image]\nWell?"]);
    }
}
