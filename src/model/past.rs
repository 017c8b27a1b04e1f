//! What a session remembers of what it knew before: enough to tell its state as of any record.
//!
//! Items know when they came and left. Beside that, a [`Mark`] is set at every record that changed
//! anything else a context is worked out from, and whenever an item's number becomes another one the
//! former is kept. Nothing is worked out here that was not worked out when the record was read.

use super::calibration::Spread;
use super::event::Place;
use super::history::Former;
use super::said::Said;
use super::session::{Coverage, ItemIx, RequestIx, Session};
use super::{Gone, Source};
use jiff::Timestamp;
use std::sync::Arc;

/// All of it.
#[derive(Debug, Clone, Default)]
pub(super) struct Past {
    /// In the order of the log, at most one a record.
    pub(super) marks: Vec<Mark>,
    /// What items' tokens were taken for before their [`super::history::Item::former`], in no order.
    pub(super) formers: Vec<(u32, Former)>,
    /// What the log said of the model, in order.
    facts: Vec<Facts>,
    /// What the agent itself said of its context, in order, each with the record that told it.
    said: Vec<(Option<Said>, u32)>,
    /// Whether older moments were let go.
    forgotten: bool,
    /// How often items have left, come back, or got another number.
    changes: u32,
}

/// A record after which a session stood otherwise than before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) record: u32,
    pub(super) place: Place,
    pub(super) at: Option<Timestamp>,
    pub(super) standing: Standing,
}

/// What a context is worked out from, beside the items in it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Standing {
    /// Requests reported.
    pub(super) requests: u32,
    /// Resets that have taken place.
    pub(super) resets: u32,
    /// User turns begun.
    pub(super) turns: u32,
    changes: u32,
    facts: u32,
    said: u32,
    pub(super) anchor: Option<u32>,
    pub(super) unlogged: Unlogged,
    /// How wide the interval of an estimate is.
    pub(super) spread: Spread,
}

/// What is known of the part of the context that no item explains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unlogged {
    /// The anchor's system part, in tokens.
    Reported(u64),
    /// The prefix as it was before the reset, in tokens.
    Learned(u64),
    /// What the agent's own number for the whole context left when it was said, in tokens.
    Agent(u64),
    /// Nothing but what is usual with the agent.
    Usual,
}

/// What the log says of the model and its window.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Facts {
    pub(super) model: Option<Arc<str>>,
    pub(super) window: Option<u64>,
    pub(super) trigger: Option<u64>,
}

/// The most former numbers that are kept: some, and so many for each item. Only a log that goes back and
/// forth between tokenizers comes near it; its older moments then show later numbers.
const SOME_FORMERS: usize = 1_000;
const FORMERS_AN_ITEM: usize = 4;

