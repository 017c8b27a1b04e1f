//! Attributes again what was attributed since the last reset, where later reports have shown that it was done
//! on a wrong assumption: about the tokenizer, or about what becomes of thinking.
//!
//! The prompts stay, and so does what was expected of them. A walk through all items, a few times in a
//! session at most.

use super::{Attribution, cost_in_delta, cost_in_first_prompt, give_excess_to_partial_items};
use crate::Source;
use crate::history::NodeIx;
use crate::history::record_tree::RecordTree;
use crate::history::{ItemIx, RequestIx};
use crate::sizes::items::parts;
use std::collections::{BTreeSet, HashMap};

/// The most revisions that a session makes.
const MOST_REVISIONS: u32 = 12;

/// The changes that a revision makes.
#[derive(Default)]
struct Plan {
    sizes: HashMap<ItemIx, Option<(u64, Source)>>,
    /// The system part of each request from `from` on.
    system: Vec<u64>,
    /// The first request whose parts add up.
    from: usize,
}

/// The items that a prompt of the plan is the first to hold, and the first without.
#[derive(Default, Clone)]
struct Change {
    entered: Vec<ItemIx>,
    left: Vec<ItemIx>,
}

impl Attribution {
    /// Attributes again what was attributed since the last reset, if that was refuted.
    pub(super) fn revise(&mut self, tree: &RecordTree) {
        if !std::mem::take(&mut self.needs_revision) || self.revisions >= MOST_REVISIONS {
            return;
        }
        let requests = self.attributed_requests();
        if requests.is_empty() {
            return;
        }
        self.revisions += 1;
        self.items.apply_rescale();
        self.move_thinking(&requests, tree);
        let plan = self.plan(&requests);
        for (item, size) in plan.sizes {
            self.items.set_attributed(item, size);
        }
        self.begin_generation();
        for (position, ix) in requests.iter().enumerate().skip(plan.from) {
            self.set_system(*ix, plan.system[position], tree);
        }
        if plan.from == requests.len()
            && let Some(last) = requests.last()
        {
            let system = self.fit_into_prompt_by_walk(*last, tree);
            self.set_system(*last, system, tree);
        }
        let first = requests[0];
        if plan.from == 0 && self.requests[first].previous.is_none() && self.prefix.is_some() {
            self.prefix = Some(plan.system[0]);
        }
    }

    /// Returns the requests from the last reset to the anchor, each attributed against the one before it.
    fn attributed_requests(&self) -> Vec<RequestIx> {
        let before = |ix: &RequestIx| self.requests[*ix].previous;
        let known = |ix: &RequestIx| self.attributed.of(*ix).is_some();
        let mut requests: Vec<RequestIx> = std::iter::successors(self.anchor, before)
            .take_while(known)
            .collect();
        requests.reverse();
        requests
    }

    /// Corrects which prompts held thinking.
    fn move_thinking(&mut self, requests: &[RequestIx], tree: &RecordTree) {
        let starts = requests.iter().map(|ix| self.requests[*ix].start);
        let sent: Vec<(NodeIx, NodeIx)> =
            starts.map(|start| (self.sent_from(start), start)).collect();
        let next = self.requests.len();
        let sent_next = self.sent_next_from(tree);
        for ix in self.items.thoughts.clone() {
            let node = self.items.all()[ix].node;
            if !self.items.is_thought_of(ix) || !tree.is_live(node) {
                continue;
            }
            let first = sent.partition_point(|(_, start)| *start <= node);
            let without = sent.partition_point(|(from, start)| *start <= node || *from <= node);
            let entered = requests.get(first).filter(|_| first < without);
            let left = requests
                .get(without)
                .copied()
                .or((node < sent_next).then_some(next));
            self.items.revise_thinking(ix, entered.copied(), left);
        }
    }

