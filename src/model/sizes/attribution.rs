//! Keeps the cost of each item, and the way in which it is known.
//!
//! A usage report attributes the past: what the prompt grew by since the report before is exact. The
//! model's own output takes what was reported for it; what is left belongs to the items in between.
//! One item left: it is *derived*. Several: *shared* by their estimates. What no estimate can explain
//! stays unexplained and goes to the *system* role. It goes to a message only if the log has just a part of that message.
//!
//! Invariant, for any input: the prompt of an attributed request is its system part plus the attributed tokens
//! of the items it held.
//!
//! Attributing a report takes time in proportion to the items since the report before. Only a correction walks through the
//! whole context: the known parts turn out larger than a prompt, the tokenizer changes, or the branch does. Where the first
//! reports refute an assumption about the tokenizer or about thinking, all items since the last reset are attributed again
//! (`revision`).

mod branch;
mod by_agent;
mod cost;
mod deferred;
mod output;
mod pictures;
mod recent;
mod returning;
mod revision;
mod shares;
mod short;
#[cfg(test)]
mod tests;
mod thinking;

use crate::Source;
use crate::event::{Key, Parent, Part};
use crate::history::record_tree::RecordTree;
use crate::history::{Coverage, Item, ItemIx, NodeIx, PastReset, Request, RequestIx};
use crate::sizes::items::{Items, parts};
use crate::sizes::recurring::{Recurring, RecurringPart};
use cost::{cost_in_delta, cost_in_first_prompt, fits, give_excess_to_partial_items, lacks_items};
use deferred::DeferredWork;
use recent::RecentAttributions;
use returning::ReturnHistory;
use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroU32;
use std::sync::Arc;

/// The items, requests and resets of a session, and what the reports have attributed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attribution {
    items: Items,
    requests: Vec<Request>,
    resets: Vec<PastReset>,
    by_request: HashMap<Key, RequestIx>,
    /// The newest usable report on the live branch since the last reset.
    anchor: Option<RequestIx>,
    /// The newest node at which a request was attributed.
    newest_start: usize,
    /// Counts how often attributed numbers were replaced; older reports do not add up any more.
    generation: u32,
    /// The unlogged prefix, as the first report after the last reset left it.
    pub(crate) prefix: Option<u64>,
    /// The unlogged tokens of the last prompt before that reset.
    unlogged_before: Option<u64>,
    /// How often unlogged text that was lost at a reset came back one request later.
    returning: ReturnHistory,
    /// True if the log lacks the beginning of its conversation.
    pub(crate) lacks_beginning: bool,
    /// The most that is taken for the prefix, in tokens, where the log begins midway.
    pub(crate) most_prefix: Option<u64>,
    /// The requests that may be the anchor: on the live branch, and their attributed numbers still hold.
    anchors: BTreeSet<RequestIx>,
    /// The nodes of the live branch at which user turns began.
    turns: BTreeSet<NodeIx>,
    /// The newest node with items that are no output.
    newest_input: NodeIx,
    /// The items that each request since the last reset attributed.
    attributed: RecentAttributions,
    /// The requests whose prompts lacked items that the log has of them.
    short: BTreeSet<RequestIx>,
    /// Items that were logged after a prompt that held them: part of what was unlogged of it.
    revealed: BTreeSet<ItemIx>,
    /// True if what was attributed since the last reset rests on a refuted assumption.
    needs_revision: bool,
    /// True if an item did not fit its estimate while too few samples show the error of such estimates.
    awaits_calibration: bool,
    /// The number of revisions so far.
    revisions: u32,
    /// The system part of the last report before the tokenizer changed, until a report of the new one comes.
    system_before_tokenizer_switch: Option<u64>,
    /// The sizes that were attributed before that, until a report, a reset or another branch comes.
    forgotten: Option<Box<shares::Forgotten>>,
    /// Items that share the agent's own number.
    sized_by_own_count: Vec<ItemIx>,
    /// The work that was put off, since it would be done again and again.
    deferred: DeferredWork,
    /// The unlogged parts that come and go.
    recurring: Recurring,
    /// The largest prompt by model, without that of the newest request: another report may correct it.
    largest: HashMap<Option<Arc<str>>, u64>,
}

impl Attribution {
    pub(crate) fn new(items: Items) -> Attribution {
        Attribution {
            items,
            ..Attribution::default()
        }
    }

    pub(crate) fn items(&self) -> &Items {
        &self.items
    }

    pub(crate) fn items_mut(&mut self) -> &mut Items {
        &mut self.items
    }

    pub(crate) fn requests(&self) -> &[Request] {
        &self.requests
    }

