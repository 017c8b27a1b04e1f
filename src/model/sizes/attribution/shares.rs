//! Computes the tokens that a report leaves for all items of a context together: for the first report, for one below
//! what is known, and for one by another tokenizer.

use super::{Attribution, alive, cost_in_first_prompt};
use crate::Source;
use crate::history::record_tree::RecordTree;
use crate::history::{ItemIx, RequestIx};
use crate::sizes::attribution::recent::RecentAttributions;
use std::collections::BTreeSet;

/// The sizes by a model before another one was chosen, which may not be asked.
#[derive(Debug, Clone)]
pub(super) struct Forgotten {
    model: Box<str>,
    sizes: Vec<(ItemIx, (u64, Source))>,
    anchor: RequestIx,
    anchors: BTreeSet<RequestIx>,
    generation: u32,
    attributed: RecentAttributions,
}

impl Attribution {
    /// Attributes the first report: items take their estimates, the rest is the unlogged prefix. Returns that prefix.
    pub(super) fn apportion_first_prompt(
        &mut self,
        fresh: &[ItemIx],
        estimates: &[f64],
        ix: RequestIx,
        held: u64,
        tree: &RecordTree,
    ) -> u64 {
        let request = &self.requests[ix];
        let (prompt, is_whole) = (request.prompt, request.is_whole);
        let sum: f64 = estimates.iter().sum();
        if held > prompt {
            // The kept items seemed larger than the whole prompt: their size is no longer known.
            self.items.apply_rescale();
            let attributed = |ix: &ItemIx| self.items.all()[*ix].attributed.is_some();
            let kept: Vec<ItemIx> = alive(tree, &self.items).filter(attributed).collect();
            let sizes = self.sizes(&kept);
            self.apportion(fresh, estimates, 0, Source::Shared);
            self.apportion(&kept, &sizes, prompt, Source::Shared);
            self.begin_generation();
            return 0;
        }
        let room = prompt - held;
        let target = cost_in_first_prompt(room, sum, is_whole);
        room - self.apportion(fresh, estimates, target, Source::Shared)
    }

    /// Rescales the numbers that were attributed by another tokenizer before: `held` tokens of items and `system` besides.
    /// Both keep their shares. Returns the system part.
    pub(super) fn rescale_for_tokenizer(&mut self, ix: RequestIx, held: u64, system: u64) -> u64 {
        let request = &self.requests[ix];
        let (start, prompt) = (request.start, request.prompt);
        let share = held as f64 / (held as f64 + system as f64);
        let target = ((prompt as f64 * share).round() as u64).min(prompt);
        self.items.rescale(start, held, target);
        prompt - target
    }

    /// Attributes items at their estimates. Returns the tokens that were given out.
    pub(super) fn attribute_estimates(&mut self, items: &[ItemIx], estimates: &[f64]) -> u64 {
        let sum: f64 = estimates.iter().sum();
        self.apportion(items, estimates, sum.round() as u64, Source::Shared)
    }

    /// Fits the known parts into a prompt that is smaller: all items that it held share it, in proportion to their
    /// sizes so far, each by itself. Returns the system part.
    pub(super) fn fit_into_prompt_by_walk(&mut self, ix: RequestIx, tree: &RecordTree) -> u64 {
        let was_sent = |item: &ItemIx| self.in_prompt(&self.items.all()[*item], ix);
        let held: Vec<ItemIx> = alive(tree, &self.items).filter(was_sent).collect();
        let sizes = self.sizes(&held);
        let sum: f64 = sizes.iter().sum();
        let prompt = self.requests[ix].prompt;
        self.begin_generation();
        let target = (sum.round() as u64).min(prompt - self.least_system(prompt));
        let given = self.apportion(&held, &sizes, target, Source::Shared);
        prompt - given
    }

    /// Fits the known parts into a prompt that is smaller. Items share it by a walk, or by a ratio to be worked out
    /// later where that happens so often that their sizes in between are not kept. Returns the system part.
    pub(super) fn fit_into_prompt(&mut self, ix: RequestIx, tree: &RecordTree) -> u64 {
        let request = &self.requests[ix];
        let (start, prompt) = (request.start, request.prompt);
        let held = self.items.attributed_before(start, tree);
        if held == 0 || self.items.may_resize_by_walk(tree.live().len()) {
            return self.fit_into_prompt_by_walk(ix, tree);
        }
        self.begin_generation();
        let target = held.min(prompt - self.least_system(prompt));
        self.items.rescale(start, held, target);
        prompt - target
    }

    /// Returns the least of a prompt that is the system part, in tokens.
    fn least_system(&self, prompt: u64) -> u64 {
        let most = match self.short_prompts() {
            Some(_) => prompt,
            None => prompt / 2,
        };
        self.prefix.unwrap_or(0).min(most)
    }

    /// Forgets the attributed numbers after a change of the tokenizer: none of them holds, and there is no anchor until
    /// the next report.
    ///
    /// If that happens so often that sizes in between are not kept, items keep theirs, and the next report scales them.
    ///
    /// `model` is the one that they are of: they come back with it.
    pub(crate) fn forget_attributed(&mut self, model: Option<&str>, tree: &RecordTree) {
        if !self.items.may_resize_by_walk(tree.live().len()) {
            let system = self.anchor.map(|anchor| self.requests[anchor].system);
            self.system_before_tokenizer_switch = system.or(self.system_before_tokenizer_switch);
        } else {
            self.system_before_tokenizer_switch = None;
            let sizes = self.undo_attribution(tree);
            if let Some((model, anchor)) = model.zip(self.anchor) {
                self.forgotten = Some(Box::new(Forgotten {
                    model: model.into(),
                    sizes,
                    anchor,
                    anchors: self.anchors.clone(),
                    generation: self.generation,
                    attributed: std::mem::take(&mut self.attributed),
                }));
            }
        }
        self.anchor = None;
        self.begin_generation();
        self.attributed.clear();
    }

    /// Takes what was attributed away. Returns it.
    fn undo_attribution(&mut self, tree: &RecordTree) -> Vec<(ItemIx, (u64, Source))> {
        let mut sizes = Vec::new();
        for ix in alive(tree, &self.items).collect::<Vec<_>>() {
            sizes.extend(self.items.all()[ix].attributed.map(|size| (ix, size)));
            self.items.set_attributed(ix, None);
        }
        sizes
    }

    /// Brings back what was attributed by a model for which this is true, if there was no other report since. Returns
    /// false if there is nothing.
    pub(crate) fn recall_attributed(&mut self, is_its: impl FnOnce(&str) -> bool) -> bool {
        let Some(old) = self.forgotten.take_if(|old| is_its(&old.model)) else {
            return false;
        };
        for (ix, size) in old.sizes {
            self.items.set_attributed(ix, Some(size));
        }
        self.anchor = Some(old.anchor);
        (self.anchors, self.generation) = (old.anchors, old.generation);
        self.attributed = old.attributed;
        true
    }
}
