//! Computes what responses have used and what that costs by list prices: the one cost that lists, totals and screens show
//! of a session.

use crate::event::{BilledUsage, Key, Surcharges};
use crate::session::{Coverage, Session};
use crate::values::token_usage::{Billing, CachePlacement, TokenUsage};
use crate::window::{ModelAt, PriceRow, Rules};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The seconds of a part of the [recent spending](SessionSpending::recent): all zones begin their days at a multiple of it.
const PART_SECONDS: i64 = 900;
/// The parts of a day and a quarter: no day is longer, even when clocks are set back.
const RECENT_PARTS: i64 = 120;

/// The usage and the cost of some responses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spending {
    /// The tokens.
    pub spent: TokenUsage,
    /// The number of responses with numbers of their own.
    pub responses: u64,
    /// The number of sums of several responses.
    pub sums: u64,
    /// Their price. It is an integer so that no order of adding changes the sum.
    nanodollars: u64,
    /// The number of responses and sums without a price: the model that answered is not known, or its price.
    pub unpriced: u64,
    /// The surcharges that the price does not contain.
    pub lacking: Surcharges,
    /// The agent's own count for a whole session, in billionths of a US dollar; `None`: its log has none.
    pub own: Option<u64>,
}

impl Spending {
    /// Returns the cost of the responses that have a price, in US dollars.
    pub fn usd(&self) -> f64 {
        self.nanodollars as f64 / 1e9
    }

    /// Returns the agent's own count for a whole session, in US dollars; `None`: its log has none.
    pub fn own_usd(&self) -> Option<f64> {
        Some(self.own? as f64 / 1e9)
    }

    /// Returns true if they cost more than [`usd`](Spending::usd), or may.
    pub fn is_least(&self) -> bool {
        self.unpriced > 0 || !self.lacking.is_empty()
    }

    /// Returns true if none of them has a price.
    pub fn is_unpriced(&self) -> bool {
        self.unpriced > 0 && self.unpriced == self.responses + self.sums
    }

    /// Returns true if there are none.
    pub fn is_empty(&self) -> bool {
        self.responses + self.sums == 0
    }

    /// Returns this of one response as that of a sum of several.
    #[must_use]
    pub fn of_sum(self) -> Spending {
        Spending {
            responses: 0,
            sums: self.responses,
            ..self
        }
    }

    /// Adds what other responses used. What the agent itself counts is of a session, and stays.
    pub fn add(&mut self, other: Spending) {
        self.spent = self.spent.plus(other.spent);
        self.responses += other.responses;
        self.sums += other.sums;
        self.nanodollars = self.nanodollars.saturating_add(other.nanodollars);
        self.unpriced += other.unpriced;
        self.lacking = self.lacking.and(other.lacking);
    }
}

/// The prices of models, each looked up once.
pub struct PriceList<'r> {
    rules: &'r Rules,
    rows: HashMap<Box<str>, Option<&'r PriceRow>>,
}

impl<'r> PriceList<'r> {
    /// Returns the prices of these rules.
    pub fn new(rules: &'r Rules) -> PriceList<'r> {
        PriceList {
            rules,
            rows: HashMap::new(),
        }
    }

    /// Returns the usage and the cost of a response, of which this was billed, or of several as one.
    pub fn spending(
        &mut self,
        billed: BilledUsage,
        cached: CachePlacement,
        billing: Billing,
        model: Option<ModelAt<'_>>,
    ) -> Spending {
        let beside = if billing.reasoning_beside_output {
            billed.reasoning
        } else {
            0
        };
        let spent = TokenUsage::of(billed, cached, beside);
        let row = model.and_then(|model| self.row(model));
        // The log does not have which of several requests had a long prompt.
        let surcharges = billed.surcharges;
        let usd = row.and_then(|row| row.usd(&spent, surcharges));
        Spending {
            spent,
            responses: 1,
            sums: 0,
            nanodollars: usd.map_or(0, |usd| (usd * 1e9).round() as u64),
            unpriced: u64::from(usd.is_none()),
            lacking: row.map_or(Surcharges::NONE, |row| row.lacking(surcharges)),
            own: None,
        }
    }

    fn row(&mut self, of: ModelAt<'_>) -> Option<&'r PriceRow> {
        let name = of.joined();
        if let Some(row) = self.rows.get(&*name) {
            return *row;
        }
        let row = self.rules.price_of(of);
        self.rows.insert(name.into(), row);
        row
    }
}

/// The cost of a session so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SessionSpending {
    /// All of it.
    pub all: Spending,
    /// The spending of the last day before its newest record, in parts of a quarter of an hour.
    recent: Vec<SpendingPart>,
}

/// The spending of a quarter of an hour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct SpendingPart {
    /// The quarter, counted from 1970.
    nth: i64,
    /// A hash of the keys of its responses: logs that are copies of each other have the same.
    keys: u64,
    responses: u64,
    sums: u64,
    nanodollars: u64,
    unpriced: u64,
    lacking: Surcharges,
}

