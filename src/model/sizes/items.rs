//! The items of a session with their sizes, and running sums over those in the context.
//!
//! Every change of an item goes through [`Items`], which keeps its sums and lists up to date. So a usage
//! report costs what has come since the report before, whatever the size of the context.

use crate::event::{Key, NewItem, Place};
use crate::history::NodeIx;
use crate::history::record_tree::RecordTree;
use crate::history::{Absence, Departure, Item, ItemIx, PreviousSize, RequestIx};
use crate::sizes::calibration::{Expectation, Sample};
use crate::sizes::calibrations::Calibrations;
use crate::values::names::Names;
use crate::{Kind, LeaveReason, Source};
use jiff::Timestamp;
use std::collections::{BTreeSet, HashMap};

mod guessed;
mod lists;
mod pictures;
mod rescaled;
mod results;
mod thinking;

use guessed::GuessedSizes;
pub(crate) use lists::OlderSize;
use lists::{ContentSize, FirstSent};
use rescaled::Rescaling;
pub(crate) use rescaled::parts;
use results::Results;

/// The number of previous sizes that are kept: a base, and some for each item. Only a log that goes back and forth
/// between tokenizers comes near it; its older moments then show later sizes.
const MAX_HISTORY_BASE: usize = 1_000;
const MAX_HISTORY_PER_ITEM: usize = 4;

/// Tokens of items in the context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Tally {
    all: i128,
    /// The part of `all` that is system prompt and tool lists.
    prefix: i128,
}

impl Tally {
    fn add(&mut self, item: &Item, tokens: i128) {
        self.all += tokens;
        if item.is_prefix() {
            self.prefix += tokens;
        }
    }
}

/// All items of a session, in the order of the log.
#[derive(Debug, Clone, Default)]
pub(crate) struct Items {
    list: Vec<Item>,
    /// The names of their tools.
    names: Names,
    calibrations: Calibrations,
    /// The record that is being read, counted from 1.
    pub(crate) record: u32,
    /// Items in the context that are not attributed or that no request has sent.
    pending: BTreeSet<(NodeIx, ItemIx)>,
    /// Settled items in the context.
    attributed: Tally,
    /// The other items in the context; `None`: to be summed up again.
    estimated: Option<Tally>,
    /// Thinking in the context.
    thinking: BTreeSet<(NodeIx, ItemIx)>,
    /// All thinking since the last reset, in the context or stripped, in the order of nodes.
    pub(super) thoughts: Vec<ItemIx>,
    /// Thoughts that were stripped because of the treatment of thinking, not because the log has it so.
    stripped: BTreeSet<ItemIx>,
    /// Items that were out of the context for a time.
    returned: BTreeSet<ItemIx>,
    /// The items that the request that was attributed last was the first to send.
    newest_sent: FirstSent,
    /// Sizes of items before their [`Item::previous`], in no order.
    pub(crate) older_sizes: Vec<OlderSize>,
    /// True if no sizes before the present one are kept.
    forgets_sizes: bool,
    /// The number of times that items have left, come back, or changed their size.
    pub(crate) changes: u32,
    /// The effect of dropped prompts on the attributed sizes, not worked out yet.
    rescaled: Option<Rescaling>,
    /// The number of items that were resized by walks, all in all.
    resized_by_walk: usize,
    /// The numbers that depend on sizes that were guessed from the lengths of texts.
    guessed: GuessedSizes,
    /// Tool results by their calls, as far as they were looked up.
    results: Results,
    /// Tool results that reports attributed one by one, with their sizes: the same content costs the same
    /// again.
    sizes_by_hash: HashMap<u64, ContentSize>,
}

impl Items {
    pub(crate) fn new(calibrations: Calibrations) -> Items {
        Items {
            calibrations,
            ..Items::default()
        }
    }

    pub(crate) fn all(&self) -> &[Item] {
        &self.list
    }

    /// Changes the items without attributing anything.
    #[cfg(test)]
    pub(crate) fn change_all(&mut self, mut change: impl FnMut(&mut Item)) {
        for ix in 0..self.list.len() {
            change(&mut self.list[ix]);
        }
    }

    pub(crate) fn calibrations(&self) -> &Calibrations {
        &self.calibrations
    }

    pub(crate) fn estimate(&self, ix: ItemIx) -> f64 {
        let item = &self.list[ix];
        if let Some(known) = self.sizes_by_hash.get(&item.hash)
            && known.of != ix
            && is_content(item)
        {
            return known.tokens as f64;
        }
        let sample = Sample::of(item);
        let estimate = self.calibrations.current().estimate(&sample);
        // No item has more.
        estimate.min(u32::MAX.into())
    }

