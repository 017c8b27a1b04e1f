//! Caches that the provider had to rebuild, by cause.

use super::{Finding, FindingKind, FindingPlace, Inputs, Part, by_subject};
use crate::cost::rebuilds::rebuilds;

pub(super) fn find(of: &Inputs<'_>) -> Vec<Finding> {
    let all = rebuilds(of.session);
    let parts = all.iter().map(|rebuild| {
        let part = Part {
            tokens: rebuild.tokens,
            usd: rebuild.usd,
            place: FindingPlace::Request(rebuild.request),
        };
        (rebuild.cause_name(), part)
    });
    by_subject(FindingKind::Rebuild, parts)
}
