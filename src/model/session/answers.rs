//! Answers for the session at its newest record.

use super::Session;
use crate::LeaveReason;
use crate::history::{Coverage, PastReset, Request};
use crate::session::context::Context;
use crate::session::limits::{Sizes, facts_after_switch};
use crate::session::replay::Snapshot;
use crate::window::{Base, CountRule, Limits};
use jiff::Timestamp;

impl Session {
    /// Returns the present size of the context.
    pub fn context(&self) -> Context {
        self.context_of(&self.content())
    }

    /// Returns true if the agent's own count, beside `context`, is the one that a report on the whole log would show.
    pub fn is_own_count_final(&self, context: &Context) -> bool {
        let counts_text = |rule: CountRule| rule.base == Base::O200k;
        let is_guessed = || self.count_rule().is_some_and(counts_text) && self.has_guessed();
        let is_read = self.coverage > Coverage::Tail && self.has_report_of_epoch();
        let is_read = is_read || self.is_final(context);
        self.is_own_count_whole() && is_read && !self.lacks_rewrite() && !is_guessed()
    }

    /// Returns true if all that the agent's own count adds to the context was read. Otherwise the count is too small.
    pub fn is_own_count_whole(&self) -> bool {
        // The tokens that it adds are of the time since the last reset.
        self.coverage >= Coverage::Epoch
            || self.newest_reset().is_some()
            || self.count_rule().is_none_or(|rule| !rule.earlier_reasoning)
    }

    /// Returns the present size of the context, without the agent's own count.
    pub(crate) fn calibrated_context(&self) -> Context {
        self.calibrated(&self.content())
    }

    /// Returns the window and the trigger, and how both are known.
    pub fn limits(&self) -> Limits {
        let left_out = self.facts().left_out;
        let changed = facts_after_switch(self.said(), self.model(), self.answered_at(), left_out);
        let facts = changed.unwrap_or_else(|| self.facts());
        let sizes = Sizes::of_model(&self.state, facts.model.as_ref());
        sizes.limits(&facts, &self.terms(), || self.calibrated_context().used)
    }

    /// Returns when the newest request was answered, as far as the log has times.
    pub(crate) fn answered_at(&self) -> Option<Timestamp> {
        let newest = self.requests().last();
        newest.and_then(|request| request.at).or(self.updated_at)
    }

    /// Returns the session as it is now.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot_of(self.content(), self.limits(), self.updated_at)
    }

    /// Returns the sizes of the newest prompts, in tokens, oldest first: at most `most`.
    pub fn newest_prompts(&self, most: usize) -> Vec<u64> {
        let requests = self.requests();
        let newest = requests.iter().skip(requests.len().saturating_sub(most));
        newest.map(|request| request.prompt).collect()
    }

    /// Returns the number of user turns on the live branch since the newest response with this prompt and output, if it
    /// is the last of its turn; `None`: there is no such response, or no turn since.
    pub fn turns_since(&self, prompt: u64, output: Option<u64>) -> Option<u64> {
        let (requests, tree) = (self.requests(), self.chain());
        let is_it = |request: &Request| {
            request.prompt == prompt
                && output.is_none_or(|output| request.output.is_none_or(|own| own == output))
        };
        let at = requests.iter().rposition(is_it)?;
        let next = requests.get(at + 1)?;
        let start = requests[at].start;
        let since = tree.live_from(start).filter(|node| tree.begins_turn(*node));
        let is_last = next.turn > requests[at].turn && tree.is_live(start);
        Some(since.count() as u64).filter(|turns| is_last && *turns > 0)
    }

    /// Returns the last compaction or clear, and whether a usage report followed it.
    pub fn newest_reset(&self) -> Option<(&PastReset, bool)> {
        let reset = self.resets().last()?;
        Some((reset, reset.request < self.requests().len()))
    }

    /// Returns the number of compactions in the part of the log that was read.
    pub fn compactions(&self) -> usize {
        let resets = self.resets().iter();
        resets
            .filter(|reset| reset.gone == LeaveReason::Compaction)
            .count()
    }

    /// Returns true if anything was said, or any request reported, as far as the log was read.
    pub fn has_begun(&self) -> bool {
        self.turns > 0 || (self.records > 0 && !self.requests().is_empty())
    }

    /// Returns true if the log, read whole, has no usage report: all of its context is estimated.
    pub fn is_unreported(&self) -> bool {
        self.coverage == Coverage::Whole && self.requests().is_empty()
    }
}
