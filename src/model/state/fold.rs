//! Applies the events of a log to the state, except usage reports and resets.

use super::State;
use crate::LeaveReason;
use crate::event::{Entry, ItemKey, Key, NewItem, Node, Parent, Part, Place};
use crate::history::record_tree::BranchChange;
use crate::history::{Coverage, ItemIx};
use jiff::Timestamp;
use std::collections::BTreeSet;

/// The most items that a record keeps of those that were cleared.
const MOST_CLEARED: usize = 64;

impl State {
    /// Notes that a record, or an event of one, is about to be taken in.
    pub(crate) fn begin(&mut self, entry: &Entry) {
        if self.attribution.is_late() && !self.attribution.goes_on(&entry.event) {
            self.attribution.catch_up(&mut self.tree, self.coverage);
        }
        if let Some(at) = entry.at {
            self.started_at = Some(self.started_at.map_or(at, |t| t.min(at)));
            self.updated_at = Some(self.updated_at.map_or(at, |t| t.max(at)));
        }
        let place = entry.place;
        // One record may bring several events, all of the same place. What is known of a session from outside
        // of its records has none, and may come again.
        let is_of_record = place != Place::default() || self.records == 0;
        if is_of_record && self.last_place.replace(place) != Some(place) {
            self.records += 1;
            let record = u32::try_from(self.records).unwrap_or(u32::MAX);
            self.attribution.items_mut().record = record;
        }
        self.note_unread(&entry.event);
    }

    /// Makes the record of this key the leaf.
    pub(crate) fn set_leaf(&mut self, key: Key, rewound: bool) {
        if let Some(change) = self.tree.set_leaf(key, rewound) {
            self.change_branch(&change, LeaveReason::Rewind);
        }
    }

    /// Takes back the newest user turns.
    pub(crate) fn roll_back(&mut self, turns: u64) {
        self.cut_from(self.tree.turn_from_end(turns));
    }

    /// Notes that the log lacks the beginning of its conversation.
    pub(crate) fn note_missing_beginning(&mut self) {
        self.attribution.lacks_beginning = true;
    }

    /// Notes that the log contains all that its prompts hold from here on.
    pub(crate) fn note_logged_prompts(&mut self) {
        self.prompts_logged = true;
        self.attribution.prefix = Some(0);
    }

    /// Sets a mark where a context would be computed otherwise than at the last one.
    pub(crate) fn mark(&mut self, place: Place, at: Option<Timestamp>) {
        let record = self.agent_estimate.map_or(0, |logged| logged.record);
        let estimate = self.agent_estimate();
        self.past.note_estimate(estimate, record);
        let (record, inputs) = (self.attribution.items().record, self.inputs());
        self.past.mark(record, place, at, &inputs);
    }

    /// Works out what was put off. Costs nothing where that is nothing.
    pub fn catch_up(&mut self) {
        if !self.attribution.is_late() {
            return;
        }
        self.attribution.catch_up_all(&mut self.tree, self.coverage);
        if let Some(place) = self.last_place {
            self.mark(place, self.updated_at);
        }
    }

    /// Adds a record, or takes in one that was written again.
    pub(crate) fn add_node(&mut self, node: Node, place: Place, at: Option<Timestamp>) {
        let Node {
            key,
            parent,
            part,
            request,
            turn,
            items,
        } = node;
        self.turn_over &= items.is_empty();
        if key.is_some_and(|key| self.awaited.contains(&key)) {
            self.awaited.extend(request);
        }
        let is_corrected = part == Part::Front && std::mem::take(&mut self.prompts_logged);
        if let Some(ix) = key.and_then(|key| self.tree.find(key)) {
            self.tree.relink(ix, parent);
            let known = self.items().len();
            let replaced = self.replace_items(ix, items, place, at);
            if part == Part::Front {
                let new: Vec<ItemIx> = (known..self.items().len()).collect();
                // A record that shows all of a prompt corrects the one that showed it before; anything else is a
                // change.
                let corrected = if is_corrected { &replaced[..] } else { &[] };
                self.attribution.reveal(&new, corrected);
            }
            return;
        }
        // The front of a conversation is part of each prompt: of the newest one too, where the record that showed it
        // first was not read. Claude Code writes all tools after a response.
        let is_partly_read = self.coverage != Coverage::Whole;
        if part == Part::Front && is_partly_read && self.attribution.anchor().is_some() {
            return;
        }
        self.begins_midway |= self.tree.is_empty() && matches!(parent, Parent::Key(_));
        if let Some(change) = self.tree.push(key, parent, part, request, turn) {
            self.change_branch(&change, LeaveReason::Rewind);
        }
        if turn {
            self.turns += 1;
        }
        if matches!(part, Part::Input | Part::Result) {
            self.cache_clock.note_written(at);
        }
        if part != Part::Output && (turn || !items.is_empty()) {
            self.attribution.begin_input(turn, &self.tree);
        }
        self.add_items(self.tree.last(), items, place, at, request);
    }

