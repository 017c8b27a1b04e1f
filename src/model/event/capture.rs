//! Holds the texts of items until they are emitted, where a reader takes them.

use super::NewItem;
use std::collections::HashMap;

/// The texts of the items of a record, by their hashes: an item may be emitted in several conversations.
#[derive(Default)]
pub(super) struct CapturedTexts {
    texts: HashMap<u64, Captured>,
    /// The number of records that have begun and emitted something.
    record: u64,
    /// True if any of them was emitted.
    is_emitted: bool,
}

/// The text of an item, and the record in which the item was made.
struct Captured {
    text: String,
    record: u64,
    is_emitted: bool,
}

impl CapturedTexts {
    pub(super) fn add(&mut self, hash: u64, text: String) {
        let captured = Captured {
            text,
            record: self.record,
            is_emitted: false,
        };
        self.texts.insert(hash, captured);
    }

    /// Returns the text of an item that is being emitted.
    pub(super) fn of(&mut self, item: &NewItem) -> Option<&str> {
        self.is_emitted = true;
        let captured = self.texts.get_mut(&item.hash)?;
        captured.is_emitted = true;
        Some(&captured.text)
    }

    /// Begins another record. Entries that were held back for it stay, and so does an item that was made before it
    /// began.
    pub(super) fn next(&mut self) {
        if std::mem::take(&mut self.is_emitted) {
            let record = self.record;
            self.texts
                .retain(|_, of| !of.is_emitted && of.record == record);
            self.record += 1;
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