    /// Changes the requests without attributing anything.
    #[cfg(test)]
    pub(crate) fn change_requests(&mut self, mut change: impl FnMut(&mut Request)) {
        for ix in 0..self.requests.len() {
            change(&mut self.requests[ix]);
        }
    }

    pub(crate) fn resets(&self) -> &[PastReset] {
        &self.resets
    }

    /// Returns the resets, to be changed without anything leaving.
    pub(crate) fn resets_mut(&mut self) -> &mut [PastReset] {
        &mut self.resets
    }

    /// Returns the request of this key, if it was reported.
    pub(crate) fn request_of(&self, key: Key) -> Option<RequestIx> {
        self.by_request.get(&key).copied()
    }

    /// Returns unlogged text that comes and goes.
    pub(crate) fn recurring(&self) -> impl Iterator<Item = &RecurringPart> {
        self.recurring.parts()
    }

    /// Returns the newest usable report on the live branch since the last reset.
    pub(crate) fn anchor(&self) -> Option<RequestIx> {
        self.anchor
    }

    /// Returns true if an item was in the prompt of this request, by the order of reports and by the order of records:
    /// a report may come late.
    pub(crate) fn in_prompt(&self, item: &Item, request: RequestIx) -> bool {
        item.held_by(request) && item.node < self.requests[request].start
    }

    /// Returns true if an item that was in the context at some time since had been sent with this request by then.
    pub(crate) fn was_sent(&self, item: &Item, request: RequestIx) -> bool {
        item.was_sent_with(request) && item.node < self.requests[request].start
    }

    /// Adds a newly reported request, and attributes it unless its report comes late or belongs to a branch
    /// that was left.
    pub(crate) fn add_report(
        &mut self,
        mut report: Request,
        tree: &mut RecordTree,
        coverage: Coverage,
    ) {
        self.forgotten = None;
        let key = report.key();
        let start = tree.start_of(key).unwrap_or_else(|| {
            // No line shows the output: it gets a place on the branch.
            tree.push(None, Parent::Previous, Part::Output, Some(key), false);
            tree.last()
        });
        let ix = self.requests.len();
        if let Some(before) = ix.checked_sub(1) {
            self.note_prompt(before);
        }
        report.start = start;
        self.requests.push(report);
        self.by_request.insert(key, ix);
        self.deferred = DeferredWork {
            agents: self.deferred.agents,
            ..DeferredWork::default()
        };
        // A reset that takes effect later counts from the request after this one.
        let precedes_reset = self.resets.last().is_some_and(|reset| reset.request > ix);
        if start < self.newest_start || !tree.is_live(start) || precedes_reset {
            return;
        }
        self.newest_start = start;
        let previous = self.anchor;
        self.requests[ix].previous = previous;
        let sent_from = self.sent_from(start);
        self.items.strip_thinking(sent_from, ix);
        self.strip_at_switch(ix, tree);
        self.strip_unreported(ix, tree);
        self.attribute(ix, tree, coverage);
        self.anchor = Some(ix);
        self.items.forget_guessed_of_left();
        self.attribute_output(ix, tree);
        self.revise(tree);
    }

    /// Attributes what a request's prompt held: the items since the report before, and the rest of it to the system part.
    fn attribute(&mut self, ix: RequestIx, tree: &RecordTree, coverage: Coverage) {
        self.undo_own_count();
        let start = self.requests[ix].start;
        let fresh = self.items.send(ix, start);
        self.attributed.put(ix, &fresh);
        let held = self.items.attributed_before(start, tree);
        let system = match self.anchor {
            None => self.attribute_first_prompt(ix, &fresh, held, tree, coverage),
            Some(anchor) => self.attribute_growth(ix, anchor, &fresh, held, tree),
        };
        self.set_system(ix, system, tree);
    }

