//! Keeps the circumstances besides its tokens that change the price of a response: its service tier, and searches in
//! the web.
//!
//! The settings of a thread name the tier of the turns that begin after them (`thread_settings_applied`, seen in files of
//! 0.144 and 0.145). A tier in a usage report is the one that the provider answered with.

use decode::lenient::Text;
use model::event::{Surcharge, Surcharges};

/// The circumstances that change the price of the next response.
#[derive(Debug, Default)]
pub(super) struct Price {
    /// The tier of the running turn.
    pub tier: Surcharges,
    /// The tier of turns that are still to begin.
    pub of_next_turn: Surcharges,
    /// True if the open response has searched in the web.
    pub has_searched: bool,
}

impl Price {
    /// Sets the tier of the running turn, if it is named.
    pub fn tier(&mut self, tier: &Text<'_>) {
        if let Some(tier) = tier.get() {
            self.tier = surcharges(tier);
            self.of_next_turn = self.tier;
        }
    }

    /// Returns the surcharges of a response that is now reported, perhaps with its tier.
    pub fn of_response(&mut self, tier: &Text<'_>) -> Surcharges {
        let tier = tier.get().map_or(self.tier, surcharges);
        if std::mem::take(&mut self.has_searched) {
            return tier.and(Surcharge::WebSearch.into());
        }
        tier
    }
}

/// Codex calls priority processing fast mode, as OpenAI does since July 2026.
pub(super) fn surcharges(tier: &str) -> Surcharges {
    match tier {
        "fast" => Surcharge::Priority.into(),
        tier => Surcharges::of_tier(tier),
    }
}
