//! The numbers of requests that are beside the log: in telemetry and in rows of a database.

use super::rows::Rows;
use decode::lenient::Count;
use formats::{SidecarRecord, StateUpdate};
use jiff::Timestamp;
use model::event::{Conversation, Key, Usage};
use std::collections::HashMap;

/// The sidecar records of a session, and what was looked for in them.
#[derive(Default)]
pub(super) struct Asides {
    records: Vec<SidecarRecord>,
    /// The span of each key, by its number among the records; `None`: there are several.
    spans: HashMap<Key, Option<usize>>,
    rows: Rows,
    found: NumbersPlace,
}

/// The place of the numbers of all that was read so far. It decides whether more records could change them.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum NumbersPlace {
    /// All numbers are in the log.
    #[default]
    InLog,
    /// All numbers are in the log or in rows: more rows are about later messages.
    InRows,
    /// Some numbers are in spans, or were not found yet.
    Elsewhere,
}

/// The numbers that were found for a response: the window, and the usage.
type Numbers = (Option<u64>, Option<Usage>);

impl Asides {
    /// Takes all records of the session.
    pub(super) fn take(&mut self, records: &[SidecarRecord]) -> StateUpdate {
        let spans = |records: &[SidecarRecord]| records.iter().filter(|r| r.at.is_none()).count();
        let update = match self.found {
            NumbersPlace::InLog => StateUpdate::Accepted,
            NumbersPlace::InRows if spans(records) == spans(&self.records) => StateUpdate::Accepted,
            NumbersPlace::InRows | NumbersPlace::Elsewhere => StateUpdate::RereadLog,
        };
        self.records = records.to_vec();
        self.rows.take(records);
        self.spans.clear();
        for (ix, record) in records.iter().enumerate().filter(|(_, r)| r.at.is_none()) {
            for key in &record.keys {
                let same = |other: usize| records[other].usage.request == record.usage.request;
                self.spans
                    .entry(*key)
                    .and_modify(|slot| *slot = slot.filter(|other| same(*other)).map(|_| ix))
                    .or_insert(Some(ix));
            }
        }
        update
    }

    /// Returns the numbers of a response that has one of these keys, or was written to this conversation at this time
    /// and has this output.
    pub(super) fn find(
        &mut self,
        names: impl Iterator<Item = Key>,
        (conversation, at, output): (Conversation, Option<Timestamp>, Count),
    ) -> Numbers {
        let span = |key| self.spans.get(&key).copied().flatten();
        let span = names.filter_map(span).next();
        let row = self.rows.find(conversation, at, output);
        self.found = self.found.max(match row {
            Some(_) => NumbersPlace::InRows,
            None => NumbersPlace::Elsewhere,
        });
        let of = |ix: usize| &self.records[ix];
        let mut usages = row.into_iter().chain(span).map(|ix| &of(ix).usage);
        let usage = usages.find(|usage| usage.prompt > 0).cloned();
        (span.and_then(|ix| of(ix).window), usage)
    }
}
