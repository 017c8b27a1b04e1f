//! A session at any moment of its log: its context at that time, as far as it was known.
//!
//! The session keeps when each item came and left, and its earlier states (`past`). A [`Timeline`] is the
//! list of the moments; a [`Snapshot`] is the session as of one of them, with its numbers at that time: an
//! item that had not been attributed has its estimate from then. Its present number is
//! [`State::tokens`].
//!
//! The snapshot at the end is the live one. Before it, the snapshot at a moment is the live one of a session
//! whose log ended there.

pub mod role_sizes;
mod sizes;

use crate::Source;
use crate::event::Place;
use crate::history::{Item, ItemIx, RequestIx, SizedItem};
use crate::session::context::Context;
use crate::sizes::calibration::Expectation;
use crate::sizes::items::OlderSize;
use crate::state::State;
use crate::state::agent_estimate::AgentEstimate;
use crate::state::content::Content;
use crate::state::past::Inputs;
use crate::window::Limits;
use jiff::Timestamp;

/// The kind of change at a moment. If one record made several, it is the first variant that applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ChangeKind {
    /// A compaction or clear, by its index in [`State::resets`].
    Reset(usize),
    /// A request was reported.
    Report(RequestIx),
    /// Items were added; this is the first.
    Item(ItemIx),
    /// Anything else: items left or came back, their numbers rose, or the model or window changed.
    #[default]
    Change,
}

/// A record that changed what the context is or what is known of it.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Moment {
    /// The record's place in the log.
    pub place: Place,
    /// The kind of change.
    pub what: ChangeKind,
    /// The newest time stamp so far, so that time never runs backwards.
    pub at: Option<Timestamp>,
    /// Requests reported so far.
    requests: usize,
    /// Resets so far.
    resets: usize,
    /// The user turn, counted from 1; 0: none has begun.
    turn: u32,
    record: u32,
}

/// The moments that a step leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The next moment.
    Record,
    /// The next moment at which a request was reported.
    Request,
    /// The next at which a user turn began.
    Turn,
    /// The next compaction or clear.
    Reset,
}

/// The moments of a session, in the order of the log.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    moments: Vec<Moment>,
}

impl Timeline {
    /// Returns the moments of a session at this time; make them again when it has grown. Linear in its items and
    /// requests. A session that has forgotten its past has only the last moment.
    pub fn of(state: &State) -> Timeline {
        let mut moments: Vec<Moment> = Vec::new();
        let mut marks = state.past().marks.iter().peekable();
        let items = state.items().iter().enumerate();
        let items = items.map(|(ix, item)| (ix, item.record, item.place, item.at));
        let mut items = items.peekable();
        // Nothing is known from before the first mark.
        let floor = marks.peek().map_or(0, |mark| mark.record);
        let mut now = Moment::default();
        loop {
            let came = items.peek().map(|(_, came, ..)| (*came).max(floor));
            let marked = marks.peek().map(|mark| mark.record);
            let Some(record) = came.into_iter().chain(marked).min() else {
                break;
            };
            let first = items.next_if(|(_, came, ..)| *came <= record);
            while items.next_if(|(_, came, ..)| *came <= record).is_some() {}
            let mark = marks.next_if(|mark| mark.record == record);
            let (place, at) = match (mark, first) {
                (Some(mark), _) => (mark.place, mark.at),
                (None, Some((_, _, place, at))) => (place, at),
                (None, None) => break,
            };
            let before = now;
            now = Moment {
                place,
                at: before.at.max(at),
                what: first.map_or(ChangeKind::Change, |(ix, ..)| ChangeKind::Item(ix)),
                record,
                ..before
            };
            if let Some(mark) = mark {
                now.requests = mark.inputs.requests;
                now.resets = mark.inputs.resets;
                now.turn = mark.inputs.turns;
            }
            if now.resets > before.resets {
                now.what = ChangeKind::Reset(now.resets - 1);
            } else if now.requests > before.requests {
                now.what = ChangeKind::Report(now.requests - 1);
            }
            // A log begins with facts about itself, before anything happens.
            if !moments.is_empty() || now.what != ChangeKind::Change {
                moments.push(now);
            }
        }
        Timeline { moments }
    }

    /// Returns the number of moments.
    pub fn len(&self) -> usize {
        self.moments.len()
    }

