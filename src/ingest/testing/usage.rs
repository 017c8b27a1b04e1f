//! What the events of a log say of its usage.

use model::event::{Billed, Event, Key};
use std::collections::{BTreeMap, BTreeSet};

/// The cost of each response, the responses without any, and how often the context was compacted.
#[derive(Debug, Default, PartialEq)]
pub struct Usage {
    billed: BTreeMap<Key, (Billed, bool)>,
    without: BTreeSet<Key>,
    compactions: u64,
}

impl Usage {
    /// Takes in an event of a reading for usage.
    pub fn add(&mut self, event: Event) {
        match event {
            Event::Billed {
                request,
                billed,
                is_sum,
            } => {
                let known = self.billed.entry(request).or_default();
                *known = (known.0.max(billed), known.1 | is_sum);
            }
            Event::Node(node) => self.without.extend(node.request),
            Event::Reset(_) => self.compactions += 1,
            event => panic!("{event:?} says nothing of usage"),
        }
    }

    /// Takes in any event.
    pub fn add_if_any(&mut self, event: Event) {
        event
            .of_usage()
            .into_iter()
            .for_each(|event| self.add(event));
    }

    /// The whole, when there are no more events.
    pub fn done(mut self) -> Usage {
        self.without.retain(|key| !self.billed.contains_key(key));
        self
    }
}
