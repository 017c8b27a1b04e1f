//! Finds the prompts that held thinking, by the treatment of it.

use super::Attribution;
use crate::history::NodeIx;
use crate::history::record_tree::RecordTree;
use crate::history::{ItemIx, RequestIx};
use crate::sizes::thinking::Thinking;
use crate::{Kind, Source};

/// The largest signature, in bytes, that only names thinking whose text the log has. Longer ones hold it.
const LONGEST_ID: u32 = 100;
/// The least thinking that an output shows by being larger than its text.
const LEAST_UNREPORTED: u64 = 64;

impl Attribution {
    /// Notes that a node which is no output was added to the live branch: perhaps thinking leaves with it.
    pub(crate) fn begin_input(&mut self, turn: bool, tree: &RecordTree) {
        let (node, now) = (tree.last(), self.requests.len());
        if turn {
            self.turns.insert(node);
        }
        self.newest_input = node;
        match self.items.calibrations().current().thinking {
            Thinking::Never => self.items.strip_thinking(node, now),
            Thinking::Leaves if turn => self.items.strip_thinking(node, now),
            Thinking::Leaves | Thinking::Stays => {}
        }
    }

    /// Strips the thinking that another model is not sent. Where its first prompt is nearer to its size without any,
    /// all thinking before it leaves.
    pub(super) fn strip_at_switch(&mut self, ix: RequestIx, tree: &RecordTree) {
        let Some(last) = self.anchor.map(|anchor| &self.requests[anchor]) else {
            return;
        };
        let request = &self.requests[ix];
        let (start, prompt) = (request.start, request.prompt);
        if last.model.as_ref() == request.model.as_ref() {
            return;
        }
        let tokens = |ix: ItemIx| u128::from(self.items.tokens(ix).0);
        let is_before = |ix: &ItemIx| self.items.all()[*ix].node < start;
        let in_context = |ix: &ItemIx| self.items.all()[*ix].in_context();
        let thoughts = self.items.thoughts_between(0, start).iter().copied();
        let thinking: u128 = thoughts.filter(in_context).map(tokens).sum();
        let new: u128 = self
            .items
            .unattributed()
            .filter(is_before)
            .map(tokens)
            .sum();
        let held = u128::from(last.system) + u128::from(self.items.attributed_before(start, tree));
        let with = held + new;
        let prompt = u128::from(prompt);
        if with.saturating_sub(thinking).abs_diff(prompt) < with.abs_diff(prompt) {
            self.items.strip_thinking(start, ix);
        }
    }

    /// The log may have an output without the thinking in it, and no number of that either. Where a prompt lacks about what
    /// the logged part of the output before it does not explain, that was thinking, which was not sent back: the items of
    /// the output take their estimates.
    pub(super) fn strip_unreported(&mut self, ix: RequestIx, tree: &RecordTree) {
        let Some(anchor) = self.anchor else {
            return;
        };
        let last = &self.requests[anchor];
        let Some(output) = last.output.filter(|_| last.reasoning.is_none()) else {
            return;
        };
        let logged = tree.outputs_of(last.key());
        let logged: Vec<ItemIx> = logged.flat_map(|node| tree.items(node)).collect();
        let is_text = |ix: &ItemIx| {
            let item = &self.items.all()[*ix];
            item.in_context() && !matches!(item.kind, Kind::Thinking | Kind::Unlogged)
        };
        if logged.is_empty() || !logged.iter().all(is_text) {
            return;
        }
        let estimates = self.estimates(&logged);
        let stays = estimates.iter().sum::<f64>().round() as u64;
        let hidden = output.saturating_sub(stays);
        if hidden <= stays.max(LEAST_UNREPORTED) {
            return;
        }
        let request = &self.requests[ix];
        let (start, prompt) = (request.start, request.prompt);
        let is_before = |ix: &ItemIx| self.items.all()[*ix].node < start;
        let new: Vec<ItemIx> = self.items.unattributed().filter(is_before).collect();
        let sum: f64 = new.iter().map(|ix| self.items.tokens(*ix).0 as f64).sum();
        let held = last.system as f64 + self.items.attributed_before(start, tree) as f64;
        let lacks = held + sum - prompt as f64;
        let half = hidden as f64 / 2.0;
        let calibration = self.items.calibrations().current();
        let tolerance = calibration.tolerance(sum, new.len()).max(half);
        if lacks > half && lacks < hidden as f64 + tolerance {
            self.apportion(&logged, &estimates, stays, Source::Shared);
            self.void_later(anchor);
        }
    }

