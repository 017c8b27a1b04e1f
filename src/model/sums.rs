//! Running sums over a long context, so that its size after one more record takes no walk through it.
//!
//! They are made when somebody asks for the size of a long context, and follow the items that were touched since
//! then. Properties hold them equal to a walk.

use super::history::{ItemIx, RequestIx};
use super::session::Session;
use crate::content::{Content, Part, Tally};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// What a session keeps of the answer to a question, to answer it sooner the next time.
pub(super) struct Memo<T>(Mutex<Option<Box<T>>>);

impl<T> Memo<T> {
    /// Calls `with` with what is kept, or with what `make` makes where nothing is or `follow` fails.
    pub(super) fn get<A>(
        &self,
        follow: impl FnOnce(&mut T) -> bool,
        make: impl FnOnce() -> T,
        with: impl FnOnce(&mut T) -> A,
    ) -> A {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept
            .take()
            .and_then(|mut known| follow(&mut known).then_some(known));
        with(kept.insert(known.unwrap_or_else(|| Box::new(make()))))
    }
}

impl<T> Default for Memo<T> {
    fn default() -> Memo<T> {
        Memo(Mutex::new(None))
    }
}

impl<T> Clone for Memo<T> {
    /// A copy has to find out by itself.
    fn clone(&self) -> Memo<T> {
        Memo::default()
    }
}

impl<T> fmt::Debug for Memo<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memo").finish_non_exhaustive()
    }
}

/// The sums as of some record.
#[derive(Debug, Default)]
pub(super) struct Sums {
    anchor: Option<RequestIx>,
    /// How many touches, and changes of all estimates, have been seen.
    touches: u64,
    estimates: u32,
    parts: Vec<Part>,
    tally: Tally,
    /// Items in the context that the anchor's prompt did not hold.
    unsent: BTreeSet<ItemIx>,
}

impl Sums {
    fn of(session: &Session) -> Sums {
        let items = session.ledger().items();
        let mut sums = Sums {
            anchor: session.ledger().anchor(),
            touches: items.touches(),
            estimates: items.estimates(),
            ..Sums::default()
        };
        sums.extend(session);
        sums
    }

    /// Takes in what has changed. `false`: too much has.
    fn follow(&mut self, session: &Session) -> bool {
        let (ledger, items) = (session.ledger(), session.ledger().items());
        let Some(touched) = items.touched_since(self.touches) else {
            return false;
        };
        let mut changed: Vec<ItemIx> = touched.collect();
        let anchor = ledger.anchor();
        if anchor != self.anchor {
            // What an anchor's prompt held, a later one's holds too; but for the output of the first.
            let (Some(old), Some(new)) = (self.anchor, anchor) else {
                return false;
            };
            if new < old {
                return false;
            }
            for request in [old, new] {
                changed.extend(session.outputs_of(request));
            }
            changed.extend(&self.unsent);
        }
        if self.estimates != items.estimates() {
            changed.extend(items.unsettled());
        }
        self.anchor = anchor;
        (self.touches, self.estimates) = (items.touches(), items.estimates());
        for ix in changed {
            if ix < self.parts.len() {
                self.update(ix, session);
            }
        }
        self.extend(session);
        true
    }

    /// Takes in the items that are new.
    fn extend(&mut self, session: &Session) {
        for ix in self.parts.len()..session.items().len() {
            self.parts.push(Part::default());
            self.update(ix, session);
        }
    }

    fn update(&mut self, ix: ItemIx, session: &Session) {
        let item = &session.items()[ix];
        let (tokens, source) = session.tokens(ix);
        let now = session.part(item, tokens, source, self.anchor);
        let before = std::mem::replace(&mut self.parts[ix], now);
        self.tally.add(item, before, -1);
        self.tally.add(item, now, 1);
        let is_sent = |anchor| session.ledger().was_sent(item, anchor);
        match item.in_context() && self.anchor.is_some_and(|anchor| !is_sent(anchor)) {
            true => self.unsent.insert(ix),
            false => self.unsent.remove(&ix),
        };
    }
}

impl Session {
    /// What is in the context, summed up, and the part of it that the anchor's prompt did not hold. `None`: a walk
    /// through the context is as quick, or nothing follows, so that sums that follow it would take memory for nothing.
    pub(super) fn sums(&self) -> Option<(Tally, Content)> {
        let is_long = self.live_nodes() >= LONG && !self.past().is_forgotten();
        is_long.then(|| {
            self.sums_memo().get(
                |sums| sums.follow(self),
                || Sums::of(self),
                |sums| {
                    let sized = |ix: &ItemIx| {
                        let (tokens, source) = self.tokens(*ix);
                        (*ix, tokens, source)
                    };
                    let unsent = Content {
                        items: sums.unsent.iter().map(sized).collect(),
                        so_far: self.items().len(),
                        inputs: self.inputs(),
                    };
                    (sums.tally, unsent)
                },
            )
        })
    }
}

/// Contexts of fewer records are walked through.
const LONG: usize = if cfg!(test) { 4 } else { 4_096 };
