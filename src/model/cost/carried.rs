//! The cost of carrying items: every request reads its whole context again.

use crate::history::{ItemIx, RequestIx};
use crate::session::Session;
use crate::window::PriceRow;
use std::collections::HashMap;

/// The cost of items by the end of a number of requests.
///
/// The cost in dollars uses list prices of tokens read from a cache, of the models that read them: the
/// least it can have been. A request with a cold cache paid more.
#[derive(Debug, Clone)]
pub struct CarriedCost<'s> {
    session: &'s Session,
    /// The first request that counts.
    from: RequestIx,
    requests: RequestIx,
    /// The payments of the requests before each one.
    paid: Vec<Paid>,
}

/// The payment of the first requests for all that they read.
#[derive(Debug, Clone, Copy, Default)]
struct Paid {
    usd: f64,
    /// The number of them that have no price.
    unpriced: u32,
}

impl<'s> CarriedCost<'s> {
    /// Returns the costs by the end of the first `requests` requests.
    pub fn by(session: &'s Session, requests: RequestIx) -> CarriedCost<'s> {
        CarriedCost::between(session, 0, requests)
    }

    /// Returns the costs of all requests but the first ones that were inherited: another session made them.
    pub fn own(session: &'s Session) -> CarriedCost<'s> {
        let requests = session.requests();
        let inherited = requests.iter().take_while(|request| request.is_inherited);
        CarriedCost::between(session, inherited.count(), requests.len())
    }

    fn between(session: &'s Session, from: RequestIx, requests: RequestIx) -> CarriedCost<'s> {
        let requests = requests.min(session.requests().len());
        let mut paid = vec![Paid::default(); from + 1];
        let mut sum = Paid::default();
        let mut of: HashMap<&str, Option<&PriceRow>> = HashMap::new();
        for request in &session.requests()[from..requests] {
            let row = request.model.as_ref().and_then(|id| {
                let price = || session.rules().price_of(session.model_at(id));
                *of.entry(id).or_insert_with(price)
            });
            let price =
                row.and_then(|row| row.cached_read(request.prompt, request.billed.surcharges));
            match price {
                Some(price) => sum.usd += price,
                None => sum.unpriced += 1,
            }
            paid.push(sum);
        }
        CarriedCost {
            session,
            from,
            requests,
            paid,
        }
    }

    /// Returns the tokens times the requests whose prompt held the item.
    pub fn tokens(&self, ix: ItemIx, tokens: u64) -> u64 {
        let item = &self.session.items()[ix];
        let held = item.requests_held(self.requests) - item.requests_held(self.from);
        tokens.saturating_mul(held as u64)
    }

    /// Returns the cost of these tokens in US dollars over the requests whose prompt held the item; `None`: a model
    /// that read it has no price in the table.
    pub fn usd(&self, ix: ItemIx, tokens: u64) -> Option<f64> {
        let mut dollars = 0.0;
        let presence = &self.session.items()[ix];
        for span in presence.spans_held(self.requests) {
            let (from, to) = (self.paid[span.start], self.paid[span.end]);
            if from.unpriced != to.unpriced {
                return None;
            }
            dollars += to.usd - from.usd;
        }
        Some(tokens as f64 * dollars / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Event, Key, Usage};
    use crate::testing::Log;
    use crate::{Kind, Role};

    fn log() -> Log {
        Log::new()
            .model("dear")
            .item("a", Role::Tool, Kind::ToolResult, 1_000)
            .report(2_000)
            .report(2_100)
            .model("cheap")
            .report(2_200)
    }

    #[test]
    fn each_request_is_paid_at_its_models_price() {
        let log = log();
        let carried = CarriedCost::by(&log.session, 3);
        assert_eq!(carried.tokens(0, 1_000), 3_000);
        // Two at $2, one at $0.5, of a million tokens each.
        let usd = carried.usd(0, 1_000_000).unwrap();
        assert!((usd - 4.5).abs() < 1e-9, "{usd}");
        assert_eq!(CarriedCost::by(&log.session, 1).tokens(0, 1_000), 1_000);
        assert_eq!(CarriedCost::by(&log.session, 0).usd(0, 1_000), Some(0.0));
    }

    #[test]
    fn inherited_requests_are_paid_by_another_session() {
        let inherited = Usage {
            is_inherited: true,
            ..Usage::reported(Key::new(1), 2_000)
        };
        let log = Log::new()
            .model("dear")
            .item("a", Role::Tool, Kind::ToolResult, 1_000)
            .event(Event::Usage(Box::new(inherited)))
            .report(2_100)
            .report(2_200);
        let carried = CarriedCost::own(&log.session);
        assert_eq!(carried.tokens(0, 1_000), 2_000);
        let usd = carried.usd(0, 1_000_000).unwrap();
        assert!((usd - 4.0).abs() < 1e-9, "{usd}");
    }

    #[test]
    fn a_model_without_a_price_leaves_the_sum_unknown() {
        let log = log().model("unheard-of").report(2_300);
        assert_eq!(CarriedCost::by(&log.session, 4).usd(0, 1_000), None);
        assert!(CarriedCost::by(&log.session, 3).usd(0, 1_000).is_some());
    }

    #[test]
    fn the_largest_numbers_saturate() {
        let log = log();
        assert_eq!(
            CarriedCost::by(&log.session, 9).tokens(0, u64::MAX),
            u64::MAX
        );
    }
}