    /// Returns true if the turn in which the anchor was sent was read from its beginning.
    pub(crate) fn has_turn_of_anchor(&self) -> bool {
        let start = self.anchor.map(|anchor| self.requests[anchor].start);
        start.is_none_or(|start| self.turns.range(..start).next().is_some())
    }

    /// Returns true if a turn that begins now removes thinking that was not read.
    pub(crate) fn strips_unread_thinking(&self) -> bool {
        let thinking = self.items.calibrations().current().thinking;
        thinking == Thinking::Leaves && !self.has_turn_of_anchor()
    }

    /// Returns the first node whose thinking is part of a prompt that ends before `start`.
    pub(super) fn sent_from(&self, start: NodeIx) -> NodeIx {
        self.sent_from_if(self.items.calibrations().current().thinking, start)
    }

    pub(super) fn sent_from_if(&self, thinking: Thinking, start: NodeIx) -> NodeIx {
        match thinking {
            Thinking::Stays => 0,
            Thinking::Never => start,
            Thinking::Leaves => {
                let turn = self.turns.range(..start).next_back();
                turn.copied().unwrap_or(0)
            }
        }
    }

    /// Returns the first node whose thinking is part of the next prompt, as far as the log shows.
    pub(super) fn sent_next_from(&self, tree: &RecordTree) -> NodeIx {
        match self.items.calibrations().current().thinking {
            Thinking::Never if tree.is_live(self.newest_input) => self.newest_input,
            Thinking::Never => 0,
            Thinking::Leaves | Thinking::Stays => self.sent_from(NodeIx::MAX),
        }
    }

    /// Returns the tokens of a delta that are left for its items, by the treatment of thinking. `rest` is the number
    /// under the present hypothesis.
    pub(super) fn rest_by_thinking(
        &self,
        rest: f64,
        last: RequestIx,
        ix: RequestIx,
        tree: &RecordTree,
    ) -> [f64; 3] {
        let grown = Thinking::ALL.map(|thinking| self.grown(thinking, last, ix, tree));
        let now = self.items.calibrations().current().thinking;
        match (grown[now.index()], grown) {
            (Some(now), [Some(stays), Some(leaves), Some(never)]) => {
                [stays, leaves, never].map(|grown| rest + now - grown)
            }
            _ => [rest; 3],
        }
    }

    /// Returns the tokens of thinking that one prompt held beyond those of another; `None`: not all of it was reported.
    fn grown(
        &self,
        thinking: Thinking,
        last: RequestIx,
        ix: RequestIx,
        tree: &RecordTree,
    ) -> Option<f64> {
        let (start, last_start) = (self.requests[ix].start, self.requests[last].start);
        let from = self.sent_from_if(thinking, start);
        let last_from = self.sent_from_if(thinking, last_start);
        if from == last_from {
            return self.thinking_between(last_start.max(from), start, tree);
        }
        let now = self.thinking_between(from, start, tree)?;
        Some(now - self.thinking_between(last_from, last_start, tree)?)
    }

    /// Returns the tokens of thinking between two nodes, in the context or stripped; `None`: not all of it was
    /// reported or can be counted.
    fn thinking_between(&self, from: NodeIx, to: NodeIx, tree: &RecordTree) -> Option<f64> {
        let mut sum = 0.0;
        for ix in self.items.thoughts_between(from, to) {
            let item = &self.items.all()[*ix];
            let node = item.node;
            if !self.items.is_thought_of(*ix) || !tree.is_live(node) {
                continue;
            }
            let request = item.output_of.and_then(|key| self.request_of(key))?;
            let is_reported = self.requests[request].reasoning.is_some();
            if !is_reported && item.size.opaque > LONGEST_ID {
                return None;
            }
            sum += self.items.attributed_now(*ix)?;
        }
        Some(sum)
    }
}
