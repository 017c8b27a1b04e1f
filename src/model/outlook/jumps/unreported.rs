//! Finds the jumps that no report shows: what came after the newest report of an epoch, or in a log without any.

use super::{Jump, Parts};
use crate::session::{Item, ItemIx, Session};
use crate::{LeaveReason, Role, Source};
use std::ops::Range;

/// Calls `with` with each growth from one answer of the model to the next that no report shows, without its parts.
pub(super) fn for_each(session: &Session, mut with: impl FnMut(Jump)) {
    let mut step: Option<Step> = None;
    for (ix, item) in session.items().iter().enumerate() {
        let Some(epoch) = Epoch::of_unreported(item, session) else {
            continue;
        };
        let answers = item.role == Role::Assistant;
        let is_same =
            |step: &&mut Step| step.epoch.number == epoch.number && (!answers || step.is_answer);
        if let Some(step) = step.as_mut().filter(is_same) {
            step.add(ix, answers, session);
            continue;
        }
        let is_first = step
            .as_ref()
            .is_none_or(|step| step.epoch.number != epoch.number);
        let mut next = Step {
            epoch,
            follows: epoch.has_reports || !is_first,
            is_answer: answers,
            items: ix..ix,
            tokens: 0,
            estimated: (0.0, 0),
        };
        next.add(ix, answers, session);
        if let Some(jump) = step
            .replace(next)
            .and_then(|step| step.jump(session, false))
        {
            with(jump);
        }
    }
    if let Some(jump) = step.and_then(|step| {
        let is_newest = step.epoch.number == session.resets().len();
        step.jump(session, is_newest)
    }) {
        with(jump);
    }
}

/// Returns the parts of a jump that no report shows.
pub(super) fn parts(session: &Session, items: &Range<ItemIx>) -> Parts {
    let mut parts = Parts::default();
    for ix in items.clone() {
        let item = session.items().get(ix);
        if item.is_some_and(|item| Epoch::of_unreported(item, session).is_some()) {
            parts.add(ix, session);
        }
    }
    parts
}

/// The items from one answer of the model up to the next.
#[derive(Debug)]
struct Step {
    epoch: Epoch,
    /// True if a count precedes it in its epoch.
    follows: bool,
    /// True if nothing but the answer has come so far.
    is_answer: bool,
    items: Range<ItemIx>,
    tokens: u64,
    /// The sum of its estimates, and their number.
    estimated: (f64, usize),
}

impl Step {
    fn add(&mut self, ix: ItemIx, is_answer: bool, session: &Session) {
        let (tokens, source) = session.tokens(ix);
        self.is_answer = is_answer;
        self.items.end = ix.saturating_add(1);
        self.tokens = self.tokens.saturating_add(tokens);
        if !source.is_known() {
            self.estimated.0 += tokens as f64;
            self.estimated.1 += 1;
        }
    }

    /// Returns its jump, if it is one. The newest step goes with the next request.
    fn jump(self, session: &Session, is_newest: bool) -> Option<Jump> {
        let (estimate, estimates) = self.estimated;
        let calibration = session.attribution().items().calibrations().current();
        let last = session.items().get(self.items.end.checked_sub(1)?)?;
        (self.follows && self.tokens > 0).then(|| Jump {
            request: None,
            at: last.at,
            tokens: self.tokens,
            error: match estimates {
                0 => 0,
                _ => calibration.error(estimate, estimates).round() as u64,
            },
            source: match estimates {
                0 => Source::Reported,
                _ => Source::Estimated,
            },
            parts: Vec::new(),
            left: 0,
            unlogged: 0,
            line: if is_newest { 0 } else { last.place.line() },
            record: last.record,
            items: self.items,
        })
    }
}

/// The epoch in which an item came.
#[derive(Debug, Clone, Copy)]
struct Epoch {
    /// The number of resets before it.
    number: usize,
    /// True if one of its requests has a report.
    has_reports: bool,
}

impl Epoch {
    /// Returns the epoch in which an item came that no prompt is known to have held, though it was in the context;
    /// `None`: it is no such item.
    fn of_unreported(item: &Item, session: &Session) -> Option<Epoch> {
        if item.entered.is_some() || item.is_prefix() {
            return None;
        }
        let resets = session.resets();
        let number = resets.partition_point(|reset| reset.record <= item.record);
        let before = number.checked_sub(1).and_then(|before| resets.get(before));
        let start = before.map_or(0, |reset| reset.request);
        let end = resets
            .get(number)
            .map_or(session.requests().len(), |reset| reset.request);
        let has_reports = start < end;
        let left = item.left.map(|left| left.why);
        let was_there = match left {
            None | Some(LeaveReason::Compaction | LeaveReason::Clear) => true,
            Some(LeaveReason::Replaced) => false,
            // A report that came later has the size without it.
            Some(_) => !has_reports,
        };
        was_there.then_some(Epoch {
            number,
            has_reports,
        })
    }
}