    /// Returns the size of an item, and how it is known.
    pub(crate) fn tokens(&self, ix: ItemIx) -> (u64, Source) {
        let attributed = self.list[ix].attributed;
        attributed.unwrap_or_else(|| (self.estimate(ix).round() as u64, Source::Estimated))
    }

    /// Returns the tokens of all items in the context, and the part of them that is system prompt and tool lists.
    pub(crate) fn tokens_in_context(&mut self) -> (u64, u64) {
        let estimated = self.estimated.unwrap_or_else(|| {
            let mut sum = Tally::default();
            for ix in self.unattributed() {
                sum.add(&self.list[ix], i128::from(self.tokens(ix).0));
            }
            sum
        });
        self.estimated = Some(estimated);
        let whole = |tokens: i128| u64::try_from(tokens.max(0)).unwrap_or(u64::MAX);
        (
            whole(self.attributed.all + estimated.all),
            whole(self.attributed.prefix + estimated.prefix),
        )
    }

    /// Returns the attributed tokens of the items in the context before this node. Costs what comes from that node on.
    pub(crate) fn attributed_before(&self, node: NodeIx, tree: &RecordTree) -> u64 {
        let later = tree.live_from(node).flat_map(|node| tree.items(node));
        let attributed = later.filter_map(|ix| {
            let item = &self.list[ix];
            let (tokens, _) = item.attributed.filter(|_| item.in_context())?;
            Some(i128::from(tokens))
        });
        u64::try_from(self.attributed.all - attributed.sum::<i128>()).unwrap_or(u64::MAX)
    }

    /// Returns the items in the context that no report has attributed.
    pub(crate) fn unattributed(&self) -> impl Iterator<Item = ItemIx> {
        let pending = self.pending.iter().map(|(_, ix)| *ix);
        pending.filter(|ix| self.list[*ix].attributed.is_none())
    }

    /// Adds an item to the context.
    pub(crate) fn add(
        &mut self,
        mut logged: NewItem,
        node: NodeIx,
        place: Place,
        at: Option<Timestamp>,
        output_of: Option<Key>,
    ) -> ItemIx {
        let ix = self.list.len();
        self.guessed.add(&logged.size);
        logged.tool = logged.tool.map(|tool| self.names.share(&tool));
        self.list.push(Item {
            logged,
            place,
            at,
            output_of,
            attributed: None,
            entered: None,
            left: None,
            away: Vec::new(),
            previous: None,
            record: self.record,
            node,
        });
        self.register(ix);
        self.tally(ix, 1);
        if self.list[ix].kind == Kind::Thinking {
            let at = self.thoughts_before(node + 1);
            self.thoughts.insert(at, ix);
        }
        ix
    }

    /// Puts an item that is in the context on the lists of what is pending and what will leave.
    fn register(&mut self, ix: ItemIx) {
        let item = &self.list[ix];
        if item.attributed.is_none() || item.entered.is_none() {
            self.pending.insert((item.node, ix));
        }
        if item.kind == Kind::Thinking {
            self.thinking.insert((item.node, ix));
        }
    }

    /// Adds an item in the context to the sums (1), or takes it out (-1).
    fn tally(&mut self, ix: ItemIx, sign: i128) {
        let item = &self.list[ix];
        if let Some((tokens, _)) = item.attributed {
            self.attributed.add(item, sign * i128::from(tokens));
        } else if let Some(mut estimated) = self.estimated {
            estimated.add(item, sign * i128::from(self.tokens(ix).0));
            self.estimated = Some(estimated);
        }
    }

    /// Takes an item out of the context, unless it has left; `request` is the first one without it.
    pub(crate) fn leave(&mut self, ix: ItemIx, why: LeaveReason, request: RequestIx) {
        if !self.list[ix].in_context() {
            return;
        }
        if self.list[ix].attributed.is_none() {
            self.keep_previous(ix);
        }
        self.apply_rescale_to(ix);
        self.tally(ix, -1);
        self.guessed.leave(&self.list[ix], why);
        let left = Departure {
            request,
            record: self.record,
            why,
        };
        self.list[ix].left = Some(left);
        let item = &self.list[ix];
        self.pending.remove(&(item.node, ix));
        if item.kind == Kind::Thinking {
            self.thinking.remove(&(item.node, ix));
        }
        self.changes = self.changes.wrapping_add(1);
    }

