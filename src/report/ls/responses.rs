//! Reads the costs of the responses of a log.

use super::cost::Cost;
use super::own_cost::OwnCost;
use super::row::Row;
use formats::Format;
use hashbrown::{HashMap, HashSet};
use indexmap::{IndexMap, IndexSet};
use ingest::log::reader::each_usage;
use ingest::log::{LogFile, OnEntry};
use model::cost::spending::{PriceList, Spending};
use model::event::{Conversation, CostOf, Entry, Event, Key};
use model::values::token_usage::CachePlacement;
use model::window::ModelAt;
use serde::{Deserialize, Serialize};
use std::io;

/// The cost of each response of a log, and what the log lacks.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Responses {
    /// The responses, each with the index of its session.
    pub(super) rows: Vec<Row>,
    /// The sessions of the log.
    pub(super) conversations: Vec<Conversation>,
    /// Responses without usage.
    pub(super) unbilled: Vec<Key>,
    /// Compactions that took a request that is not in the log.
    pub(super) compactions: Vec<Key>,
    /// The number of records that could not be read.
    pub(super) unreadable: u64,
    /// The models that answered, each [joined](ModelAt::joined) with its provider.
    pub(super) models: Vec<Box<str>>,
    /// The agent's own count by session, in billionths of a US dollar.
    pub(crate) own: Vec<(Conversation, u64)>,
}

/// The part of a log that was read so far.
#[derive(Default)]
struct Reading {
    costs: HashMap<Key, Cost>,
    unbilled: HashSet<Key>,
    compactions: HashSet<Key>,
    unreadable: u64,
    /// The models that answered, each joined with its provider.
    models: IndexSet<Box<str>>,
    /// The newest provider of each session.
    providers: HashMap<Conversation, Box<str>>,
    /// The index of the model of each session.
    current: HashMap<Conversation, u32>,
    own: HashMap<Conversation, OwnCost>,
    /// Responses of which the output alone was seen.
    outputs: HashSet<Key>,
    /// Responses that another log has paid for.
    inherited: HashSet<Key>,
}

impl Responses {
    /// Reads the responses of a log.
    pub(crate) fn read(log: &LogFile) -> io::Result<Responses> {
        Ok(Responses::read_by(log, |give| each_usage(log, give))?.1)
    }

    /// Reads the responses of a log and what else `read` returns of it. `read` passes on what concerns usage.
    pub(super) fn read_by<T>(
        log: &LogFile,
        read: impl FnOnce(&mut OnEntry<'_>) -> io::Result<T>,
    ) -> io::Result<(T, Responses)> {
        let mut responses = Reading::default();
        let other = read(&mut |entry| responses.take(entry, log.format.totals.cached))?;
        if !log.format.totals.hides_compactions {
            responses.compactions.clear();
        }
        Ok((other, responses.finish()))
    }

    /// Returns each response by its key, with its cost.
    pub(crate) fn costs(&self) -> impl Iterator<Item = (Key, Cost)> {
        self.rows.iter().map(|row| {
            let conversation = self.conversations.get(row.of as usize);
            (
                row.key(),
                row.cost(conversation.copied().unwrap_or(Conversation::Main)),
            )
        })
    }

    /// Returns the model that gave a response.
    pub(crate) fn model(&self, cost: &Cost) -> Option<ModelAt<'_>> {
        let model = self.models.get(cost.model? as usize)?;
        Some(ModelAt::parted(model))
    }

    /// Returns the bytes that the index keeps of them.
    pub(super) fn store(&self) -> Vec<u8> {
        // No type in it can fail to be written.
        postcard::to_stdvec(self).unwrap_or_default()
    }

    /// Restores responses from the bytes of [`Responses::store`]; `None`: they cannot be read.
    pub(super) fn restore(stored: &[u8]) -> Option<Responses> {
        postcard::from_bytes(stored).ok()
    }

    /// Returns the usage of each session.
    pub(super) fn spending(
        &self,
        prices: &mut PriceList<'_>,
        format: &Format,
    ) -> Vec<(Conversation, Spending)> {
        let none = |conversation: &Conversation| (*conversation, Spending::default());
        let mut all: IndexMap<Conversation, Spending> =
            self.conversations.iter().map(none).collect();
        for row in &self.rows {
            if let Some((conversation, spending)) = all.get_index_mut(row.of as usize) {
                let cost = row.cost(*conversation);
                spending.add(cost.spending(prices, format, self.model(&cost)));
            }
        }
        for (conversation, own) in &self.own {
            all.entry(*conversation).or_default().own = Some(*own);
        }
        all.into_iter().collect()
    }

    /// Returns true if the log has no responses and lacks none.
    pub(super) fn has_none(&self) -> bool {
        let lacks_none = self.unbilled.is_empty() && self.compactions.is_empty();
        self.rows.is_empty() && lacks_none && self.unreadable == 0
    }
}

