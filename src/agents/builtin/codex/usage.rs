//! Determines what a `token_count` reports: a new call, the agent's own estimate, or nothing new.
//!
//! `total_token_usage` is the lifetime's spend and distinguishes calls; `last_token_usage` is one call,
//! whose input is the context. Dividing the total by the window is the classic error.

use super::wire::TokenUsage;
use model::event::{BilledUsage, Key};

/// The content of a `token_count`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Report {
    /// A call that was not reported before, and what it cost.
    Call(TokenUsage, BilledUsage),
    /// The call of the newest `token_usage_record`, its request and what it cost.
    Recorded(TokenUsage, Key, Cost),
    /// Codex's own estimate of what is in the context, after a compaction.
    Estimate(u64),
    /// The newest call again, beside new rate limits.
    Again,
}

/// Remembers the counts that came before.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// Without what was written to a cache: only newer versions add that up.
    pub total: Option<TokenUsage>,
    /// True if the log has it.
    has_totals: bool,
    last: Option<TokenUsage>,
    /// The newest call of a `token_usage_record`, its request and its cost, until a `token_count` repeats it.
    pub recorded: Option<(TokenUsage, Key, Cost)>,
}

impl Meter {
    /// Reads the numbers of a `token_count`; `None`: they are of no use.
    pub fn read(&mut self, total: Option<TokenUsage>, last: Option<TokenUsage>) -> Option<Report> {
        let last = last?;
        // A sum that cannot be read is the one before and the call.
        let next = self.total.filter(|_| self.has_totals);
        let next = next.and_then(|before| before.plus(last));
        self.has_totals |= total.is_some();
        let total = total.or(next).unwrap_or(last).without_writes();
        let repeated = self.total == Some(total);
        let unchanged = self.last == Some(last);
        let before = self.total.replace(total);
        self.last = Some(last);
        if last.input.or_zero() == 0 && last.output.or_zero() == 0 {
            // After an overflow Codex sets the total to the window, and the last call to whatever is
            // left, often 0: that is no size of anything.
            let filled = !repeated && total.input.or_zero() == 0 && total.total.or_zero() > 0;
            return match last.total.or_zero() {
                0 => None,
                _ if filled || (repeated && unchanged) => None,
                estimate => Some(Report::Estimate(estimate)),
            };
        }
        // Rate limits are reported with the counts unchanged: no new call (10 % of the lines).
        if repeated {
            return Some(Report::Again);
        }
        last.input.0?;
        let recorded = self.recorded.take_if(|(usage, ..)| usage.agrees(&last));
        if let Some((_, request, cost)) = recorded {
            return Some(Report::Recorded(last, request, cost));
        }
        let last_alone = billed(last);
        // Where the lifetime's spend started again from zero, or grew by less than the last call, that call counts.
        let spent = before
            .and_then(|before| billed(total).checked_sub(billed(before)))
            .map(|spent| spent.with_cache(spent.cache_read, last_alone.cache_creation))
            .filter(|spent| spent.checked_sub(last_alone).is_some())
            .unwrap_or(last_alone);
        Some(Report::Call(last, spent))
    }
}

/// Returns the cost of a call.
pub(super) fn billed(usage: TokenUsage) -> BilledUsage {
    let (input, output) = (usage.input.or_zero(), usage.output.or_zero());
    let read = usage.cached.or_zero().min(input);
    BilledUsage::new(input, output)
        .with_cache(read, usage.cache_write.or_zero().min(input - read))
        .with_reasoning(usage.reasoning.or_zero().min(output))
}

/// The cost of a response to its thread.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    pub billed: BilledUsage,
    /// True if it is another thread's, which paid for it.
    pub is_inherited: bool,
}

impl Cost {
    pub fn new(billed: BilledUsage, is_inherited: bool) -> Cost {
        let own = (!is_inherited).then_some(billed);
        Cost {
            billed: own.unwrap_or_default(),
            is_inherited,
        }
    }
}
