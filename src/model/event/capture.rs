//! Captures the text of one item while its line is decoded again, or those of all items.

use super::{NewItem, Place};
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

/// Waits for the item of this hash in this place.
pub(super) struct Capture {
    pub(super) place: Place,
    pub(super) hash: u64,
    pub(super) text: Option<String>,
}

impl Capture {
    /// Returns true if an item that is being emitted is the one looked for.
    pub(super) fn is(&self, place: Place, item: &NewItem) -> bool {
        (place, item.hash) == (self.place, self.hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{ByLength, Conversation, Event, EventSink, NewItem, Node};
    use crate::{Kind, Role};

    fn picture(out: &mut EventSink<'_>) -> NewItem {
        let item = out.item(Role::User, Kind::Text).text("Look:");
        item.fixed(85, "[image]").fixed(10, "").text("Well?").done()
    }

    #[test]
    fn the_label_of_an_image_is_in_its_place() {
        let hash = picture(&mut EventSink::new(&ByLength)).hash;
        let mut out = EventSink::capturing(&ByLength, Place::default(), hash);
        let node = Node {
            items: vec![picture(&mut out)],
            ..Node::default()
        };
        let place = Place::default();
        out.push(Conversation::Main, place, None, Event::Node(Box::new(node)));
        assert_eq!(out.captured().as_deref(), Some("Look:\n[image]\nWell?"));
    }
}
