//! The times at which tool results were taken out of the context, though no compaction took place.

use crate::history::RequestIx;
use crate::session::Session;
use crate::{Kind, LeaveReason, Source};
use jiff::Timestamp;
use serde::Serialize;
use std::collections::BTreeMap;

/// Tool results that left the context between two requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Clearing {
    /// The first request without them.
    pub request: RequestIx,
    /// The time of the answer.
    pub at: Option<Timestamp>,
    /// The number of results that left.
    pub results: usize,
    /// Their tokens.
    pub tokens: u64,
    /// The source of the size of the least known of them.
    pub source: Source,
}

/// Returns all of a session, in order. Results that the session no longer keeps are not counted.
pub fn clearings(session: &Session) -> Vec<Clearing> {
    let mut found: BTreeMap<RequestIx, Clearing> = BTreeMap::new();
    for (ix, item) in session.items().iter().enumerate() {
        let left = item.left.filter(|left| left.why == LeaveReason::Cleared);
        let Some(left) = left.filter(|_| item.kind == Kind::ToolResult) else {
            continue;
        };
        let (tokens, source) = session.tokens(ix);
        let clearing = found.entry(left.request).or_insert_with(|| {
            let request = session.requests().get(left.request);
            Clearing {
                request: left.request,
                at: request.and_then(|request| request.at),
                results: 0,
                tokens: 0,
                source,
            }
        });
        clearing.results += 1;
        clearing.tokens = clearing.tokens.saturating_add(tokens);
        if !source.is_known() {
            clearing.source = source;
        }
    }
    found.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, Key};
    use crate::testing::Log;

    #[test]
    fn results_that_left_together_are_one_clearing() {
        let log = Log::new().model("m").report(10_000);
        let log = log.result("a", "Read", 6_000).result("b", "Read", 3_000);
        let log = log.report(14_000).result("c", "Read", 900).report(15_000);
        let nodes = ["a", "b"].map(Key::of).to_vec();
        let log = log.event(Event::cleared(nodes, Vec::new()));
        let log = log.report(8_000);
        let all = clearings(&log.session);
        let [clearing] = all[..] else {
            panic!("{all:?}")
        };
        assert_eq!((clearing.request, clearing.results), (3, 2));
        assert!((2_000..5_000).contains(&clearing.tokens), "{clearing:?}");
    }
}
