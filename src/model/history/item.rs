//! One piece of context.

use super::{RequestIx, UNLOGGED};
use crate::event::{Key, NewItem, Place};
use crate::history::NodeIx;
use crate::{LeaveReason, Source};
use derive_more::Deref;
use jiff::Timestamp;
use std::ops::Range;

/// One piece of context, with its size and when it was there.
#[derive(Debug, Clone, PartialEq, Deref)]
pub struct Item {
    /// The item as its log has it. The name of its tool is shared with others.
    #[deref]
    pub logged: NewItem,
    /// Its place in the log.
    pub place: Place,
    /// The time at which it was written.
    pub at: Option<Timestamp>,
    /// The request whose output it is.
    pub output_of: Option<Key>,
    /// Its size in tokens, once a usage report has attributed it; see [`crate::state::State::tokens`].
    pub attributed: Option<(u64, Source)>,
    /// The first request whose prompt held it; `None`: not sent yet.
    pub entered: Option<RequestIx>,
    /// The request at which it left, and why; `None`: it is in the context.
    pub left: Option<Departure>,
    /// The spans in which it was out of the context and came back later: a branch was left and returned to, thinking was
    /// stripped, or a request was sent without it.
    pub(crate) away: Vec<Absence>,
    /// Its size before the last change of its size.
    pub(crate) previous: Option<PreviousSize>,
    /// The record that added it, counted from 1.
    pub(crate) record: u32,
    /// Its node in the tree.
    pub(crate) node: NodeIx,
}

/// The way in which an item left the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departure {
    /// The first request whose prompt no longer held it.
    pub request: RequestIx,
    /// The record that made it leave.
    pub(crate) record: u32,
    /// Why.
    pub why: LeaveReason,
}

/// A time for which an item was out of the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Absence {
    /// The first request that went without it.
    pub from: RequestIx,
    /// The first request that held it again; the same as `from`: no request went without it.
    pub to: RequestIx,
    /// The record that made it leave.
    pub(crate) gone: u32,
    /// Why.
    pub(crate) why: LeaveReason,
    /// The record that brought it back.
    pub(crate) back: u32,
}

/// The size that an item had before a record changed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PreviousSize {
    /// The record that changed it.
    pub(crate) until: u32,
    pub(crate) source: Source,
    pub(crate) tokens: u64,
}

impl Item {
    /// Returns true if the log shows it.
    pub(crate) fn is_logged(&self) -> bool {
        self.nth != UNLOGGED
    }

    /// Returns true if it precedes the conversation: the system prompt, the tools.
    pub fn is_prefix(&self) -> bool {
        self.kind.is_prefix()
    }

    /// Returns true if it is in the context now.
    pub fn in_context(&self) -> bool {
        self.left.is_none()
    }

    /// Returns the number of requests whose prompt held it, of `requests` so far.
    pub fn requests_held(&self, requests: usize) -> usize {
        self.spans_held(requests).map(|span| span.len()).sum()
    }

    /// Returns the requests whose prompt held it, of `requests` so far: spans that do not touch, in order.
    pub fn spans_held(&self, requests: usize) -> impl Iterator<Item = Range<RequestIx>> {
        let left = self
            .left
            .map_or(requests, |left| left.request.min(requests));
        let away = self
            .away
            .iter()
            .map(|away| (away.from, away.to))
            .chain([(left, left)]);
        away.scan(self.entered.unwrap_or(left), move |start, (from, to)| {
            let span = (*start).min(left)..from.min(left);
            *start = to.max(*start);
            Some(span)
        })
        .filter(|span| !span.is_empty())
    }

    /// Returns true if it was in the prompt of this request.
    pub fn held_by(&self, request: RequestIx) -> bool {
        self.was_sent_with(request) && self.left.is_none_or(|left| left.request > request)
    }

    /// Returns true if it was in the prompt of this request, unless it had left for good.
    pub(crate) fn was_sent_with(&self, request: RequestIx) -> bool {
        let mut away = self.away.iter();
        self.entered.is_some_and(|from| from <= request)
            && !away.any(|away| (away.from..away.to).contains(&request))
    }

    /// Returns true if it was thinking that had been stripped when this record had been read.
    pub(crate) fn is_stripped_at(&self, record: u32) -> bool {
        match self.left.filter(|left| left.record <= record) {
            Some(left) => left.why == LeaveReason::Stripped,
            None => self
                .away_at(record)
                .any(|away| away.why == LeaveReason::Stripped),
        }
    }

    /// Returns true if it was in the context when this record had been read.
    pub(crate) fn in_context_at(&self, record: u32) -> bool {
        self.record <= record
            && self.left.is_none_or(|left| left.record > record)
            && self.away_at(record).next().is_none()
    }

    fn away_at(&self, record: u32) -> impl Iterator<Item = &Absence> {
        let away = self.away.iter();
        away.filter(move |away| (away.gone..away.back).contains(&record))
    }
}