    /// Notes that an item that has left turns out to have left before this request.
    pub(crate) fn leave_before(&mut self, ix: ItemIx, request: RequestIx) {
        let earlier = |left: Departure| Departure {
            request: left.request.min(request),
            ..left
        };
        let left = self.list[ix].left.map(earlier);
        self.list[ix].left = left;
    }

    /// Puts an item that left with its branch or at a reset into the context again; `request` is the next one.
    pub(crate) fn come_back(&mut self, ix: ItemIx, request: RequestIx) {
        let left = self.list[ix].left;
        if left.is_some_and(|left| left.why.is_of_branch()) {
            self.restore(ix, request);
        }
    }

    /// Puts an item that left into the context again; `request` is the next one.
    pub(crate) fn restore(&mut self, ix: ItemIx, request: RequestIx) {
        if self.list[ix].in_context() {
            return;
        }
        self.apply_rescale();
        self.stripped.remove(&ix);
        let back = self.record;
        let item = &mut self.list[ix];
        if let Some(left) = item.left {
            item.left = None;
            item.away.push(Absence {
                from: left.request,
                to: request,
                gone: left.record,
                why: left.why,
                back,
            });
        }
        self.returned.insert(ix);
        self.register(ix);
        self.tally(ix, 1);
        self.changes = self.changes.wrapping_add(1);
    }

    /// Attributes an item's tokens, or takes that back.
    pub(crate) fn set_attributed(&mut self, ix: ItemIx, attributed: Option<(u64, Source)>) {
        if self.is_rescaled(ix) {
            self.apply_rescale();
        }
        if self.list[ix].attributed == attributed {
            return;
        }
        self.keep_previous(ix);
        if !self.list[ix].in_context() {
            self.list[ix].attributed = attributed;
            return;
        }
        self.tally(ix, -1);
        self.list[ix].attributed = attributed;
        self.tally(ix, 1);
        let item = &self.list[ix];
        if let Some((tokens, Source::Derived | Source::Reported)) = attributed
            && is_content(item)
        {
            let known = ContentSize { of: ix, tokens };
            let before = self.sizes_by_hash.insert(item.hash, known);
            if before.is_none_or(|before| before.tokens != tokens) {
                self.estimated = None;
            }
        }
        let item = &self.list[ix];
        if attributed.is_some() && item.entered.is_some() {
            self.pending.remove(&(item.node, ix))
        } else {
            self.pending.insert((item.node, ix))
        };
    }

    /// Notes that a request sends all before its first node. Returns the items among them that are not attributed, in the
    /// order of the log; the provider's own numbers for single items are attributed here. Costs what has come since the
    /// request before.
    pub(crate) fn send(&mut self, request: RequestIx, start: NodeIx) -> Vec<ItemIx> {
        self.keep_unattributed();
        let later = self.pending.split_off(&(start, 0));
        let sent = std::mem::replace(&mut self.pending, later);
        if self.newest_sent.request != request {
            self.newest_sent = FirstSent {
                request,
                items: Vec::new(),
            };
        }
        let mut fresh = Vec::new();
        for (_, ix) in sent {
            self.enter(ix, request);
            let item = &self.list[ix];
            match (item.attributed, item.size.reported) {
                (Some(_), _) => {}
                (None, 0) => fresh.push(ix),
                (None, tokens) => self.set_attributed(ix, Some((tokens.into(), Source::Reported))),
            }
        }
        fresh
    }

    /// Notes that an item was in the prompt of this request, the newest one.
    pub(crate) fn enter(&mut self, ix: ItemIx, request: RequestIx) {
        if self.list[ix].entered.is_none() {
            self.list[ix].entered = Some(request);
            self.newest_sent.items.push(ix);
        }
    }

    /// Takes back what a request sent and attributed, but not what was attributed before it, nor what has
    /// left since: it is about to be attributed again. Costs what it attributed, for the newest request; for
    /// an older one, to which a rewind led back, a walk through all items.
    pub(crate) fn take_back(&mut self, request: RequestIx, start: NodeIx) {
        let all = 0..self.list.len();
        let sent = if self.newest_sent.request == request {
            self.newest_sent.items.clone()
        } else {
            all.collect()
        };
        for ix in sent {
            let item = &self.list[ix];
            if item.entered != Some(request) || !item.in_context() {
                continue;
            }
            self.list[ix].entered = None;
            let item = &self.list[ix];
            self.pending.insert((item.node, ix));
            // An output keeps what was reported for it.
            if !matches!(item.attributed, Some((_, Source::Reported))) && item.output_of.is_none() {
                self.set_attributed(ix, None);
            }
        }
        for ix in &self.returned {
            let item = &self.list[*ix];
            if item.in_context() && item.node < start {
                for away in self.list[*ix].away.iter_mut() {
                    if (away.from..away.to).contains(&request) {
                        away.to = request;
                    }
                }
            }
        }
    }

