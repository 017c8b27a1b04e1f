//! Writes what events say.

use super::spans;
use crate::model::Source;
use crate::model::event::{Event, Key, Lane, Meta, NewItem, Node, Part, Place, Reset, Sink, Usage};
use jiff::Timestamp;

/// Writes what one event says.
pub(super) struct Writer<'w, 'm> {
    pub(super) lane: Lane,
    pub(super) key: Option<Key>,
    pub(super) place: Place,
    pub(super) at: Option<Timestamp>,
    pub(super) out: &'w mut Sink<'m>,
}

impl Writer<'_, '_> {
    pub(super) fn push(&mut self, event: Event) {
        self.out.push(self.lane, self.place, self.at, event);
    }

    pub(super) fn meta(&mut self, meta: Meta) {
        self.push(Event::Meta(Box::new(meta)));
    }

    pub(super) fn skip(&mut self, kind: &str) {
        self.push(Event::Skipped(kind.into()));
    }

    pub(super) fn reset(&mut self, reset: Reset) {
        self.push(Event::Reset(Box::new(reset)));
    }

    pub(super) fn node(&mut self, part: Part, request: Option<Key>, items: Vec<NewItem>) {
        self.push(Event::Node(Box::new(Node {
            key: self.key,
            part,
            request,
            turn: part == Part::Input,
            items,
            ..Node::default()
        })));
    }

    /// The agent's own number for the whole context, where an event of this kind gives one.
    pub(super) fn says(&mut self, kind: &str, tokens: Option<u64>) {
        let Some(prompt) = tokens.filter(|tokens| *tokens > 0) else {
            return self.skip(kind);
        };
        self.push(Event::Usage(Box::new(Usage {
            request: Key::of_number("copilot says", self.place.offset),
            source: Source::Agent,
            ..spans::usage(prompt)
        })));
    }
}
