//! Represents the span in which an item was in the context.

use super::{Absence, Departure, RequestIx};
use crate::LeaveReason;
use std::ops::Range;

/// The span in which an item was in the context.
#[derive(Debug, Clone, Copy)]
pub struct Presence<'a> {
    /// The first request whose prompt held it; `None`: not sent yet.
    pub(super) entered: Option<RequestIx>,
    /// The request at which it left, and why; `None`: it is in the context.
    pub(crate) left: Option<Departure>,
    /// The spans in which it was out of the context and came back later.
    pub(crate) away: &'a [Absence],
    /// The record that added it, counted from 1.
    pub(crate) record: u32,
}

impl<'a> Presence<'a> {
    /// Returns the number of requests whose prompt held it, of `requests` so far.
    pub fn requests_held(&self, requests: usize) -> usize {
        self.spans_held(requests).map(|span| span.len()).sum()
    }

    /// Returns the requests whose prompt held it, of `requests` so far: spans that do not touch, in order.
    pub fn spans_held(&self, requests: usize) -> impl Iterator<Item = Range<RequestIx>> + use<'a> {
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
        self.entered.is_some_and(|from| from <= request)
            && !self
                .away
                .iter()
                .any(|away| (away.from..away.to).contains(&request))
    }

    /// Returns true if it was thinking that had been stripped when this record had been read.
    pub(crate) fn is_stripped_at(&self, record: u32) -> bool {
        let away = self.away.iter();
        let mut away = away.filter(|away| (away.gone..away.back).contains(&record));
        let left = self.left.filter(|left| left.record <= record);
        match left {
            Some(left) => left.why == LeaveReason::Stripped,
            None => away.any(|away| away.why == LeaveReason::Stripped),
        }
    }

    /// Returns true if it was in the context when this record had been read.
    pub(crate) fn in_context_at(&self, record: u32) -> bool {
        self.record <= record
            && self.left.is_none_or(|left| left.record > record)
            && !self
                .away
                .iter()
                .any(|away| (away.gone..away.back).contains(&record))
    }
}
