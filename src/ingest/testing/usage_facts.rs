//! Collects the usage that the events of a log show, for tests.
#![allow(clippy::panic)]

use jiff::Timestamp;
use model::event::{BilledUsage, Conversation, Entry, Event, Key};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The cost of each response, the responses without any, and how often the context was compacted.
#[derive(Debug, Default, PartialEq)]
pub struct UsageFacts {
    billed: BTreeMap<Key, Paid>,
    without: BTreeSet<Key>,
    compactions: Vec<Option<Key>>,
    /// The agent's own counts, in order.
    own: Vec<(Conversation, Option<Key>, u64)>,
    /// The model that answers in each conversation.
    models: HashMap<Conversation, Box<str>>,
}

/// The cost of a response.
#[derive(Debug, Default, PartialEq)]
struct Paid {
    billed: BilledUsage,
    is_sum: bool,
    is_inherited: bool,
    /// The prompts of its reports: they show how the provider counts.
    prompts: BTreeSet<u64>,
    /// Of each report: the conversation, the model and the time.
    of: Vec<(Conversation, Option<Box<str>>, Option<Timestamp>)>,
}

impl UsageFacts {
    /// Takes in an entry of a reading for usage.
    ///
    /// # Panics
    ///
    /// If it says nothing of usage.
    pub fn add(&mut self, entry: Entry) {
        let Entry {
            conversation,
            at,
            event,
            ..
        } = entry;
        match event {
            Event::Meta(meta) => {
                let model = meta.model.map(|model| (conversation, model));
                self.models.extend(model);
            }
            Event::Usage(usage) => {
                let model = usage.model.clone().map(|model| (conversation, model));
                self.models.extend(model);
                let paid = self.bill(usage.request, usage.billed, false);
                paid.prompts.insert(usage.prompt);
                paid.is_inherited |= usage.is_inherited;
                self.answer(usage.request, conversation, None, at);
            }
            Event::Billed {
                request,
                billed,
                of,
                model,
            } => {
                self.bill(request, billed, of.is_sum());
                self.answer(request, conversation, model, at);
            }
            Event::OwnCost { of, nanodollars } => self.own.push((conversation, of, nanodollars)),
            Event::Node(node) => self.without.extend(node.request),
            Event::Reset(reset) => self.compactions.push(reset.key),
            // Of records that concern usage, only a full reading reads all.
            Event::Unreadable(_) => {}
            event => panic!("{event:?} says nothing of usage"),
        }
    }

    fn answer(
        &mut self,
        request: Key,
        conversation: Conversation,
        model: Option<Box<str>>,
        at: Option<Timestamp>,
    ) {
        let model = model.or_else(|| self.models.get(&conversation).cloned());
        let paid = self.billed.entry(request).or_default();
        let report = (conversation, model, at);
        if paid.of.last() != Some(&report) {
            paid.of.push(report);
        }
    }

    fn bill(&mut self, request: Key, billed: BilledUsage, is_sum: bool) -> &mut Paid {
        let paid = self.billed.entry(request).or_default();
        paid.billed = if is_sum {
            paid.billed.max(billed)
        } else {
            paid.billed.followed_by(billed)
        };
        paid.is_sum |= is_sum;
        paid
    }

    /// Takes in any entry.
    pub fn add_if_any(&mut self, entry: Entry) {
        let entry = entry.of_usage();
        entry.into_iter().for_each(|entry| self.add(entry));
    }

    /// The whole, when there are no more entries.
    pub fn done(mut self) -> UsageFacts {
        self.without.retain(|key| !self.billed.contains_key(key));
        self.models.clear();
        self
    }
}