fn short(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl Standing {
    pub(super) fn anchor(&self) -> Option<RequestIx> {
        self.anchor.map(|ix| ix as usize)
    }
}

impl Past {
    fn said_by(&self, standing: &Standing) -> (Option<Said>, u32) {
        let ix = (standing.said as usize).checked_sub(1);
        let said = ix.and_then(|ix| self.said.get(ix));
        said.copied().unwrap_or_default()
    }

    /// The record of the agent's newest number by then; 0: it had given none.
    pub(super) fn word_at(&self, standing: &Standing) -> u32 {
        self.said_by(standing).1
    }
}

impl Session {
    /// The record that is being read, counted from 1.
    pub(super) fn record(&self) -> u32 {
        u32::try_from(self.records).unwrap_or(u32::MAX)
    }

    /// How the session stands now.
    pub(super) fn standing(&self) -> Standing {
        let unlogged = match (self.anchor, self.prefix, self.agent_says) {
            (Some(anchor), _, _) => Unlogged::Reported(self.requests[anchor].system),
            (None, Some(learned), _) => Unlogged::Learned(learned),
            (None, None, Some(rest)) => Unlogged::Agent(rest),
            (None, None, None) => Unlogged::Usual,
        };
        Standing {
            requests: short(self.requests.len()),
            resets: short(self.resets.len()),
            turns: self.turns,
            changes: self.past.changes,
            facts: short(self.past.facts.len()),
            said: short(self.past.said.len()),
            anchor: self.anchor.map(short),
            unlogged,
            spread: self.calibration.spread(),
        }
    }

    /// Sets a mark where the session stands otherwise than at the last one.
    pub(super) fn mark(&mut self, place: Place, at: Option<Timestamp>) {
        self.note_said();
        let (standing, record) = (self.standing(), self.record());
        match self.past.marks.last_mut() {
            Some(last) if last.standing == standing => {}
            Some(last) if last.record == record => last.standing = standing,
            _ => self.past.marks.push(Mark {
                record,
                place,
                at,
                standing,
            }),
        }
    }

    /// How the session stood when a record had been read; `None`: it is not remembered.
    pub(super) fn standing_at(&self, record: u32) -> Option<&Standing> {
        let marks = &self.past.marks;
        let after = marks.partition_point(|mark| mark.record <= record);
        Some(&marks.get(after.checked_sub(1)?)?.standing)
    }

    /// What the log says of the model now.
    pub(super) fn facts(&self) -> Facts {
        Facts {
            model: self.model_shared(),
            window: self.meta.window,
            trigger: self.meta.trigger,
        }
    }

    /// Remembers it, if it is new.
    pub(super) fn note_facts(&mut self) {
        let facts = self.facts();
        if self.past.facts.last() != Some(&facts) {
            self.past.facts.push(facts);
        }
    }

    /// What the log had said of the model then.
    pub(super) fn facts_at(&self, standing: &Standing) -> Facts {
        let said = (standing.facts as usize).checked_sub(1);
        let facts = said.and_then(|ix| self.past.facts.get(ix));
        facts.cloned().unwrap_or_default()
    }

    /// Remembers what the agent itself says of its context, if that is another thing than before.
    fn note_said(&mut self) {
        let said = (self.said(), self.word_record());
        let before = self.past.said.last().copied().unwrap_or_default();
        if said != before {
            self.past.said.push(said);
        }
    }

    /// What the agent itself had said of its context then.
    pub(super) fn said_at(&self, standing: &Standing) -> Option<Said> {
        self.past.said_by(standing).0
    }

    /// An item leaves, unless it has left.
    pub(super) fn leave(&mut self, ix: ItemIx, why: Gone) {
        if self.items[ix].left.is_some() {
            return;
        }
        if self.items[ix].settled.is_none() {
            self.keep_former(ix);
        }
        self.items[ix].left = Some(super::history::Left {
            request: self.requests.len(),
            record: self.record(),
            why,
        });
        self.past.changes = self.past.changes.wrapping_add(1);
    }

    /// An item that had left with its branch is in the context again.
    pub(super) fn come_back(&mut self, ix: ItemIx) {
        let (now, record) = (self.requests.len(), self.record());
        let item = &mut self.items[ix];
        if let Some(left) = item.left.take() {
            item.away.push(super::history::Away {
                from: left.request,
                to: now,
                gone: left.record,
                back: record,
            });
            self.past.changes = self.past.changes.wrapping_add(1);
        }
    }

    /// An item's tokens are known otherwise from now on.
    pub(super) fn know(&mut self, ix: ItemIx, settled: Option<(u64, Source)>) {
        if self.items[ix].settled != settled {
            self.keep_former(ix);
            self.items[ix].settled = settled;
        }
    }

    /// Keeps what an item's tokens are taken for now: this record is about to change that. Only what
    /// stood when a record had been read counts, so the first call of a record holds.
    pub(super) fn keep_former(&mut self, ix: ItemIx) {
        let until = self.record();
        let item = &self.items[ix];
        if item.record == until || item.former.is_some_and(|former| former.until == until) {
            return;
        }
        let (tokens, source) = self.tokens(ix);
        let former = Former {
            until,
            source,
            tokens,
        };
        self.past.changes = self.past.changes.wrapping_add(1);
        let room = self.past.formers.len() < SOME_FORMERS + FORMERS_AN_ITEM * self.items.len();
        if let Some(older) = self.items[ix].former.replace(former)
            && room
        {
            self.past.formers.push((short(ix), older));
        }
    }

    /// The same for these items, and for all from a node on that no report has settled: estimates are
    /// about to be learned anew.
    pub(super) fn keep_former_from(&mut self, node: usize, items: &[ItemIx]) {
        let live = self.chain.live();
        let from = live.partition_point(|live| *live < node);
        let later = live[from..].iter().flat_map(|node| self.chain.items(*node));
        let open = |ix: &&ItemIx| self.items[**ix].settled.is_none();
        let all: Vec<ItemIx> = items.iter().chain(later.filter(open)).copied().collect();
        for ix in all {
            self.keep_former(ix);
        }
    }

    /// Forgets how it stood before.
    pub(super) fn forget_past(&mut self) {
        let last = self.past.marks.pop();
        self.past.marks = last.into_iter().collect();
        self.past.formers = Vec::new();
        self.past.forgotten = true;
    }

    /// Whether its first moment is the beginning of its log: all of that was read, and nothing let go.
    pub fn has_beginning(&self) -> bool {
        self.coverage == Coverage::Whole && !self.past.forgotten
    }
}
