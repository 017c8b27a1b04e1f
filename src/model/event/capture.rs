//! Captures the text of one item while its line is decoded again.

use super::{NewItem, Place};

/// Waits for the item of this hash in this place.
pub(super) struct Capture {
    pub(super) place: Place,
    pub(super) hash: u64,
    /// Hashes and texts of the items that were finished since the last node.
    pub(super) finished: Vec<(u64, String)>,
    pub(super) text: Option<String>,
}

impl Capture {
    /// Takes the text of an item that is being emitted, if it is the one looked for.
    pub(super) fn look_at(&mut self, place: Place, item: &NewItem) {
        if place != self.place || item.hash != self.hash {
            return;
        }
        let at = self
            .finished
            .iter()
            .position(|(hash, _)| *hash == item.hash);
        if let Some(at) = at {
            self.text = Some(self.finished.swap_remove(at).1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{ByLength, Event, Lane, NewItem, Node, Sink};
    use crate::{Kind, Role};

    fn picture(out: &mut Sink<'_>) -> NewItem {
        let item = out.item(Role::User, Kind::Text).text("Look:");
        item.fixed(85, "[image]").fixed(10, "").text("Well?").done()
    }

    #[test]
    fn the_label_of_an_image_is_in_its_place() {
        let hash = picture(&mut Sink::new(&ByLength)).hash;
        let mut out = Sink::capturing(&ByLength, Place::default(), hash);
        let node = Node {
            items: vec![picture(&mut out)],
            ..Node::default()
        };
        let place = Place::default();
        out.push(Lane::Main, place, None, Event::Node(Box::new(node)));
        assert_eq!(out.captured().as_deref(), Some("Look:\n[image]\nWell?"));
    }
}
