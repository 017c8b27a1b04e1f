//! What the responses of a log cost.

use foldhash::{HashMap, HashSet};
use ingest::log::LogFile;
use ingest::reader::each_usage;
use model::event::{Billed, Event, Key};
use serde::{Deserialize, Serialize};
use std::io;

/// The cost of each response of a log, and what the log lacks.
#[derive(Default)]
pub(super) struct Responses {
    pub(super) costs: HashMap<Key, Cost>,
    /// Responses without usage.
    pub(super) unbilled: HashSet<Key>,
    /// How many compactions took a request that is not in the log.
    pub(super) compactions: u64,
}

/// The cost of a response, or of several as one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Cost {
    pub(super) billed: Billed,
    /// Whether it is of several requests.
    pub(super) is_sum: bool,
}

impl Responses {
    /// The responses of a log.
    pub(super) fn read(log: &LogFile) -> io::Result<Responses> {
        let mut read = Responses::default();
        each_usage(log, &mut |entry| match entry.event {
            Event::Usage(usage) => read.count(usage.request, Cost::of(usage.billed)),
            Event::Billed {
                request,
                billed,
                is_sum,
            } => read.count(request, Cost { billed, is_sum }),
            Event::Node(node) => read.unbilled.extend(node.request),
            Event::Reset(_) => read.compactions += 1,
            _ => {}
        })?;
        read.unbilled
            .retain(|request| !read.costs.contains_key(request));
        if !log.format.hides_compactions {
            read.compactions = 0;
        }
        Ok(read)
    }

    /// The bytes that a cache keeps of them.
    pub(super) fn store(&self) -> Option<Vec<u8>> {
        let costs: Vec<(&Key, &Cost)> = self.costs.iter().collect();
        postcard::to_stdvec(&(costs, &self.unbilled, self.compactions)).ok()
    }

    /// The responses that were stored.
    pub(super) fn restore(stored: &[u8]) -> Option<Responses> {
        let (costs, unbilled, compactions): (Vec<(Key, Cost)>, _, _) =
            postcard::from_bytes(stored).ok()?;
        Some(Responses {
            costs: costs.into_iter().collect(),
            unbilled,
            compactions,
        })
    }

    /// Counts a response. Lines and files repeat it, with numbers that rise.
    pub(super) fn count(&mut self, request: Key, cost: Cost) {
        let known = self.costs.entry(request).or_default();
        known.billed = known.billed.max(cost.billed);
        known.is_sum |= cost.is_sum;
    }
}

impl Cost {
    fn of(billed: Billed) -> Cost {
        Cost {
            billed,
            is_sum: false,
        }
    }
}
