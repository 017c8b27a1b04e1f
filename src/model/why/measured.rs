//! Findings that were acted on, measured again: names that were listed and unused, and are no longer listed in later
//! sessions of their project.

use super::SessionFindings;
use super::listings::{ListKind, hardly_used_of};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// Fewer sessions before or after the change show nothing.
const LEAST_SESSIONS: usize = 2;
/// The most sessions before the change that are compared with those after it: lists grow and shrink for other reasons.
const MOST_BEFORE: usize = 10;
/// The interval is so many standard errors to each side: 90 % of a normal distribution.
const ERRORS: f64 = 1.645;

/// The tokens that a request has less since a list became shorter.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The kind of the names.
    pub kind: &'static str,
    /// The names. Text of a log: not safe to print.
    pub names: Vec<Box<str>>,
    /// The beginning of the first session without them.
    pub since: Timestamp,
    /// The tokens of the lists of this kind that a request has less, on average.
    pub less: f64,
    /// Half of the 90 % interval of `less`.
    pub error: f64,
    /// The tokens that the names had: what taking them out promised.
    pub promised: f64,
    /// The sessions before and after.
    pub sessions: [usize; 2],
}

/// Returns what was measured in the sessions of a project, each with its beginning. Sessions without any list are left
/// out: their logs may not have them.
pub fn measured(mut sessions: Vec<(Timestamp, &SessionFindings)>) -> Vec<Measured> {
    sessions.retain(|(_, found)| !found.listings.listed.is_empty());
    sessions.sort_by_key(|(began, _)| *began);
    let kinds = ListKind::ALL.into_iter();
    kinds
        .filter_map(|kind| {
            let last = sessions.len().checked_sub(LEAST_SESSIONS)?;
            let mut ends = (LEAST_SESSIONS..=last).rev();
            ends.find_map(|end| {
                let (before, after) = sessions.split_at(end);
                let from = before.len().saturating_sub(MOST_BEFORE);
                changed(kind, &before[from..], after)
            })
        })
        .collect()
}

type Sessions<'a> = &'a [(Timestamp, &'a SessionFindings)];

/// Returns what changed between some sessions and those after them, if it is sure.
fn changed(kind: ListKind, before: Sessions<'_>, after: Sessions<'_>) -> Option<Measured> {
    let names = |(_, found): &(Timestamp, &SessionFindings)| -> BTreeSet<Box<str>> {
        let listed = found.listings.listed(kind);
        listed.map(|listed| listed.name.clone()).collect()
    };
    let mut gone = names(before.last()?);
    for session in before {
        let listed = names(session);
        let is_used = |name: &str| session.1.listings.is_used(name);
        gone.retain(|name| listed.contains(name) && !is_used(name));
    }
    for session in after {
        let listed = names(session);
        gone.retain(|name| !listed.contains(name));
    }
    let before_alone = before.iter().map(|(_, found)| *found);
    if gone.is_empty() || hardly_used_of(kind, before_alone).is_none() {
        return None;
    }
    let sizes = |of: Sessions<'_>, is_counted: &dyn Fn(&str) -> bool| -> Vec<f64> {
        let size = |(_, found): &(Timestamp, &SessionFindings)| {
            let listed = found.listings.listed(kind);
            let listed = listed.filter(|listed| is_counted(&listed.name));
            listed.map(|listed| listed.tokens as f64).sum()
        };
        of.iter().map(size).collect()
    };
    let [was, is] = [before, after].map(|of| mean_and_variance(&sizes(of, &|_| true)));
    let (promised, _) = mean_and_variance(&sizes(before, &|name| gone.contains(name)));
    let (less, error) = (was.0 - is.0, ERRORS * (was.1 + is.1).sqrt());
    (less > error).then(|| Measured {
        kind: kind.into(),
        names: gone.into_iter().collect(),
        since: after[0].0,
        less,
        error,
        promised,
        sessions: [before.len(), after.len()],
    })
}

/// Returns the mean of some numbers, and the variance of that mean.
fn mean_and_variance(of: &[f64]) -> (f64, f64) {
    let n = of.len() as f64;
    let mean = of.iter().sum::<f64>() / n;
    let squares: f64 = of.iter().map(|one| (one - mean).powi(2)).sum();
    (mean, squares / (n - 1.0).max(1.0) / n)
}