    /// Returns true if nothing has happened yet.
    pub fn is_empty(&self) -> bool {
        self.moments.is_empty()
    }

    /// Returns a moment, counted from 0.
    pub fn moment(&self, ix: usize) -> Option<&Moment> {
        self.moments.get(ix)
    }

    /// Returns the last moment: the session now; 0 if there are no moments.
    pub fn end(&self) -> usize {
        self.moments.len().saturating_sub(1)
    }

    /// Returns the moment to which a step forwards leads; `None`: there is nothing of that kind any more.
    pub fn next(&self, step: Step, from: usize) -> Option<usize> {
        let so_far = count(step, from, self.moments.get(from)?);
        self.first(step, so_far + 1)
    }

    /// Returns the moment to which a step backwards leads; `None`: there is nothing of that kind before.
    pub fn previous(&self, step: Step, from: usize) -> Option<usize> {
        let from = from.min(self.end());
        let before = from.checked_sub(1)?;
        let so_far = count(step, before, self.moments.get(before)?);
        // Where the moment before is the newest of its kind, that is where the step leads.
        self.first(step, so_far)
            .filter(|_| so_far > 0 || step == Step::Record)
    }

    /// Returns the first moment with this many of a kind.
    fn first(&self, step: Step, wanted: usize) -> Option<usize> {
        if step == Step::Record {
            return (wanted < self.len()).then_some(wanted);
        }
        let ix = self
            .moments
            .partition_point(|moment| count(step, 0, moment) < wanted);
        (ix < self.len()).then_some(ix)
    }

    /// Returns the moment at which an item was added.
    pub fn of_item(&self, item: &Item) -> Option<usize> {
        self.at_record(item.record)
    }

    /// Returns the moment at which an item left; `None`: it is in the context.
    pub fn of_leaving(&self, item: &Item) -> Option<usize> {
        self.at_record(item.left?.record)
    }

    /// Returns the moment at which a request was first reported.
    pub fn of_request(&self, request: RequestIx) -> Option<usize> {
        self.first(Step::Request, request.saturating_add(1))
    }

    /// Returns the moment of a reset.
    pub fn of_reset(&self, reset: usize) -> Option<usize> {
        self.first(Step::Reset, reset.saturating_add(1))
    }

    /// Returns the last moment up to this place in the log; the first where all are later. A place may have been
    /// recorded before its line was known.
    pub fn at_place(&self, place: Place) -> usize {
        let last = match place.line() {
            0 => place.on_line(u64::MAX),
            _ => place,
        };
        let up_to = |m: &Moment| m.place <= last;
        self.moments.partition_point(up_to).saturating_sub(1)
    }

    /// Returns the first moment from a record on.
    pub(crate) fn at_record(&self, record: u32) -> Option<usize> {
        let ix = self.moments.partition_point(|m| m.record < record);
        (ix < self.len()).then_some(ix)
    }
}

/// Returns the number of moments of a kind so far, this one included.
fn count(step: Step, ix: usize, moment: &Moment) -> usize {
    match step {
        Step::Record => ix,
        Step::Request => moment.requests,
        Step::Turn => moment.turn as usize,
        Step::Reset => moment.resets,
    }
}

/// A session as of a moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// The size of the context at that moment.
    pub context: Context,
    /// The window and the trigger as they were known.
    pub limits: Limits,
    /// The items in the context, in the order of the log, with their tokens as they were known.
    pub items: Vec<SizedItem>,
    /// Requests reported so far: the spans of items are compared with this number.
    pub requests: usize,
    /// Resets so far.
    pub resets: usize,
    /// User turns begun.
    pub turns: u32,
    /// The newest time stamp.
    pub at: Option<Timestamp>,
    /// The agent's own number for its context, if it is about this one.
    pub agent_estimate: Option<AgentEstimate>,
    /// The agent's newest notice about the context.
    pub notice: Option<ItemIx>,
    /// The prompt expected of the next report, and the reported one.
    pub hindsight: Option<PromptPrediction>,
}

/// The prompt expected of a report before it was read, and the reported one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PromptPrediction {
    /// The request: the next one of a past moment, the newest of the last moment and of one before a reset, after which
    /// the next one is about another context.
    pub request: RequestIx,
    /// The expected prompt, in tokens.
    pub expected: Expectation,
    /// The reported prompt, in tokens.
    pub came: u64,
}

