//! Caches that the provider had to rebuild, by cause.

use super::{Finding, FindingDetail, FindingKind, FindingPlace, Inputs, MOST_PLACES};
use crate::cost::rebuilds::{Rebuild, rebuilds};
use std::cmp::Reverse;
use std::collections::BTreeMap;

pub(super) fn find(of: &Inputs<'_>) -> Vec<Finding> {
    let all = rebuilds(of.session);
    let mut by_cause: BTreeMap<&str, Vec<&Rebuild>> = BTreeMap::new();
    for rebuild in &all {
        by_cause
            .entry(rebuild.cause_name())
            .or_default()
            .push(rebuild);
    }
    by_cause
        .into_iter()
        .map(|(cause, all)| finding(cause, all))
        .collect()
}

fn finding(cause: &str, mut all: Vec<&Rebuild>) -> Finding {
    let tokens = all.iter().map(|rebuild| rebuild.tokens);
    let tokens = tokens.fold(0, u64::saturating_add);
    let usd = all.iter().map(|rebuild| rebuild.usd).sum();
    all.sort_by_key(|rebuild| Reverse(rebuild.tokens));
    let places = all.iter().take(MOST_PLACES);
    Finding {
        kind: FindingKind::Rebuild,
        about: cause.into(),
        count: all.len() as u64,
        tokens,
        usd,
        range: None,
        detail: FindingDetail::None,
        places: places
            .map(|rebuild| FindingPlace::Request(rebuild.request))
            .collect(),
    }
}
