//! Assigns each response to one log if several logs have it: forks and resumed sessions repeat the log that they
//! continue. Without the repeats, the rows add up to the totals of `ls`.

use crate::ReportContext;
use crate::ls::{Cost, Responses, in_all_logs};
use anyhow::Result;
use hashbrown::HashMap;
use ingest::log::LogFile;
use model::event::Key;
use model::lists::sessions::FileId;
use model::window::ModelAt;

/// The number of logs that are read ahead.
const AHEAD: usize = 16;

/// The responses of all logs. What they cost is kept only of those that several logs have.
#[derive(Default)]
pub(super) struct Once {
    /// The first log that has it.
    first: HashMap<Key, FileId>,
    /// The costs of responses in later logs that an earlier log has too, and the model that answered,
    /// [joined](ModelAt::joined) with its provider.
    again: HashMap<Key, (Cost, Option<Box<str>>)>,
}

impl Once {
    /// Reads all logs. Those that cannot be read have no responses.
    pub(super) fn read(context: &ReportContext, logs: &[LogFile]) -> Result<Once> {
        let mut all = Once::default();
        let (read, unread) = (Responses::read, &mut Vec::new());
        context.read_each(logs, AHEAD, unread, read, |log, responses| {
            all.add(log, &responses);
            Ok(())
        })?;
        Ok(all)
    }

    fn add(&mut self, log: &LogFile, responses: &Responses) {
        for (request, cost) in responses.costs() {
            let key = everywhere(log, request, &cost);
            let first = *self.first.entry(key).or_insert(log.facts.file);
            if first == log.facts.file {
                continue;
            }
            let model = responses.model(&cost);
            let (known, its_model) = self.again.entry(key).or_insert((cost, None));
            *known = known.merged(cost);
            if its_model.is_none() {
                *its_model = model.map(|of| of.joined().into());
            }
        }
    }

    /// Returns the cost and the model of a response of this log, with the facts from later logs; `None`: it belongs to
    /// an earlier log.
    pub(super) fn of<'a>(
        &'a self,
        log: &LogFile,
        key: Key,
        (cost, model): (Cost, Option<ModelAt<'a>>),
    ) -> Option<(Cost, Option<ModelAt<'a>>)> {
        // One that is not known was written since.
        let first = self.first.get(&key);
        if first.is_some_and(|first| *first != log.facts.file) {
            return None;
        }
        Some(match self.again.get(&key) {
            Some((later, its_model)) => {
                let its_model = its_model.as_deref().map(ModelAt::parted);
                (cost.merged(*later), model.or(its_model))
            }
            None => (cost, model),
        })
    }
}

/// Returns the key of a response among those of all logs of all agents.
pub(super) fn everywhere(log: &LogFile, request: Key, cost: &Cost) -> Key {
    in_all_logs(request, cost).under(log.format.id)
}
