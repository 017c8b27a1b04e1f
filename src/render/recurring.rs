//! A part of the context that no log shows and that comes and goes, in a few words.

use super::number;
use model::sizes::recurring::RecurringPart;

/// Returns its size, and how often it came and went: `11.6k, came 2×, went 1×`.
pub fn recurring(part: &RecurringPart) -> String {
    let RecurringPart {
        tokens, came, went, ..
    } = part;
    let tokens = number::tokens(*tokens);
    format!("{tokens}, came {came}×, went {went}×")
}