    /// Attributes a prompt before which there is no report: the first one, or the first since a reset or a change of the
    /// tokenizer. `held` tokens of it are attributed. Returns its system part.
    fn attribute_first_prompt(
        &mut self,
        ix: RequestIx,
        fresh: &[ItemIx],
        held: u64,
        tree: &RecordTree,
        coverage: Coverage,
    ) -> u64 {
        let request = &self.requests[ix];
        let (prompt, is_whole) = (request.prompt, request.is_whole);
        let estimates = self.estimates(fresh);

        // 1. Items take their estimates. After a change of the tokenizer all parts keep their shares of the prompt.
        let before = self.system_before_tokenizer_switch.take();
        let system = if let Some(system) = before.filter(|_| held > 0) {
            let given = self.attribute_estimates(fresh, &estimates);
            self.rescale_for_tokenizer(ix, held.saturating_add(given), system)
        } else {
            if is_whole && held < prompt {
                let all = [(prompt - held) as f64; 3];
                self.needs_revision |= self.items.learn(fresh, all);
            }
            self.apportion_first_prompt(fresh, &estimates, ix, held, tree)
        };

        // 2. The rest is the prefix. At the end of a log it is what was not read.
        let is_prefix = self.most_prefix.is_none_or(|most| system <= most);
        let is_read = coverage != Coverage::Tail && !self.lacks_beginning && is_prefix;
        if is_read || !self.resets.is_empty() {
            self.prefix = Some(system);
        }

        // 3. A reset has left this prompt.
        if let Some(reset) = self.resets.last_mut()
            && reset.request == ix
        {
            (reset.after, reset.after_source) = (Some(prompt), Source::Reported);
        }
        system
    }

    /// Attributes what a prompt grew by since the report before. `held` tokens of it are attributed. Returns its system
    /// part.
    fn attribute_growth(
        &mut self,
        ix: RequestIx,
        anchor: RequestIx,
        fresh: &[ItemIx],
        held: u64,
        tree: &RecordTree,
    ) -> u64 {
        let request = &self.requests[ix];
        let (key, prompt, is_whole) = (request.key(), request.prompt, request.is_whole);
        let unlogged = self.requests[anchor].system;

        // 1. Predict the prompt from what was known before its report.
        let expected = self.items.expected(unlogged + held, fresh);
        let expected = self.recurring.adjust(self.with_returning(expected));
        self.requests[ix].predicted = Some(self.items.note_report(key, expected, prompt));

        // 2. Compare the growth with the estimates of its items. Note unlogged text that comes again and again.
        let lost = self.lost_with_reset(anchor);
        let rest = prompt as i128 - (unlogged + held) as i128;
        self.needs_revision |= self.items.judge_pictures(fresh, rest as f64);
        let mut estimates = self.estimates(fresh);
        let sum: f64 = estimates.iter().sum();
        let calibration = self.items.calibrations().current();
        let tolerance = calibration.tolerance(sum, fresh.len());
        self.recurring.note(key, rest as f64 - sum, tolerance);
        self.returning.note(key, lost, rest as f64 - sum);

        // 3. Determine the cost of the items together: the growth if that fits their estimates, otherwise the estimates.
        let items = fresh.iter().map(|ix| &self.items.all()[*ix]);
        give_excess_to_partial_items(&mut estimates, items, rest);
        let sum: f64 = estimates.iter().sum();
        let (cost, source) = cost_in_delta(calibration, rest, sum, fresh.len(), is_whole);
        let lacks_items = lacks_items(calibration, rest, sum, fresh.len());
        self.awaits_calibration |=
            calibration.is_open() && !fits(calibration, rest, sum, fresh.len(), is_whole);

        // 4. Learn from the growth. A part of the prefix that comes again shows nothing about the items.
        if lost == 0 || (rest as f64) < sum + lost as f64 / 2.0 {
            let by_thinking = self.rest_by_thinking(rest as f64, anchor, ix, tree);
            self.needs_revision |= self.items.learn(fresh, by_thinking);
        }
        if self.awaits_calibration && !self.items.calibrations().current().is_open() {
            (self.needs_revision, self.awaits_calibration) = (true, false);
        }

        // 5. Share the cost among the items. The rest of the prompt is its system part; if there is none, or too little
        //    again and again, everything that is known is fitted into the prompt.
        let given = self.apportion(fresh, &estimates, cost, source);
        let left = prompt.checked_sub(held + given);
        let is_short = self.is_short_again(ix, left.unwrap_or(0), lacks_items);
        let system = left.filter(|_| !is_short);
        system.unwrap_or_else(|| self.fit_into_prompt(ix, tree))
    }

    /// Returns the estimates of items, in tokens.
    fn estimates(&self, items: &[ItemIx]) -> Vec<f64> {
        items.iter().map(|ix| self.items.estimate(*ix)).collect()
    }

    fn set_system(&mut self, ix: RequestIx, system: u64, tree: &RecordTree) {
        let generation = self.generation();
        let request = &mut self.requests[ix];
        request.system = system;
        request.generation = generation;
        if tree.is_live(self.requests[ix].start) {
            self.anchors.insert(ix);
        }
    }

