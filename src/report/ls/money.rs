//! The cost of responses in words, with the sign of a cost that may be more.

use model::spending::Spending;
use render::NONE;
use render::number::{least_usd, usd};
use render::sure::AT_LEAST;

/// Returns the cost of responses; [`NONE`] if none of them has a price.
pub(super) fn cost(of: &Spending) -> String {
    if of.unpriced > 0 && of.unpriced == of.responses {
        return NONE.to_owned();
    }
    if !of.is_least() {
        return usd(of.usd());
    }
    let least = least_usd(of.usd()).unwrap_or_else(|| usd(0.0));
    format!("{AT_LEAST}{least}")
}

/// Returns the meaning of the sign before some of these costs; `None`: none of them has it.
pub(super) fn at_least<'s>(all: impl Iterator<Item = &'s Spending>) -> Option<String> {
    let signed = all.filter(|of| cost(of).starts_with(AT_LEAST));
    let mut sum = Spending::default();
    signed.for_each(|of| sum.add(*of));
    let mut why = Vec::new();
    if sum.unpriced > 0 {
        why.push("some responses have no price".to_owned());
    }
    if !sum.lacking.is_empty() {
        let names = sum.lacking.names().join(", ").replace('_', " ");
        why.push(format!("the price does not contain: {names}"));
    }
    (!why.is_empty()).then(|| format!("{AT_LEAST} at least: {}", why.join("; ")))
}
