//! Applies usage reports and the agent's own numbers to the state.

use super::State;
use crate::event::{Place, Usage};
use crate::history::Request;
use crate::state::agent_estimate::LoggedEstimate;
use jiff::Timestamp;

impl State {
    /// Takes in a usage report. Returns true if it is the first of its request.
    pub(crate) fn report(&mut self, usage: Usage, place: Place, at: Option<Timestamp>) -> bool {
        // Only a prompt before which there is no report is compared with it.
        if self.begins_midway && self.anchor().is_none() {
            let usual = self.rules.usual_prefix(self.agent, self.model(), 0);
            let most = usual.max(LEAST_USUAL_PREFIX) / 5 * 8;
            self.attribution.most_prefix = Some(most);
        }
        let coverage = self.coverage;
        if let Some(ix) = self.attribution.request_of(usage.request) {
            let tree = &mut self.tree;
            self.attribution
                .merge_report(ix, &usage, place, tree, coverage);
            return false;
        }
        if self.awaited.contains(&usage.request) {
            self.postpone_reset();
        }
        let agent_estimate = self.agent_estimate;
        let (sent_before, cache_minutes) = self.cache_clock.sent(&usage, at);
        let key = usage.request;
        let report = Request {
            place,
            at,
            model: self.attribution.items().calibrations().model().cloned(),
            predicted: None,
            agent_estimate: agent_estimate.and_then(|logged| logged.prompt_of(key)),
            system: 0,
            turn: self.turns,
            sent_before,
            cache_minutes,
            start: 0,
            generation: None,
            previous: None,
            usage,
        };
        self.attribution
            .add_report(report, &mut self.tree, coverage);
        if self.anchor().is_some_and(|anchor| anchor.key() == key) {
            self.refers_back = false;
        }
        true
    }

    /// Takes back what items have of the agent's own number: another one came.
    pub(crate) fn undo_own_count(&mut self) {
        self.attribution.undo_own_count();
    }

    /// Returns the tokens of all items in the context, and the part of them that is system prompt and tool lists. The
    /// part is not to the token before all sizes are worked out.
    pub(crate) fn tokens_in_context(&mut self) -> (u64, u64) {
        self.attribution.items_mut().tokens_in_context()
    }

    /// Takes in the agent's own number for its context, where ours is `used` tokens, `logged` of them in items.
    pub(crate) fn note_agent_estimate(&mut self, usage: &Usage, used: u64, logged: u64) {
        self.agent_estimate = Some(LoggedEstimate::new(usage, used, logged, &self.attribution));
        self.attribution.set_size_after_reset(usage.prompt);
        self.attribution.share_own_count(usage.prompt, &self.tree);
    }
}

/// The usual prefix counts as at least this many tokens; a first report is taken for prefix up to 8/5 of that.
const LEAST_USUAL_PREFIX: u64 = 20_000;