impl Reading {
    /// Takes in an entry. `usual` is how the format counts what was cached.
    fn take(&mut self, entry: Entry, usual: CachePlacement) {
        let (conversation, at) = (entry.conversation, entry.at);
        let cost = |billed, cached, is_sum, model| Cost {
            billed,
            cached,
            is_sum,
            lacks_input: false,
            at,
            model,
            conversation,
        };
        match entry.event {
            Event::Meta(meta) => {
                if let Some(provider) = meta.provider {
                    self.providers.insert(conversation, provider);
                }
                if let Some(model) = meta.model {
                    let ix = self.index_of(&model, conversation);
                    self.current.insert(conversation, ix);
                }
            }
            Event::Usage(usage) => {
                if let Some(model) = &usage.model {
                    let ix = self.index_of(model, conversation);
                    self.current.insert(conversation, ix);
                }
                if usage.is_inherited {
                    self.inherited.insert(usage.request);
                    return;
                }
                let model = self.current.get(&conversation).copied();
                let cached = CachePlacement::of(usage.billed, usage.prompt, usual);
                self.count(usage.request, cost(usage.billed, cached, false, model));
            }
            Event::Billed {
                request,
                billed,
                of,
                model,
            } => {
                match of {
                    CostOf::Response if billed.prompt() == 0 => {
                        self.outputs.insert(request);
                    }
                    CostOf::AllSoFar if billed.prompt() > 0 => {
                        self.outputs.clear();
                        self.unbilled.clear();
                    }
                    _ => {}
                }
                let own = model.map(|model| self.index_of(&model, conversation));
                let model = own.or_else(|| self.current.get(&conversation).copied());
                self.count(request, cost(billed, usual, of.is_sum(), model));
            }
            Event::OwnCost { of, nanodollars } => {
                self.own
                    .entry(conversation)
                    .or_default()
                    .add(of, nanodollars);
            }
            Event::Node(node) => self.unbilled.extend(node.request),
            Event::Reset(reset) => {
                let nth = self.compactions.len() as u64;
                let key = reset.key.unwrap_or(Key::of_number("compaction", nth));
                self.compactions.insert(key);
            }
            Event::Unreadable(_) => self.unreadable += 1,
            _ => {}
        }
    }

    /// Returns the index of a model of this session, which is added if it is new.
    fn index_of(&mut self, model: &str, of: Conversation) -> u32 {
        let provider = self.providers.get(&of).map(|name| &**name);
        let name = ModelAt { model, provider }.joined();
        let known = self.models.get_index_of(&*name);
        stored(known.unwrap_or_else(|| self.models.insert_full(name.into()).0))
    }

    /// Counts a response, or another line of it.
    fn count(&mut self, request: Key, cost: Cost) {
        let known = self.costs.entry(request).or_insert(cost);
        let billed = if cost.is_sum {
            known.billed.max(cost.billed)
        } else {
            known.billed.followed_by(cost.billed)
        };
        *known = known.merged(cost);
        known.billed = billed;
    }

    fn finish(mut self) -> Responses {
        for request in self.outputs {
            if let Some(cost) = self.costs.get_mut(&request) {
                cost.lacks_input = cost.billed.prompt() == 0 && cost.billed.output > 0;
            }
        }
        let is_lost =
            |request: &Key| !self.costs.contains_key(request) && !self.inherited.contains(request);
        let unbilled = self.unbilled.into_iter().filter(is_lost).collect();
        let mut conversations = IndexSet::new();
        let costs = self.costs.iter();
        let rows = costs.map(|(request, cost)| {
            let (of, _) = conversations.insert_full(cost.conversation);
            Row::new(*request, cost, stored(of))
        });
        let mut rows: Vec<Row> = rows.collect();
        rows.sort_unstable_by_key(Row::order);
        let own = self.own.into_iter();
        Responses {
            rows,
            conversations: conversations.into_iter().collect(),
            unbilled,
            compactions: self.compactions.into_iter().collect(),
            unreadable: self.unreadable,
            models: self.models.into_iter().collect(),
            own: own
                .map(|(conversation, own)| (conversation, own.sum()))
                .collect(),
        }
    }
}

/// Returns an index in the bits that a row has for it.
fn stored(ix: usize) -> u32 {
    u32::try_from(ix).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::event::BilledUsage;

    impl Responses {
        /// Creates these responses, by these models.
        pub(crate) fn made(costs: &[(Key, Cost)], models: &[&str]) -> Responses {
            let read = Reading {
                costs: costs.iter().copied().collect(),
                models: models.iter().map(|model| (*model).into()).collect(),
                ..Reading::default()
            };
            read.finish()
        }
    }

    #[test]
    fn what_is_kept_of_responses_is_all_of_them() {
        let cost = |conversation, model| Cost {
            billed: BilledUsage::new(5_000_000_000, 7),
            cached: CachePlacement::Beside,
            is_sum: true,
            lacks_input: false,
            at: "2026-11-22T23:59:59.123456789Z".parse().ok(),
            model,
            conversation,
        };
        let (main, side) = (Conversation::Main, Conversation::Side(Key::of("side")));
        let costs = [
            (Key::of("a"), cost(main, Some(1))),
            (Key::of("b"), cost(side, None)),
            (Key::of_number("response", 1), cost(side, Some(0))),
        ];
        let made = Responses {
            unbilled: vec![Key::of("c")],
            compactions: vec![Key::of("d")],
            unreadable: 3,
            own: vec![(side, 9)],
            ..Responses::made(&costs, &["m-1", "m-2"])
        };
        let kept = Responses::restore(&made.store()).unwrap();
        let mut all: Vec<(Key, Cost)> = kept.costs().collect();
        all.sort_by_key(|(key, _)| costs.iter().position(|(of, _)| of == key));
        assert_eq!(all, costs);
        assert_eq!(kept.model(&costs[0].1), Some("m-2".into()));
        assert_eq!(kept.model(&costs[1].1), None);
        assert_eq!(kept.own, [(side, 9)]);
        assert_eq!((kept.unbilled.len(), kept.compactions.len()), (1, 1));
        assert_eq!((kept.unreadable, kept.has_none()), (3, false));
        assert!(Responses::restore(b"").is_none());
    }
}