    /// Switches to the calibration of another model. Costs what is not attributed.
    pub(crate) fn use_model(&mut self, switch: impl FnOnce(&mut Calibrations)) {
        self.keep_unattributed();
        switch(&mut self.calibrations);
        self.sizes_by_hash = HashMap::new();
        self.estimated = None;
    }

    /// Learns from what these items cost together, in tokens, by what becomes of thinking. Returns whether
    /// what was attributed before is to be attributed again.
    pub(crate) fn learn(&mut self, items: &[ItemIx], reported: [f64; 3]) -> bool {
        let samples: Vec<Sample> = items.iter().map(|ix| Sample::of(&self.list[*ix])).collect();
        self.estimated = None;
        self.calibrations.current_mut().learn(&samples, reported)
    }

    /// Returns the prompt to expect of a request with what earlier reports have shown, and notes its report.
    pub(crate) fn note_report(
        &mut self,
        request: Key,
        expected: Expectation,
        prompt: u64,
    ) -> Expectation {
        let calibration = self.calibrations.current_mut();
        calibration.note_report(request, expected, prompt)
    }

    /// Notes that the log shows no thinking where some was reported. Returns as [`Items::learn`].
    pub(crate) fn note_hidden_thinking(&mut self) -> bool {
        if self.calibrations.current().hidden {
            return false;
        }
        self.keep_unattributed();
        self.estimated = None;
        self.calibrations.current_mut().note_hidden_thinking()
    }

    /// Keeps an item's size: this record is about to change it. Only sizes after whole records are
    /// kept, so the first call of a record counts.
    fn keep_previous(&mut self, ix: ItemIx) {
        let until = self.record;
        let item = &self.list[ix];
        if item.record == until || item.previous.is_some_and(|size| size.until == until) {
            return;
        }
        self.changes = self.changes.wrapping_add(1);
        if self.forgets_sizes {
            return;
        }
        let (tokens, source) = self.tokens(ix);
        let size = PreviousSize {
            until,
            source,
            tokens,
        };
        let has_room = self.older_sizes.len() < self.most_history();
        let older = self.list[ix].previous;
        self.list[ix].previous = Some(size);
        if let Some(older) = older
            && has_room
        {
            self.older_sizes.push(OlderSize {
                item: ix,
                size: older,
            });
        }
    }

    /// Keeps no sizes before the present one from here on: nobody will ask for them.
    pub(crate) fn forget_sizes(&mut self) {
        self.forgets_sizes = true;
        self.older_sizes = Vec::new();
    }

    /// Returns the most previous sizes that are kept.
    fn most_history(&self) -> usize {
        MAX_HISTORY_BASE + MAX_HISTORY_PER_ITEM * self.list.len()
    }

    /// Notes that a walk is about to resize this many items. Returns true if it may: where walks are so frequent that
    /// the sizes in between would not be kept, it may not, and sizes are worked out later.
    pub(crate) fn may_resize_by_walk(&mut self, items: usize) -> bool {
        self.resized_by_walk = self.resized_by_walk.saturating_add(items);
        let may = self.resized_by_walk <= self.most_history();
        if !may {
            self.resized_by_walk -= items;
        }
        may
    }

    /// Keeps the sizes of what is not attributed: its estimates are about to change.
    fn keep_unattributed(&mut self) {
        if !self.may_resize_by_walk(self.pending.len()) {
            return;
        }
        for ix in self.unattributed().collect::<Vec<_>>() {
            self.keep_previous(ix);
        }
    }

    /// Returns the record of the last of the first `so_far` items; 0: there are none.
    pub(crate) fn newest_record(&self, so_far: usize) -> u32 {
        let newest = so_far.checked_sub(1);
        newest.map_or(0, |ix| self.list[ix].record)
    }
}

/// Returns true if an item is a tool result whose size depends on its content alone, not on its framing.
fn is_content(item: &Item) -> bool {
    item.kind == Kind::ToolResult && item.size.local >= LEAST_CONTENT
}

/// The smallest result, in tokens, that depends on its content alone: in smaller ones the framing, which differs,
/// outweighs what is known of the content.
const LEAST_CONTENT: u32 = 200;