    fn add_items(
        &mut self,
        node: usize,
        items: Vec<NewItem>,
        place: Place,
        at: Option<Timestamp>,
        output_of: Option<Key>,
    ) {
        self.note_prompt(&items);
        for item in items {
            let attribution = self.attribution.items_mut();
            let ix = attribution.add(item, node, place, at, output_of);
            self.tree.hold(node, ix);
        }
        if let Some(request) = output_of {
            self.attribution.output_grew(request, &mut self.tree);
        }
    }

    /// Replaces the items of a node by those of a later record of the same id: equal ones stay, new ones are added, the
    /// rest leaves and is returned.
    fn replace_items(
        &mut self,
        node: usize,
        new: Vec<NewItem>,
        place: Place,
        at: Option<Timestamp>,
    ) -> Vec<ItemIx> {
        if !self.tree.is_live(node) {
            return Vec::new();
        }
        // A result that was cleared may be sent again; but a record that is edited again and again keeps few.
        let is_long = self.tree.items(node).nth(MOST_CLEARED).is_some();
        let is_gone = |ix: ItemIx| {
            let left = self.attribution.items().all()[ix].left;
            left.is_some_and(|left| match left.why {
                LeaveReason::Replaced => true,
                LeaveReason::Cleared => is_long,
                _ => false,
            })
        };
        self.tree.drop_items(node, is_gone);
        let mut old: Vec<ItemIx> = self.tree.items(node).collect();
        old.retain(|ix| self.items()[*ix].in_context());
        let mut fresh = new;
        fresh.retain(|item| {
            let same = old.iter().position(|ix| {
                let held = &self.items()[*ix];
                held.hash == item.hash && held.kind == item.kind && held.call == item.call
            });
            same.map(|at| old.remove(at)).is_none()
        });
        for ix in &old {
            self.leave(*ix, LeaveReason::Replaced);
        }
        self.add_items(node, fresh, place, at, self.tree.request_of(node));
        old
    }

    fn leave(&mut self, ix: ItemIx, why: LeaveReason) {
        let next = self.requests().len();
        self.attribution.items_mut().leave(ix, why, next);
    }

    pub(super) fn change_branch(&mut self, change: &BranchChange, why: LeaveReason) {
        self.attribution.change_branch(change, why, &mut self.tree);
    }

    fn cut_from(&mut self, position: usize) {
        let change = self.tree.cut(position);
        self.change_branch(&change, LeaveReason::Rewind);
    }

    /// Clears the content of these records and of the results of these calls.
    pub(crate) fn clear_items(&mut self, nodes: &[Key], calls: &[Key], cause: LeaveReason) {
        let of_nodes = nodes.iter().filter_map(|key| self.tree.find(*key));
        let held = of_nodes.flat_map(|node| self.tree.items(node));
        // A record that is edited again and again has many items that have left.
        let held = held.filter(|ix| self.items()[*ix].in_context());
        let mut hits: BTreeSet<ItemIx> = held.collect();
        for call in calls {
            hits.extend(self.attribution.items_mut().results_of(*call));
        }
        for ix in hits {
            if self.tree.is_live(self.items()[ix].node) {
                self.leave(ix, cause);
            }
        }
    }

    /// Takes the results of these calls out of the context, but for so many characters of each.
    pub(crate) fn clear_results(&mut self, calls: &[Key], stays: u64) {
        for call in calls {
            let results = self.attribution.items_mut().results_of(*call);
            for ix in results.collect::<Vec<_>>() {
                let item = &self.items()[ix];
                if !item.in_context() {
                    continue;
                }
                let (node, place, at) = (item.node, item.place, item.at);
                let cut = (stays > 0).then(|| item.logged.clone().cut(stays));
                self.leave(ix, LeaveReason::Cleared);
                self.add_items(node, cut.into_iter().collect(), place, at, None);
            }
        }
    }

    /// Brings back what a recorded request holds, and takes out what it does not.
    pub(crate) fn follow_request(&mut self, added: &[ItemKey], missing: &[ItemKey]) {
        let next = self.requests().len();
        for ix in self.items_of(added) {
            self.attribution.items_mut().restore(ix, next);
        }
        for ix in self.items_of(missing) {
            self.leave(ix, LeaveReason::Cleared);
        }
    }

    /// Returns the items of these keys on the live branch.
    fn items_of(&self, keys: &[ItemKey]) -> Vec<ItemIx> {
        let live = |key: &ItemKey| {
            let node = self.tree.find(key.node)?;
            self.tree.is_live(node).then_some((node, key.hash))
        };
        let nodes = keys.iter().filter_map(live);
        let items = nodes.flat_map(|(node, hash)| {
            let items = self.tree.items(node);
            items.filter(move |ix| self.items()[*ix].hash == hash)
        });
        items.collect()
    }
}
