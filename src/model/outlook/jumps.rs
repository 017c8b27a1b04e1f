//! Finds the largest growths of a context, and what came with each.
//!
//! A *jump* is what a context grew by between two counts of one epoch: from the report that a request was attributed
//! against to its own, with nothing taken off. The items that entered with the request are its parts, and the growth
//! is the sum of the parts, less the items that left, plus what no item explains. Where no report has come, a count is the
//! estimate before each answer of the model, so the parts add up to the growth and share its error.
//!
//! The first count of an epoch is no jump: before it is nothing, or a context that was replaced.

mod unreported;

use crate::Source;
use crate::event::Key;
use crate::session::replay::Timeline;
use crate::session::{Item, ItemIx, RequestIx, Session};
use jiff::Timestamp;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;

/// A growth of a context between two counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Jump {
    /// The request whose prompt was the first to be larger; `None`: it has no report yet.
    pub request: Option<RequestIx>,
    /// The time of its report, or of the newest item.
    pub at: Option<Timestamp>,
    /// The tokens that the context grew by; more than 0.
    pub tokens: u64,
    /// Half the width of the 90 % interval of `tokens`; 0: both sizes were reported.
    pub error: u64,
    /// The way in which `tokens` is known.
    pub source: Source,
    /// The items that came, the largest first.
    pub parts: Vec<JumpPart>,
    /// The tokens of the items that left between the two counts.
    pub left: u64,
    /// The rest of the growth: text that no log shows, as another list of tools. Below 0: the context lost such text.
    pub unlogged: i64,
    /// The line of its newest item, where no report shows it and something has come since; 0: it is shown by a report, or
    /// goes with the next request.
    pub line: u64,
    /// The record by which all of it had come, counted from 1, where no report shows it.
    record: u32,
    /// The items among which are the parts, where no report shows it.
    items: Range<ItemIx>,
}

impl Jump {
    /// Returns the moment by which all of it has come.
    pub fn moment(&self, timeline: &Timeline) -> Option<usize> {
        match self.request {
            Some(request) => timeline.of_request(request),
            None => timeline.at_record(self.record),
        }
    }
}

/// A tool call with its result, or another item that came with a jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JumpPart {
    /// The item; of a call and its result the larger one.
    pub item: ItemIx,
    /// Its tokens, as they are known today.
    pub tokens: u64,
    /// The way in which they are known.
    pub source: Source,
}

/// Returns the largest jumps of a session, the largest first and of equal ones the earliest, at most `most`. Linear in
/// requests, and in items times `most`.
pub fn jumps(session: &Session, most: usize) -> Vec<Jump> {
    let mut largest = Largest {
        most,
        jumps: Vec::new(),
    };
    let requests = session.requests();
    for (ix, request) in requests.iter().enumerate() {
        let before = request.previous.and_then(|before| requests.get(before));
        let grown = before.and_then(|before| request.prompt.checked_sub(before.prompt));
        if let Some(tokens) = grown.filter(|grown| *grown > 0) {
            largest.add(Jump {
                request: Some(ix),
                at: request.at,
                tokens,
                error: 0,
                source: Source::Reported,
                parts: Vec::new(),
                left: 0,
                unlogged: 0,
                line: 0,
                record: 0,
                items: 0..0,
            });
        }
    }
    unreported::for_each(session, |jump| largest.add(jump));
    largest.cut();
    let mut jumps = largest.jumps;
    explain(&mut jumps, session);
    for jump in jumps.iter_mut().filter(|jump| jump.request.is_none()) {
        jump.parts = unreported::parts(session, &jump.items).by_size();
    }
    jumps
}

/// The largest jumps of those that were added, and few more.
#[derive(Debug)]
struct Largest {
    most: usize,
    jumps: Vec<Jump>,
}

