//! Writes what responses cost.

use super::NONE;
use super::number::{LEAST_USD, counted, usd};
use super::sure::AT_LEAST;
use model::cost::spending::Spending;

/// Returns the cost of responses; [`NONE`] if none of them has a price, with [`AT_LEAST`] before it if some of it has
/// none.
pub fn cost(of: &Spending) -> String {
    cost_in(of, usd)
}

/// Returns the cost of responses as [`cost`] does, in dollars that are written in this way.
pub fn cost_in(of: &Spending, write: fn(f64) -> String) -> String {
    if of.is_unpriced() {
        return NONE.to_owned();
    }
    if !of.is_least() {
        return write(of.usd());
    }
    let least = Some(of.usd()).filter(|usd| *usd >= LEAST_USD);
    format!("{AT_LEAST}{}", write(least.unwrap_or_default()))
}

/// Returns what the price leaves out: `without 3 responses of unknown price and web search`; `None`: nothing.
pub fn left_out(of: &Spending) -> Option<String> {
    let mut parts = Vec::new();
    if of.unpriced > 0 {
        let responses = counted(of.unpriced, "response");
        parts.push(format!("{responses} of unknown price"));
    }
    if !of.lacking.is_empty() {
        parts.push(of.lacking.names().join(", ").replace('_', " "));
    }
    (!parts.is_empty()).then(|| format!("without {}", parts.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::event::Surcharges;

    #[test]
    fn a_cost_names_what_it_leaves_out() {
        let spending = |responses, unpriced, tier: &str| {
            let mut spending = Spending::default();
            (spending.responses, spending.unpriced) = (responses, unpriced);
            if !tier.is_empty() {
                spending.lacking = Surcharges::of_tier(tier);
            }
            spending
        };
        let words = |of: Spending| (cost(&of), left_out(&of));
        assert_eq!(words(spending(3, 0, "")), ("$0".to_owned(), None));
        let (cost, left_out) = words(spending(3, 1, "batch"));
        assert_eq!(cost, "≥$0");
        let expected = "without 1 response of unknown price and batch";
        assert_eq!(left_out.as_deref(), Some(expected));
        assert_eq!(words(spending(3, 3, "")).0, NONE);
    }
}
