//! What the compactions of a session did, as rows to scroll through.

use super::App;
use crate::model::compaction::{Compaction, SizedItem, compactions};
use crate::model::fleet::SessionKey;

/// One row of what a compaction did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// When, why, how large before and after.
    Sizes,
    /// What left, by role.
    Left,
    /// One of the largest items that left.
    Largest(SizedItem),
    /// What stayed.
    Kept,
    /// What its summary costs.
    Summary(SizedItem),
    /// Our size before less the agent's, in tokens.
    Difference(i64),
    /// An empty row to the next one.
    Gap,
}

/// A row, across rereads of the log: offset and line of the compaction's record, and which row of it.
pub type FactId = (u64, u64, usize);

/// What is worked out of the compactions of the session on screen.
#[derive(Debug, Default)]
pub(super) struct Facts {
    /// The newest first.
    pub compactions: Vec<Compaction>,
    /// Rows: a place among the compactions, and what of it.
    pub rows: Vec<(usize, Fact)>,
    pub ids: Vec<FactId>,
}

impl App {
    /// What the compactions of the session on screen did, the newest first.
    pub fn compactions(&self) -> &[Compaction] {
        &self.shown.facts.compactions
    }

    /// The rows of the list of compactions.
    pub fn facts(&self) -> impl Iterator<Item = (&Compaction, Fact)> {
        let Facts {
            compactions, rows, ..
        } = &self.shown.facts;
        rows.iter()
            .filter_map(|(at, fact)| Some((compactions.get(*at)?, *fact)))
    }

    pub(super) fn list_facts(&mut self, key: SessionKey) {
        let Some(session) = self.fleet.get(key) else {
            return;
        };
        let mut compactions = compactions(session);
        compactions.reverse();
        let (mut rows, mut ids) = (Vec::new(), Vec::new());
        for (at, done) in compactions.iter().enumerate() {
            let place = session.resets.get(done.reset).map(|reset| reset.place);
            let place = place.unwrap_or_default();
            for (nth, fact) in facts_of(done).into_iter().enumerate() {
                rows.push((at, fact));
                ids.push((place.offset, place.line, nth));
            }
        }
        self.shown.facts = Facts {
            compactions,
            rows,
            ids,
        };
    }
}

fn facts_of(done: &Compaction) -> Vec<Fact> {
    let mut facts = vec![Fact::Sizes, Fact::Left];
    facts.extend(done.largest.iter().copied().map(Fact::Largest));
    facts.push(Fact::Kept);
    facts.extend(done.summary.map(Fact::Summary));
    facts.extend(done.difference.map(Fact::Difference));
    facts.push(Fact::Gap);
    facts
}
