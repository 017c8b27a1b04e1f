//! Running sums over a long context, so that its size after one more record takes no walk through it.
//!
//! They are made when somebody asks for the size of a long context, and follow the items that were touched since
//! then. Properties hold them equal to a walk.

use crate::history::{ItemIx, RequestIx};
use crate::state::State;
use crate::state::content::{Content, ContextSums, Contribution};
use std::collections::BTreeSet;

/// The sums as of some record.
#[derive(Debug, Default)]
pub(crate) struct RunningSums {
    anchor: Option<RequestIx>,
    /// The numbers of touches, and of changes of all estimates, that have been seen.
    touches: u64,
    estimates: u32,
    parts: Vec<Contribution>,
    tally: ContextSums,
    /// Items in the context that the anchor's prompt did not hold.
    unsent: BTreeSet<ItemIx>,
}

impl RunningSums {
    pub(crate) fn of(state: &State) -> RunningSums {
        let items = state.attribution().items();
        let mut sums = RunningSums {
            anchor: state.attribution().anchor(),
            touches: items.touches(),
            estimates: items.estimates(),
            ..RunningSums::default()
        };
        sums.extend(state);
        sums
    }

    /// Takes in what has changed. `false`: too much has.
    pub(crate) fn follow(&mut self, state: &State) -> bool {
        let (attribution, items) = (state.attribution(), state.attribution().items());
        let Some(touched) = items.touched_since(self.touches) else {
            return false;
        };
        let mut changed: Vec<ItemIx> = touched.collect();
        let anchor = attribution.anchor();
        if anchor != self.anchor {
            // A later anchor's prompt holds all that an earlier one's held, except the output of the first.
            let (Some(old), Some(new)) = (self.anchor, anchor) else {
                return false;
            };
            if new < old {
                return false;
            }
            for request in [old, new] {
                changed.extend(state.outputs_of(request));
            }
            changed.extend(&self.unsent);
        }
        if self.estimates != items.estimates() {
            changed.extend(items.unattributed());
        }
        self.anchor = anchor;
        (self.touches, self.estimates) = (items.touches(), items.estimates());
        for ix in changed {
            if ix < self.parts.len() {
                self.update(ix, state);
            }
        }
        self.extend(state);
        true
    }

    /// Takes in the items that are new.
    fn extend(&mut self, state: &State) {
        for ix in self.parts.len()..state.items().len() {
            self.parts.push(Contribution::default());
            self.update(ix, state);
        }
    }

    fn update(&mut self, ix: ItemIx, state: &State) {
        let item = &state.items()[ix];
        let (tokens, source) = state.tokens(ix);
        let now = state.part(item, tokens, source, self.anchor);
        let before = std::mem::replace(&mut self.parts[ix], now);
        self.tally.add(item, before, -1);
        self.tally.add(item, now, 1);
        let is_sent = |anchor| state.attribution().was_sent(item, anchor);
        if item.in_context() && self.anchor.is_some_and(|anchor| !is_sent(anchor)) {
            self.unsent.insert(ix)
        } else {
            self.unsent.remove(&ix)
        };
    }

    /// Returns the sums, and the part of the context that the anchor's prompt did not hold.
    pub(crate) fn content(&self, state: &State) -> (ContextSums, Content) {
        let sized = |ix: &ItemIx| {
            let (tokens, source) = state.tokens(*ix);
            (*ix, tokens, source)
        };
        let unsent = Content {
            items: self.unsent.iter().map(sized).collect(),
            so_far: state.items().len(),
            inputs: state.inputs(),
        };
        (self.tally, unsent)
    }

    /// Returns true if the sums are worth it: a walk through a short context is as quick, and where nothing follows,
    /// sums would take memory for nothing.
    pub(crate) fn are_worth_it(state: &State) -> bool {
        state.live_nodes() >= LONG_CONTEXT && !state.past().is_forgotten()
    }
}

/// The number of records below which a context is summed by walking through it.
const LONG_CONTEXT: usize = if cfg!(test) { 4 } else { 4_096 };