impl Session {
    /// Returns its cost so far, by the list prices of its responses; `None`: not all of its log was read. The responses
    /// of its sub-agents are theirs.
    pub fn spending(&self) -> Option<SessionSpending> {
        if self.coverage != Coverage::Whole {
            return None;
        }
        let rules = self.rules();
        let billing = rules.billing(self.agent);
        let mut prices = PriceList::new(rules);
        let mut spending = SessionSpending::default();
        let mut parts: BTreeMap<i64, SpendingPart> = BTreeMap::new();
        let newest = self.updated_at.map(part);
        let mut add = |key: Key, at: Option<Timestamp>, of: Spending| {
            spending.all.add(of);
            let nth = at.map(part);
            let Some(nth) =
                nth.filter(|nth| newest.is_some_and(|newest| *nth > newest - RECENT_PARTS))
            else {
                return;
            };
            let part = parts.entry(nth).or_insert(SpendingPart {
                nth,
                ..SpendingPart::default()
            });
            part.keys = part.keys.wrapping_mul(31) ^ key.get();
            part.responses += of.responses;
            part.sums += of.sums;
            part.nanodollars = part.nanodollars.saturating_add(of.nanodollars);
            part.unpriced += of.unpriced;
            part.lacking = part.lacking.and(of.lacking);
        };
        for request in self
            .requests()
            .iter()
            .filter(|request| !request.is_inherited)
        {
            let billed = request.billed;
            let cached = CachePlacement::of(billed, request.prompt, billing.cached);
            let model = request.model.as_deref().map(|id| self.model_at(id));
            let of = prices.spending(billed, cached, billing, model);
            add(request.key(), request.at, of);
        }
        // A report of the conversation takes the place of what else its log has of the same response.
        let beside = self
            .side_responses()
            .filter(|(key, _)| self.attribution().request_of(*key).is_none());
        for (key, side) in beside {
            let model = side.model.as_deref().map(|id| self.model_at(id));
            let of = prices.spending(side.billed, billing.cached, billing, model);
            let of = if side.is_sum { of.of_sum() } else { of };
            add(key, side.at, of);
        }
        spending.recent = parts.into_values().collect();
        Some(spending)
    }
}

/// Returns the quarter of an hour that a time is in.
fn part(at: Timestamp) -> i64 {
    at.as_second().div_euclid(PART_SECONDS)
}

/// The sum of what sessions have spent since a time.
#[derive(Debug, Clone, Default)]
pub struct SpendingSince {
    /// The sum. The tokens are not added up.
    pub sum: Spending,
    from: i64,
    seen: HashSet<SpendingPart>,
}

impl SpendingSince {
    /// Returns an empty sum of what is spent from this time on.
    pub fn new(from: Timestamp) -> SpendingSince {
        SpendingSince {
            from: part(from),
            ..SpendingSince::default()
        }
    }

    /// Adds what a session has spent. What a fork copied from another session is added once.
    pub fn add(&mut self, of: &SessionSpending) {
        for part in of.recent.iter().filter(|part| part.nth >= self.from) {
            if self.seen.insert(*part) {
                self.sum.add(Spending {
                    responses: part.responses,
                    sums: part.sums,
                    nanodollars: part.nanodollars,
                    unpriced: part.unpriced,
                    lacking: part.lacking,
                    ..Spending::default()
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(nth: i64, keys: u64, nanodollars: u64) -> SpendingPart {
        SpendingPart {
            nth,
            keys,
            responses: 1,
            sums: 0,
            nanodollars,
            unpriced: 0,
            lacking: Surcharges::NONE,
        }
    }

    fn session(recent: &[SpendingPart]) -> SessionSpending {
        SessionSpending {
            recent: recent.to_vec(),
            ..SessionSpending::default()
        }
    }

    #[test]
    fn a_sum_is_no_response() {
        let rules = Rules::default();
        let mut prices = PriceList::new(&rules);
        let billed = BilledUsage::new(900, 30);
        let billing = rules.billing("codex");
        let one = prices.spending(billed, CachePlacement::Within, billing, None);
        let mut all = one;
        all.add(one.of_sum());
        assert_eq!((all.responses, all.sums, all.unpriced), (1, 1, 2));
        assert!(all.is_unpriced() && !one.of_sum().is_empty());
        assert_eq!(all.spent.output, 60);
    }

    #[test]
    fn a_day_begins_at_midnight_and_has_what_a_fork_copied_once() {
        let midnight: Timestamp = "2026-03-14T23:45:00Z".parse().unwrap();
        let first = super::part(midnight);
        let before = part(first - 1, 1, 5_000_000_000);
        let copied = part(first, 2, 1_000_000_000);
        let mut since = SpendingSince::new(midnight);
        since.add(&session(&[before, copied, part(first + 1, 3, 20_000_000)]));
        since.add(&session(&[copied, part(first + 1, 4, 20_000_000)]));
        assert!((since.sum.usd() - 1.04).abs() < 1e-9, "{:?}", since.sum);
    }
}
