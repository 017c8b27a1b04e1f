//! Which log a response belongs to, if several have it: forks and resumed sessions repeat what they continue. So the rows
//! that are no repeats add up to the totals of `ls`.

use crate::in_order::{Step, in_order};
use crate::ls::{Cost, Responses, in_all_logs};
use anyhow::Result;
use ingest::log::LogFile;
use model::event::Key;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// How many logs are read ahead.
const AHEAD: usize = 16;

/// The responses of all logs.
#[derive(Default)]
pub(super) struct Once {
    /// The first log that has it, by its index.
    first: HashMap<Key, u32>,
    /// What is known of those that another log has too, and the model that answered.
    again: HashMap<Key, (Cost, Option<Box<str>>)>,
}

impl Once {
    /// Reads all logs. Those that cannot be read have no responses.
    pub(super) fn read(logs: &[LogFile]) -> Result<Once> {
        let mut all = Once::default();
        // Of the first log that has them, until another one has them too.
        let mut costs: HashMap<Key, (Cost, Option<Box<str>>)> = HashMap::new();
        let mut ix = 0;
        in_order(logs, AHEAD, Responses::read, |step| {
            if let Step::Next(log, read) = step {
                if let Ok(responses) = read {
                    all.add(ix, log, &responses, &mut costs);
                }
                ix += 1;
            }
            Ok::<(), anyhow::Error>(())
        })?;
        Ok(all)
    }

    fn add(
        &mut self,
        ix: u32,
        log: &LogFile,
        responses: &Responses,
        costs: &mut HashMap<Key, (Cost, Option<Box<str>>)>,
    ) {
        for (request, cost) in &responses.costs {
            let key = everywhere(log, *request, cost);
            let model = responses.model(cost);
            match self.first.entry(key) {
                Entry::Vacant(first) => {
                    first.insert(ix);
                    costs.insert(key, (*cost, model.map(Into::into)));
                }
                Entry::Occupied(_) => {
                    let before = costs.remove(&key);
                    let known = self.again.entry(key);
                    let (merged, known) = known.or_insert_with(|| before.unwrap_or((*cost, None)));
                    *merged = merged.merged(*cost);
                    if known.is_none() {
                        *known = model.map(Into::into);
                    }
                }
            }
        }
    }

    /// What is known of a response of this log; `None`: it belongs to an earlier log.
    pub(super) fn of<'a>(
        &'a self,
        ix: u32,
        key: Key,
        own: (&'a Cost, Option<&'a str>),
    ) -> Option<(&'a Cost, Option<&'a str>)> {
        match self.first.get(&key) {
            Some(first) if *first != ix => None,
            Some(_) => Some(match self.again.get(&key) {
                Some((cost, model)) => (cost, model.as_deref()),
                None => own,
            }),
            // It was written since.
            None => Some(own),
        }
    }
}

/// The key of a response among those of all logs of all agents.
pub(super) fn everywhere(log: &LogFile, request: Key, cost: &Cost) -> Key {
    in_all_logs(request, cost).under(log.format.id)
}