    /// Returns the sizes that the reports leave for the items, by the present calibration.
    fn plan(&self, requests: &[RequestIx]) -> Plan {
        let mut plan = Plan::default();
        let mut fresh: Vec<Vec<ItemIx>> = Vec::new();
        for (position, ix) in requests.iter().enumerate() {
            let (held, never_sent) = self.fresh(*ix, &requests[..position]);
            fresh.push(held);
            let unattributed = never_sent.into_iter().map(|ix| (ix, None));
            plan.sizes.extend(unattributed);
        }
        let changes = self.changes(requests, &fresh);
        let before = self.requests[requests[0]].previous;
        let mut unlogged = before.map(|ix| self.requests[ix].system);
        let mut held: i128 = 0;
        for ((ix, fresh), change) in requests.iter().zip(&fresh).zip(&changes) {
            held -= self.sum(&plan, change.left.iter());
            held += self.sum(&plan, change.entered.iter());
            let entered = change.entered.iter();
            let revealed = self.sum(&plan, entered.filter(|ix| self.revealed.contains(ix)));
            let before = unlogged.map(|tokens| i128::from(tokens) - revealed);
            let prompt = i128::from(self.requests[*ix].prompt);
            let mut estimates = self.estimates(fresh);
            if let Some(before) = before {
                let items = fresh.iter().map(|ix| &self.items.all()[*ix]);
                give_excess_to_partial_items(&mut estimates, items, prompt - held - before.max(0));
            }
            let room = u64::try_from(prompt - held).unwrap_or(0);
            let (most, source) = self.planned_cost(*ix, before, room, held, &estimates);
            let given = if estimates.is_empty() {
                0
            } else {
                most.min(room)
            };
            for (ix, part) in fresh.iter().zip(parts(&estimates, given)) {
                plan.sizes.insert(*ix, Some((part, source)));
            }
            held += i128::from(given);
            let system = u64::try_from(prompt - held).unwrap_or(0);
            plan.system.push(system);
            if held > prompt {
                // The content of the prompt before cannot all be in this one: no earlier prompt adds up with it.
                plan.from = plan.system.len();
            }
            unlogged = Some(system);
        }
        plan
    }

    /// Returns the items that a request attributes, of those that the `earlier` ones left: the items that its prompt held,
    /// and those that it did not hold after all. Thinking that was assumed to be stripped, and so was not attributed, is
    /// attributed by the first request that held it. It may have entered before all of them, by another tokenizer.
    fn fresh(&self, ix: RequestIx, earlier: &[RequestIx]) -> (Vec<ItemIx>, Vec<ItemIx>) {
        let attributed = self.attributed.of(ix).into_iter().flatten();
        let is_new = |item: &ItemIx| {
            let item = &self.items.all()[*item];
            let is_held_before = earlier.last().is_some_and(|last| item.held_by(*last));
            item.attributed.is_none() && item.held_by(ix) && !is_held_before
        };
        let thoughts = self.items.thoughts.iter().copied().filter(is_new);
        let all: BTreeSet<ItemIx> = attributed.chain(thoughts).collect();
        let held = |item: &ItemIx| self.items.all()[*item].held_by(ix);
        all.into_iter().partition(held)
    }

    /// Returns the cost of the items that a request attributes, beside the cost of others in its prompt and, unless it is
    /// the first, of the text that was unlogged before.
    fn planned_cost(
        &self,
        ix: RequestIx,
        unlogged: Option<i128>,
        room: u64,
        held: i128,
        estimates: &[f64],
    ) -> (u64, Source) {
        let sum: f64 = estimates.iter().sum();
        let calibration = self.items.calibrations().current();
        let request = &self.requests[ix];
        let (prompt, is_whole) = (request.prompt, request.is_whole);
        match unlogged {
            Some(unlogged) => {
                let rest = i128::from(prompt) - held - unlogged.max(0);
                cost_in_delta(calibration, rest, sum, estimates.len(), is_whole)
            }
            None => (cost_in_first_prompt(room, sum, is_whole), Source::Shared),
        }
    }

    /// Returns the tokens of items, as planned.
    fn sum<'i>(&self, plan: &Plan, items: impl Iterator<Item = &'i ItemIx>) -> i128 {
        let size = |ix: &ItemIx| {
            let planned = plan.sizes.get(ix).copied();
            let attributed = planned.unwrap_or(self.items.all()[*ix].attributed);
            attributed.map_or(0, |(tokens, _)| i128::from(tokens))
        };
        items.map(size).sum()
    }

    /// Returns the items that enter and leave with each request, without those that it attributes.
    fn changes(&self, requests: &[RequestIx], fresh: &[Vec<ItemIx>]) -> Vec<Change> {
        let mut changes = vec![Change::default(); requests.len() + 1];
        let mut attributed_at: HashMap<ItemIx, usize> = HashMap::new();
        for (position, fresh) in fresh.iter().enumerate() {
            attributed_at.extend(fresh.iter().map(|ix| (*ix, position)));
        }
        let position = |request| requests.partition_point(|ix| *ix < request);
        for (ix, item) in self.items.all().iter().enumerate() {
            let attributed = attributed_at.get(&ix).copied();
            for span in item.spans_held(self.requests.len()) {
                let (from, to) = (position(span.start), position(span.end));
                match attributed {
                    Some(at) if (from..to).contains(&at) => changes[to].left.push(ix),
                    Some(at) if to <= at => {}
                    _ if from < to => {
                        changes[from].entered.push(ix);
                        changes[to].left.push(ix);
                    }
                    _ => {}
                }
            }
        }
        changes
    }
}
