//! Prices the course of a session under a rule, by the providers' lists, as if each prompt found the one before it in the
//! cache. The answers are left out: they are the same under every rule.

use crate::event::Surcharges;
use crate::history::RequestIx;
use crate::session::Session;
use crate::values::token_usage::TokenUsage;
use crate::window::PriceRow;
use std::collections::HashMap;

/// The prices of the requests of a session.
#[derive(Default)]
pub(super) struct CoursePrices<'s> {
    /// Of each request: its price, and the seconds for which its prompt is kept.
    requests: Vec<(Option<&'s PriceRow>, u32)>,
    /// The usual size of a summary, in tokens.
    summary: u64,
}

impl<'s> CoursePrices<'s> {
    pub(super) fn of(session: &'s Session, requests: RequestIx) -> CoursePrices<'s> {
        let mut of: HashMap<&str, Option<&PriceRow>> = HashMap::new();
        let requests = session.requests().iter().take(requests).map(|request| {
            let row = request.model.as_ref().and_then(|id| {
                let price = || session.rules().price_of(session.model_at(id));
                *of.entry(id).or_insert_with(price)
            });
            (row, u32::from(request.cache_minutes) * 60)
        });
        CoursePrices {
            requests: requests.collect(),
            summary: session.rules().summary,
        }
    }

    /// Returns the price of a request or, after the last one, its price.
    fn at(&self, ix: RequestIx) -> Option<(&'s PriceRow, u32)> {
        let (row, kept) = self.requests.get(ix).or(self.requests.last())?;
        Some(((*row)?, *kept))
    }
}

/// The sum of a course so far.
pub(super) struct Bill<'c> {
    prices: &'c CoursePrices<'c>,
    /// In US dollars; `None`: a request has no price.
    pub(super) usd: Option<f64>,
    /// The tokens that the cache has of the next prompt.
    cached: u64,
}

impl<'c> Bill<'c> {
    pub(super) fn new(prices: &'c CoursePrices<'c>) -> Bill<'c> {
        Bill {
            prices,
            usd: Some(0.0),
            cached: 0,
        }
    }

    /// Adds a request with a prompt of this size.
    pub(super) fn prompt(&mut self, ix: RequestIx, size: u64) {
        let read = self.cached.min(size);
        let usd = self
            .prices
            .at(ix)
            .and_then(|(row, kept)| row.prompt_usd(size, read, kept));
        self.usd = self.usd.zip(usd).map(|(sum, usd)| sum + usd);
        self.cached = size;
    }

    /// Adds the request that makes a summary of a context of this size. Nothing but the prefix stays in the cache.
    pub(super) fn compaction(&mut self, ix: RequestIx, before: u64, prefix: u64) {
        self.prompt(ix, before);
        let written = TokenUsage {
            output: self.prices.summary,
            ..TokenUsage::default()
        };
        let usd = self
            .prices
            .at(ix)
            .and_then(|(row, _)| row.usd(&written, Surcharges::NONE));
        self.usd = self.usd.zip(usd).map(|(sum, usd)| sum + usd);
        self.forget(prefix);
    }

    /// Leaves nothing but the prefix in the cache.
    pub(super) fn forget(&mut self, prefix: u64) {
        self.cached = self.cached.min(prefix);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::Rules;

    #[test]
    fn a_compaction_pays_for_its_summary_and_for_what_is_written_anew() {
        let rules = "[[price]]\nids = [\"own\"]\ncached_read = 1.0\ninput = 10.0\noutput = 50.0";
        let rules: Rules = toml::from_str(rules).unwrap();
        let row = rules.price_of("own");
        let prices = CoursePrices {
            requests: vec![(row, 0); 3],
            summary: 1_000,
        };
        let usd = |bill: Bill<'_>| (bill.usd.unwrap() * 1e6).round();
        let mut bill = Bill::new(&prices);
        bill.prompt(0, 1_000);
        bill.prompt(1, 3_000);
        assert_eq!(usd(bill), 10_000.0 + 1_000.0 + 20_000.0);
        let mut bill = Bill::new(&prices);
        bill.prompt(0, 3_000);
        bill.compaction(1, 3_000, 500);
        bill.prompt(1, 1_500);
        let summary = 3_000.0 + 50_000.0;
        assert_eq!(usd(bill), 30_000.0 + summary + 500.0 + 10_000.0);
        let unpriced = CoursePrices {
            requests: vec![(None, 0)],
            summary: 0,
        };
        let mut bill = Bill::new(&unpriced);
        bill.prompt(0, 1);
        assert_eq!(bill.usd, None);
    }
}