    /// Adds items that record what the anchor's prompt already held, instead of those that they replaced: they take
    /// their estimates from what was unlogged of it. Where that is too little, they are new.
    pub(crate) fn reveal(&mut self, items: &[ItemIx], replaced: &[ItemIx]) {
        let Some(anchor) = self.anchor else {
            return;
        };
        let request = &self.requests[anchor];
        let (start, system) = (request.start, request.system);
        let is_before = |ix: &&ItemIx| self.items.all()[**ix].node < start;
        let items: Vec<ItemIx> = items.iter().filter(is_before).copied().collect();
        let was_held = |ix: &&ItemIx| self.in_prompt(&self.items.all()[**ix], anchor);
        let replaced: Vec<ItemIx> = replaced.iter().filter(was_held).copied().collect();
        let attributed = replaced
            .iter()
            .filter_map(|ix| self.items.all()[*ix].attributed);
        let room = system.saturating_add(attributed.map(|(tokens, _)| tokens).sum());
        let estimates = self.estimates(&items);
        let sum = estimates.iter().sum::<f64>().round() as u64;
        if items.is_empty() || room < sum / 3 {
            return;
        }
        for ix in &replaced {
            self.items.leave_before(*ix, anchor);
        }
        for ix in &items {
            self.items.enter(*ix, anchor);
            self.revealed.insert(*ix);
        }
        let given = self.apportion(&items, &estimates, sum.min(room), Source::Shared);
        let system_now = room - given;
        self.requests[anchor].system = system_now;
        self.void_later(anchor);
        if self.prefix == Some(system) {
            self.prefix = Some(system_now);
        }
    }

    fn sizes(&self, items: &[ItemIx]) -> Vec<f64> {
        let sizes = items.iter().map(|ix| self.items.tokens(*ix).0 as f64);
        sizes.collect()
    }

    /// Divides a sum in proportion to weights, to the token, and attributes the items with it. Returns what
    /// was given out: all of it, or 0 where there are no items.
    fn apportion(&mut self, items: &[ItemIx], weights: &[f64], sum: u64, source: Source) -> u64 {
        for (item, part) in items.iter().zip(parts(weights, sum)) {
            self.items.set_attributed(*item, Some((part, source)));
        }
        if items.is_empty() { 0 } else { sum }
    }

    fn apportion_by_estimates(&mut self, items: &[ItemIx], sum: u64) {
        let weights = self.estimates(items);
        let source = match items.len() {
            1 => Source::Reported,
            _ => Source::Shared,
        };
        self.apportion(items, &weights, sum, source);
    }

    /// Marks the numbers of later requests as replaced. They are on abandoned branches and held content that this
    /// request has attributed otherwise, so they do not add up any more.
    fn void_later(&mut self, ix: RequestIx) {
        for later in ix + 1..self.requests.len() {
            self.requests[later].generation = None;
        }
    }

    /// Returns the generation of what is attributed now.
    pub(crate) fn generation(&self) -> Option<NonZeroU32> {
        NonZeroU32::new(self.generation.saturating_add(1))
    }

    /// Begins a new generation: no number attributed so far holds any more.
    fn begin_generation(&mut self) {
        self.generation += 1;
        self.anchors.clear();
    }

    /// Notes a compaction or clear, before anything leaves.
    pub(crate) fn add_reset(&mut self, reset: PastReset) {
        self.forgotten = None;
        self.unlogged_before = self.anchor.map(|anchor| self.requests[anchor].system);
        self.recurring.forget_presence();
        self.resets.push(reset);
    }

    /// Takes the resets of an earlier reading, each with its place in this one. There are none so far.
    pub(crate) fn inherit(&mut self, resets: Vec<PastReset>) {
        self.resets = resets;
    }

    /// Removes the anchor until the next report: a reset took place.
    pub(crate) fn forget_anchor(&mut self) {
        self.anchor = None;
        self.system_before_tokenizer_switch = None;
        self.attributed.clear();
        self.items.forget_guessed_of_left();
        self.items.forget_thoughts();
    }

    /// Sets the agent's own size after the last reset, unless a size is known or a request came since.
    pub(crate) fn set_size_after_reset(&mut self, tokens: u64) {
        if let Some(reset) = self.resets.last_mut()
            && reset.request == self.requests.len()
        {
            reset.after.get_or_insert(tokens);
        }
    }
}

/// Returns the items in the context now, in the order of the log.
pub(crate) fn alive<'c>(
    tree: &'c RecordTree,
    items: &'c Items,
) -> impl Iterator<Item = ItemIx> + Clone + 'c {
    let all = tree.live().flat_map(|node| tree.items(node));
    all.filter(|ix| items.all()[*ix].in_context())
}

/// An output this much larger than its thinking needs no item of its own: framing.
const SMALL_OUTPUT: u64 = 16;
