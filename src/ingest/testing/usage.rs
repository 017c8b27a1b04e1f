//! What the events of a log say of its usage.

use jiff::Timestamp;
use model::event::{Billed, Entry, Event, Key};
use std::collections::{BTreeMap, BTreeSet};

/// The cost of each response, the responses without any, and how often the context was compacted.
#[derive(Debug, Default, PartialEq)]
pub struct Usage {
    billed: BTreeMap<Key, Paid>,
    without: BTreeSet<Key>,
    compactions: u64,
}

/// What a response cost.
#[derive(Debug, Default, PartialEq)]
struct Paid {
    billed: Billed,
    is_sum: bool,
    /// The models and times of its reports.
    of: BTreeSet<(Box<str>, Timestamp)>,
}

impl Usage {
    /// Takes in an entry of a reading for usage.
    pub fn add(&mut self, entry: Entry) {
        match entry.event {
            Event::Usage(usage) => {
                let paid = self.bill(usage.request, usage.billed, false);
                paid.of.extend(usage.model.zip(entry.at));
            }
            Event::Billed {
                request,
                billed,
                is_sum,
            } => {
                self.bill(request, billed, is_sum);
            }
            Event::Node(node) => self.without.extend(node.request),
            Event::Reset(_) => self.compactions += 1,
            event => panic!("{event:?} says nothing of usage"),
        }
    }

    fn bill(&mut self, request: Key, billed: Billed, is_sum: bool) -> &mut Paid {
        let paid = self.billed.entry(request).or_default();
        paid.billed = paid.billed.max(billed);
        paid.is_sum |= is_sum;
        paid
    }

    /// Takes in any entry.
    pub fn add_if_any(&mut self, entry: Entry) {
        let entry = entry.of_usage();
        entry.into_iter().for_each(|entry| self.add(entry));
    }

    /// The whole, when there are no more entries.
    pub fn done(mut self) -> Usage {
        self.without.retain(|key| !self.billed.contains_key(key));
        self
    }
}
