//! The meaning of the sign before a cost that may be more.

use model::cost::spending::Spending;
use render::spending::cost;
use render::sure::AT_LEAST;

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
