//! What the responses of a log cost.

use super::own_cost::OwnCost;
use foldhash::{HashMap, HashSet};
use ingest::cache::Value;
use ingest::log::LogFile;
use ingest::reader::each_usage;
use jiff::Timestamp;
use model::event::{Billed, CostOf, Event, Key, Lane};
use model::spent::Cached;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::io;

/// The cost of each response of a log, and what the log lacks.
#[derive(Default)]
pub(crate) struct Responses {
    pub(crate) costs: HashMap<Key, Cost>,
    /// Responses without usage.
    pub(crate) unbilled: HashSet<Key>,
    /// Compactions that took a request that is not in the log.
    pub(crate) compactions: HashSet<Key>,
    /// How many records could not be read.
    pub(crate) unreadable: u64,
    /// The models that answered.
    pub(crate) models: Vec<Box<str>>,
    /// What the agent itself counts, by session.
    pub(crate) own: HashMap<Lane, OwnCost>,
}

/// The cost of a response, or of several as one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cost {
    pub(crate) billed: Billed,
    /// How the provider counts what was cached.
    pub(crate) cached: Cached,
    /// Whether it is of several requests.
    pub(crate) is_sum: bool,
    /// Whether the log has the output of the response but not its input, nor a sum that includes it.
    pub(crate) lacks_input: bool,
    /// When the response began. Its text would take more time and room.
    #[serde(with = "jiff::fmt::serde::timestamp::nanosecond::optional")]
    pub(crate) at: Option<Timestamp>,
    /// The index of the model that answered, in [`Responses::models`].
    pub(crate) model: Option<u32>,
    /// The session that it belongs to.
    pub(crate) lane: Lane,
}

impl Responses {
    /// The responses of a log.
    pub(crate) fn read(log: &LogFile) -> io::Result<Responses> {
        let mut read = Responses::default();
        let mut models: HashMap<Lane, u32> = HashMap::default();
        let usual = log.format.cached;
        let mut outputs: HashSet<Key> = HashSet::default();
        let mut inherited: HashSet<Key> = HashSet::default();
        each_usage(log, &mut |entry| {
            let (lane, at) = (entry.lane, entry.at);
            let cost = |billed, cached, is_sum, model| Cost {
                billed,
                cached,
                is_sum,
                lacks_input: false,
                at,
                model,
                lane,
            };
            match entry.event {
                Event::Meta(meta) => {
                    if let Some(model) = meta.model {
                        models.insert(lane, read.index_of(&model));
                    }
                }
                Event::Usage(usage) => {
                    if let Some(model) = &usage.model {
                        models.insert(lane, read.index_of(model));
                    }
                    if usage.is_inherited {
                        inherited.insert(usage.request);
                        return;
                    }
                    let model = models.get(&lane).copied();
                    let cached = Cached::of(usage.billed, usage.prompt, usual);
                    read.count(usage.request, cost(usage.billed, cached, false, model));
                }
                Event::Billed {
                    request,
                    billed,
                    of,
                    model,
                } => {
                    match of {
                        CostOf::Response if billed.prompt() == 0 => {
                            outputs.insert(request);
                        }
                        CostOf::AllSoFar if billed.prompt() > 0 => {
                            outputs.clear();
                            read.unbilled.clear();
                        }
                        _ => {}
                    }
                    let own = model.map(|model| read.index_of(&model));
                    let model = own.or_else(|| models.get(&lane).copied());
                    read.count(request, cost(billed, usual, of.is_sum(), model));
                }
                Event::OwnCost { of, nanodollars } => {
                    read.own.entry(lane).or_default().add(of, nanodollars);
                }
                Event::Node(node) => read.unbilled.extend(node.request),
                Event::Reset(reset) => {
                    let nth = read.compactions.len() as u64;
                    let key = reset.key.unwrap_or(Key::of_number("compaction", nth));
                    read.compactions.insert(key);
                }
                Event::Unreadable(_) => read.unreadable += 1,
                _ => {}
            }
        })?;
        for request in outputs {
            if let Some(cost) = read.costs.get_mut(&request) {
                cost.lacks_input = cost.billed.prompt() == 0 && cost.billed.output > 0;
            }
        }
        read.unbilled
            .retain(|request| !read.costs.contains_key(request) && !inherited.contains(request));
        if !log.format.hides_compactions {
            read.compactions.clear();
        }
        Ok(read)
    }

    /// The model that gave a response.
    pub(crate) fn model(&self, cost: &Cost) -> Option<&str> {
        Some(self.models.get(cost.model? as usize)?)
    }

    /// What the agent itself counts as the cost of each session for which it logs that, in billionths of a US dollar.
    pub(crate) fn own_costs(&self) -> impl Iterator<Item = (Lane, u64)> {
        self.own.iter().map(|(lane, own)| (*lane, own.sum()))
    }

    /// The index of a model.
    fn index_of(&mut self, name: &str) -> u32 {
        let known = self.models.iter().position(|model| &**model == name);
        let ix = known.unwrap_or_else(|| {
            self.models.push(name.into());
            self.models.len() - 1
        });
        u32::try_from(ix).unwrap_or(u32::MAX)
    }

    /// What a cache keeps of them.
    pub(crate) fn store(&self) -> Option<Value> {
        let costs: Vec<(&Key, &Cost)> = self.costs.iter().collect();
        let lost = (&self.compactions, self.unreadable);
        let rest = (&self.unbilled, lost, &self.models, &self.own);
        let mut shown = postcard::to_stdvec(&(costs, rest)).ok()?;
        shown.shrink_to_fit();
        Some(Value {
            shown,
            ..Value::default()
        })
    }

    /// The responses that were stored.
    pub(crate) fn restore(stored: &[u8]) -> Option<Responses> {
        type Rest = (
            HashSet<Key>,
            (HashSet<Key>, u64),
            Vec<Box<str>>,
            HashMap<Lane, OwnCost>,
        );
        let (costs, rest): (Vec<(Key, Cost)>, Rest) = postcard::from_bytes(stored).ok()?;
        let (unbilled, (compactions, unreadable), models, own) = rest;
        Some(Responses {
            costs: costs.into_iter().collect(),
            unbilled,
            compactions,
            unreadable,
            models,
            own,
        })
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
}

impl Cost {
    /// What is known of a response that two logs have. One of them may be a copy that ends before the last line of the
    /// response.
    pub(crate) fn merged(self, other: Cost) -> Cost {
        let both = self.at.into_iter().chain(other.at);
        let billed = match self.billed.output.cmp(&other.billed.output) {
            Ordering::Less => self.billed.followed_by(other.billed),
            Ordering::Equal => self.billed.max(other.billed),
            Ordering::Greater => other.billed.followed_by(self.billed),
        };
        Cost {
            billed,
            is_sum: self.is_sum | other.is_sum,
            lacks_input: self.lacks_input && other.lacks_input,
            at: both.min(),
            model: self.model.or(other.model),
            ..self
        }
    }
}
