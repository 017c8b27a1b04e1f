//! Counts how often the next request confirmed the predicted state of the prompt cache.

use crate::output::document::{Row, Section, Table};
use model::cost::cache_history::CachePoint;
use render::or_none;
use serde::Serialize;
use std::collections::BTreeMap;

/// Predictions of the state of prompt caches, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct CacheTally {
    /// Predicted warm, and read from the cache.
    pub warm: u64,
    /// Predicted cold, and read anew.
    pub cold: u64,
    /// Predicted warm, and read anew: the prompt changed, or the provider had dropped it.
    pub lost: u64,
    /// Predicted cold, and read from the cache.
    pub kept: u64,
    /// It could have been either.
    pub open: u64,
}

impl CacheTally {
    /// Counts a prediction.
    pub(super) fn add(&mut self, point: &CachePoint) {
        let count = match (point.predicted, point.was_warm) {
            (None, _) => &mut self.open,
            (Some(true), true) => &mut self.warm,
            (Some(true), false) => &mut self.lost,
            (Some(false), true) => &mut self.kept,
            (Some(false), false) => &mut self.cold,
        };
        *count += 1;
    }

    /// Returns the share of the predictions that were right; `None`: there were none.
    pub fn right(&self) -> Option<f64> {
        share(self.warm + self.cold, self.lost + self.kept)
    }

    /// Returns the share of them that would have been right if all were warm.
    pub fn always_warm(&self) -> Option<f64> {
        share(self.warm + self.kept, self.cold + self.lost)
    }
}

fn share(right: u64, wrong: u64) -> Option<f64> {
    let all = right + wrong;
    (all > 0).then(|| right as f64 / all as f64)
}

/// Returns the section on the predictions; `None`: there were none.
pub(super) fn section(caches: &BTreeMap<&'static str, CacheTally>) -> Option<Section> {
    let rows = caches.iter().map(|(agent, tally)| {
        let percent = |share: Option<f64>| {
            let percent = share.map(|share| format!("{:.1} %", share * 100.0));
            or_none(percent).into()
        };
        let counts = [tally.warm, tally.lost, tally.cold, tally.kept, tally.open];
        let [warm, lost, cold, kept, open] = counts.map(|count| count.to_string().into());
        let (right, always) = (percent(tally.right()), percent(tally.always_warm()));
        Row::from([(*agent).into(), warm, lost, cold, kept, open, right, always])
    });
    let headings = "agent | #warm | #lost | #cold | #kept | #either | #right | #always warm";
    let heading = "prompt caches: predicted before a request, and read from the cache or not";
    let legend = "lost: predicted warm, but a cache miss; kept: predicted cold, but a cache hit";
    let always = "always warm: the share that is right if all are predicted warm";
    let section = Section::new(heading).with(Table::new(headings, rows));
    (!caches.is_empty()).then(|| section.with(legend).with(always))
}