impl State {
    /// Returns the session as of a moment of its [`Timeline`].
    pub fn snapshot_at(&self, moment: &Moment) -> Snapshot {
        let content = self.content_at(moment.record);
        let limits = self.limits_at(&content);
        self.snapshot_of(content, limits, moment.at)
    }

    /// Returns the items that had come by a moment and were not in the context, in the order of the log.
    pub fn departed_at(&self, moment: &Moment) -> impl Iterator<Item = ItemIx> + '_ {
        let record = moment.record;
        let items = self.items().iter().enumerate();
        items
            .take_while(move |(_, item)| item.record <= record)
            .filter(move |(_, item)| !item.in_context_at(record))
            .map(|(ix, _)| ix)
    }

    /// Returns the session when this was its context.
    pub(crate) fn snapshot_of(
        &self,
        content: Content,
        limits: Limits,
        at: Option<Timestamp>,
    ) -> Snapshot {
        let inputs = content.inputs;
        let requests = inputs.requests;
        Snapshot {
            context: self.context_of(&content),
            limits,
            requests,
            resets: inputs.resets,
            turns: inputs.turns,
            at,
            agent_estimate: self.past().estimate_at(&inputs),
            notice: self.notice(content.so_far, &inputs),
            hindsight: self.hindsight(requests, inputs.resets),
            items: content.items,
        }
    }

    /// Returns the hindsight of the next report, or of the newest where no other has come or a reset comes first.
    fn hindsight(&self, requests: usize, resets: usize) -> Option<PromptPrediction> {
        let reset = self.resets().get(resets);
        let request = if reset.is_some_and(|reset| reset.request <= requests) {
            requests.checked_sub(1)?
        } else {
            requests.min(self.requests().len().checked_sub(1)?)
        };
        let report = self.requests().get(request)?;
        Some(PromptPrediction {
            request,
            expected: report.predicted?,
            came: report.prompt,
        })
    }

    /// Returns the data from which the context was computed after a record.
    fn content_at(&self, record: u32) -> Content {
        let so_far = self.items().partition_point(|item| item.record <= record);
        let older = self.older_sizes_at(record, so_far);
        let mut items: Vec<SizedItem> = Vec::new();
        let mut in_order = true;
        let mut newest = 0;
        for (ix, item) in self.items().iter().take(so_far).enumerate() {
            if item.in_context_at(record) {
                let (tokens, source) = self.tokens_at(ix, record, &older);
                items.push((ix, tokens, source));
                in_order &= newest <= item.node;
                newest = item.node;
            }
        }
        // A record that was written again has its items at its first place.
        if !in_order {
            items.sort_by_key(|(ix, _, _)| self.items()[*ix].node);
        }
        Content {
            items,
            so_far,
            inputs: self.inputs_at(record),
        }
    }

    /// Returns the size of an item after a record, as far as it was known at that time.
    fn tokens_at(&self, ix: ItemIx, record: u32, older: &[OlderSize]) -> (u64, Source) {
        let previous = self.items()[ix].previous;
        let Some(previous) = previous.filter(|size| size.until > record) else {
            return self.tokens(ix);
        };
        let found = older.binary_search_by_key(&ix, |older| older.item);
        let size = found.map_or(previous, |at| older[at].size);
        (size.tokens, size.source)
    }

    /// Returns the older sizes of the first items as of a record, by item.
    fn older_sizes_at(&self, record: u32, so_far: usize) -> Vec<OlderSize> {
        let sizes = self.attribution().items().older_sizes.iter().copied();
        let mut held: Vec<OlderSize> = sizes
            .filter(|older| older.size.until > record && (older.item) < so_far)
            .collect();
        held.sort_unstable_by_key(|older| (older.item, older.size.until));
        held.dedup_by_key(|older| older.item);
        held
    }

    /// Returns the inputs from which a context was computed after a record, besides the items in it.
    fn inputs_at(&self, record: u32) -> Inputs {
        let inputs = self.past().inputs_at(record);
        inputs.unwrap_or_else(|| self.inputs())
    }
}

#[cfg(test)]
mod tests;
