//! What the compactions of a session did, as rows to scroll through.

use crate::model::compaction::{Compaction, compactions};
use crate::model::session::{ItemIx, Session, SizedItem};

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

/// A row, across rereads of the log: the place of the compaction's record, and which row of it.
pub type FactId = (u64, usize);

/// What is worked out of the compactions of the session on screen.
#[derive(Debug, Default)]
pub struct Facts {
    /// The newest first.
    pub compactions: Vec<Compaction>,
    /// Rows: a place among the compactions, and what of it.
    rows: Vec<(usize, Fact)>,
    pub(super) ids: Vec<FactId>,
}

impl Facts {
    /// What the first `resets` compactions did.
    pub(super) fn of(session: &Session, resets: usize) -> Facts {
        let mut compactions = compactions(session);
        compactions.truncate(resets);
        compactions.reverse();
        let (mut rows, mut ids) = (Vec::new(), Vec::new());
        for (at, done) in compactions.iter().enumerate() {
            let place = session.resets().get(done.reset).map(|reset| reset.place);
            let place = place.unwrap_or_default();
            for (nth, fact) in facts_of(done).into_iter().enumerate() {
                rows.push((at, fact));
                ids.push((place.id(), nth));
            }
        }
        Facts {
            compactions,
            rows,
            ids,
        }
    }

    /// The rows of the list.
    pub fn rows(&self) -> impl Iterator<Item = (&Compaction, Fact)> {
        let rows = self.rows.iter();
        rows.filter_map(|(at, fact)| Some((self.compactions.get(*at)?, *fact)))
    }

    /// The reset that a row tells of.
    pub(super) fn reset_at(&self, row: usize) -> Option<usize> {
        let (at, _) = self.rows.get(row)?;
        Some(self.compactions.get(*at)?.reset)
    }

    /// The item that a row tells of.
    pub(super) fn item_at(&self, row: usize) -> Option<ItemIx> {
        match self.rows.get(row)? {
            (_, Fact::Largest((ix, ..)) | Fact::Summary((ix, ..))) => Some(*ix),
            _ => None,
        }
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