impl Largest {
    fn add(&mut self, jump: Jump) {
        self.jumps.push(jump);
        if self.jumps.len() >= self.most.saturating_mul(2).max(16) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.jumps.sort_by_key(|jump| {
            let request = jump.request.unwrap_or(RequestIx::MAX);
            (Reverse(jump.tokens), request, jump.record)
        });
        self.jumps.truncate(self.most);
    }
}

/// Finds what came and what left with the requests of jumps, in one pass over the items.
fn explain(jumps: &mut [Jump], session: &Session) {
    let requests = session.requests();
    let mut found: Vec<Explanation<'_>> = Vec::new();
    for jump in jumps {
        let request = jump
            .request
            .and_then(|ix| Some((ix, requests.get(ix)?.previous?)));
        if let Some((request, before)) = request {
            found.push(Explanation {
                request,
                before,
                parts: Parts::default(),
                left: 0,
                jump,
            });
        }
    }
    for (ix, item) in session.items().iter().enumerate() {
        let ends = [item.entered, item.left.map(|left| left.request)];
        let away = item.away.iter().flat_map(|away| [away.from, away.to]);
        for change in ends.into_iter().flatten().chain(away) {
            for explanation in &mut found {
                if explanation.before < change && change <= explanation.request {
                    explanation.add(ix, item, session);
                }
            }
        }
    }
    found.into_iter().for_each(Explanation::finish);
}

/// The items that came and left between the two counts of a jump, as they are found.
struct Explanation<'j> {
    jump: &'j mut Jump,
    request: RequestIx,
    before: RequestIx,
    parts: Parts,
    left: u64,
}

impl Explanation<'_> {
    /// Adds an item that came or left between the counts; some do both. The same item may be added again.
    fn add(&mut self, ix: ItemIx, item: &Item, session: &Session) {
        let held = |request| session.attribution().in_prompt(item, request);
        match (held(self.before), held(self.request)) {
            _ if self.parts.newest == Some(ix) => {}
            (false, true) => self.parts.add(ix, session),
            (true, false) => {
                self.parts.newest = Some(ix);
                self.left = self.left.saturating_add(session.tokens(ix).0);
            }
            _ => {}
        }
    }

    fn finish(self) {
        let jump = self.jump;
        let explained = i128::from(self.parts.tokens()) - i128::from(self.left);
        let unlogged = i128::from(jump.tokens) - explained;
        // Sizes of items have 32 bits, so the sum of all fits.
        jump.unlogged = i64::try_from(unlogged).unwrap_or_default();
        (jump.parts, jump.left) = (self.parts.by_size(), self.left);
    }
}

/// The parts of a jump, as they are found.
#[derive(Debug, Default)]
struct Parts {
    list: Vec<JumpPart>,
    /// The tokens of the larger item of each part.
    largest: Vec<u64>,
    by_call: HashMap<Key, usize>,
    /// The item that was added last.
    newest: Option<ItemIx>,
}

impl Parts {
    /// Adds an item to the part of its call, or as a part of its own.
    fn add(&mut self, item: ItemIx, session: &Session) {
        self.newest = Some(item);
        let (tokens, source) = session.tokens(item);
        let call = session.items()[item].call;
        let next = self.list.len();
        let at = call.map_or(next, |call| *self.by_call.entry(call).or_insert(next));
        let (Some(part), Some(largest)) = (self.list.get_mut(at), self.largest.get_mut(at)) else {
            self.list.push(JumpPart {
                item,
                tokens,
                source,
            });
            return self.largest.push(tokens);
        };
        if tokens > *largest {
            (part.item, *largest) = (item, tokens);
        }
        part.tokens = part.tokens.saturating_add(tokens);
        part.source = part.source.max(source);
    }

    fn tokens(&self) -> u64 {
        let tokens = self.list.iter().map(|part| part.tokens);
        tokens.fold(0, u64::saturating_add)
    }

    fn by_size(mut self) -> Vec<JumpPart> {
        self.list
            .sort_by_key(|part| (Reverse(part.tokens), part.item));
        self.list
    }
}

#[cfg(test)]
mod tests;
