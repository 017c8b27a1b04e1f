//! Windows that were larger than the work needed: each request reads its whole context again.

use super::{Finding, FindingDetail, FindingKind, FindingPlace, Inputs, MOST_PLACES};
use crate::outlook::whatif::{SmallerWindows, TRIED, smaller_windows};
use serde::{Deserialize, Serialize};

/// The tokens that a session would have carried in a smaller window.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SmallerWindow {
    /// The window, in tokens.
    #[serde(rename = "tokens")]
    pub window: u64,
    /// All prompts together as they were, in tokens.
    #[serde(rename = "prompts_were")]
    pub was: u64,
    /// All prompts together with it.
    pub prompts: u64,
    /// The compactions that took place.
    pub compactions_were: u64,
    /// The compactions with it. What they cost is taken off what is saved.
    pub compactions: u64,
}

/// Returns a finding for the first window that halves the input.
pub(super) fn find(of: &Inputs<'_>) -> Option<Finding> {
    let SmallerWindows { real, smaller } = smaller_windows(of.session, &TRIED);
    let halved = |prompts: u64| prompts <= real.prompts / 2;
    let found = smaller.into_iter().find(|row| halved(row.usual.prompts))?;
    let saved = |usd: Option<f64>| Some(real.usd? - usd?);
    let usd = saved(found.usual.usd);
    let bounds = [&found.least_kept, &found.most_kept].map(|row| saved(row.usd));
    // A window that only moves the cost to compactions saves nothing.
    if usd.is_some_and(|usd| usd <= 0.0) {
        return None;
    }
    let compactions = found.usual.compactions.iter();
    Some(Finding {
        kind: FindingKind::Window,
        about: found.window.to_string().into(),
        count: 1,
        tokens: real.prompts.saturating_sub(found.usual.prompts),
        usd,
        range: bounds[0].zip(bounds[1]).map(|(a, b)| (a.min(b), a.max(b))),
        detail: FindingDetail::Window(SmallerWindow {
            window: found.window,
            was: real.prompts,
            prompts: found.usual.prompts,
            compactions_were: real.compactions.len() as u64,
            compactions: compactions.len() as u64,
        }),
        places: compactions
            .take(MOST_PLACES)
            .map(|done| FindingPlace::Request(done.request))
            .collect(),
    })
}
