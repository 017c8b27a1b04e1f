//! Makes another branch the live one.
//!
//! The first walk visits all records since the last reset. It notes where each of them is as seen from its
//! branch. The next one visits what its branch does not share with that, and what came since. So a turn that is
//! tried again and again costs the length of a try each time, not that of the log.

use super::{BranchChange, RecordTree};
use crate::event::{Key, Part};
use crate::history::NodeIx;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The most nodes that the walks of a log visit, and so many more for each of its nodes. A session of ten thousand records
/// can go back before its last compaction four hundred times. A log that does so with each record would be read in the
/// square of the time.
pub(super) const MOST_VISITED: usize = 4_000_000;
pub(super) const MOST_VISITED_PER_NODE: usize = 64;

/// The relation of a record to a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Membership {
    Off,
    /// The record is on the chain, or kept by the reset that the chain begins with.
    On,
    Attached,
}

/// The result of a walk along a branch. A walk goes on from another one only where all parents are earlier nodes.
#[derive(Debug, Clone, Default)]
pub(super) struct WalkResult {
    /// The last node of its chain.
    leaf: NodeIx,
    /// The nodes from this one on have a place here. Of those before it, only what the reset kept is on it.
    base: NodeIx,
    /// The first node that may be attached to the branch.
    lowest: NodeIx,
    /// The places of the nodes from the base on, as far as there were any.
    places: Vec<Membership>,
    /// The nodes before the base that the reset at its beginning kept; `None`: it begins with the root.
    kept: Option<HashSet<NodeIx>>,
    /// For each response, the number of nodes on it.
    responses: HashMap<Key, usize>,
    /// Results, injected records and links, by the parent that they attach to.
    hanging: HashMap<NodeIx, Vec<NodeIx>>,
    /// Nodes whose `live` flag must be compared with their place again.
    touched: Vec<NodeIx>,
}

impl WalkResult {
    fn place(&self, ix: NodeIx) -> Membership {
        match ix.checked_sub(self.base) {
            Some(at) => self.places.get(at).copied().unwrap_or(Membership::Off),
            None if self.kept.as_ref().is_some_and(|kept| kept.contains(&ix)) => Membership::On,
            None => Membership::Off,
        }
    }

    fn put(&mut self, ix: NodeIx, place: Membership) {
        if let Some(at) = ix.checked_sub(self.base)
            && let Some(old) = self.places.get_mut(at)
        {
            *old = place;
            self.touched.push(ix);
        }
    }

    fn hanging_at(&self, ix: NodeIx) -> &[NodeIx] {
        self.hanging.get(&ix).map_or(&[], |nodes| nodes)
    }

    /// Gives a place to each node that has none. Returns the first of them.
    fn extend(&mut self, tree: &RecordTree) -> NodeIx {
        let first = self.base + self.places.len();
        for ix in first..tree.nodes.len() {
            self.places.push(Membership::Off);
            let node = &tree.nodes[ix];
            if let (Part::Result | Part::Injected | Part::Link, Some(parent)) =
                (node.part, node.parent())
            {
                self.hanging.entry(parent).or_default().push(ix);
            }
        }
        first
    }

    /// Notes that another node of a response is on the branch. Returns true if it is the first.
    fn add_response(&mut self, response: Key) -> bool {
        let count = self.responses.entry(response).or_default();
        *count += 1;
        *count == 1
    }

    /// Notes that a node of a response is no longer on the branch. Returns true if it was the last.
    fn remove_response(&mut self, response: Key) -> bool {
        let Some(count) = self.responses.get_mut(&response) else {
            return false;
        };
        *count -= 1;
        let is_last = *count == 0;
        if is_last {
            self.responses.remove(&response);
        }
        is_last
    }

    /// Returns the membership of a node that is not on the branch itself, by those of the nodes before it.
    fn place_beside(&self, ix: NodeIx, tree: &RecordTree) -> Membership {
        let node = &tree.nodes[ix];
        let part = node.part;
        let is_beside = match part {
            Part::Output => {
                let response = node.request;
                ix >= self.lowest && response.is_some_and(|it| self.responses.contains_key(&it))
            }
            Part::Result | Part::Injected | Part::Link => node.parent().is_some_and(|parent| {
                // Below a result that itself hangs beside, reminders follow it; below the chain
                // itself only results do: other records there are a branch that was left.
                match self.place(parent) {
                    Membership::Attached => true,
                    Membership::On => part != Part::Injected,
                    Membership::Off => false,
                }
            }),
            Part::Input | Part::Front | Part::Beside => false,
        };
        if is_beside {
            Membership::Attached
        } else {
            Membership::Off
        }
    }
}

impl RecordTree {
    /// Makes `leaf` the end of the live branch. Costs what the branches do not share and what came since
    /// the last walk. If there was none since the last reset, or a record's parent is another one now, it
    /// costs what the tree holds since that reset. Once walks have visited [`MOST_VISITED`] nodes and more, no branch is
    /// left any more.
    pub(super) fn walk(&mut self, leaf: NodeIx) -> BranchChange {
        if self.visited > MOST_VISITED + self.nodes.len() * MOST_VISITED_PER_NODE {
            return BranchChange::default();
        }
        let walked = self.walked.take().filter(|_| !self.has_later_parents);
        let change = walked.and_then(|walked| self.walk_over(walked, leaf));
        let change = change.unwrap_or_else(|| self.walk_all(leaf));
        let newest_first = self.resets.keys().rev();
        let undone = newest_first.take_while(|ix| !self.is_live(**ix)).count();
        BranchChange { undone, ..change }
    }

    /// Goes from the branch that was walked last to another one; `None`: they have nothing in common.
    fn walk_over(&mut self, mut walked: WalkResult, leaf: NodeIx) -> Option<BranchChange> {
        let first_new = walked.extend(self);
        let mut shared = None;
        let mut joins = Vec::new();
        for ix in self.upwards(Some(leaf)) {
            match walked.place(ix) {
                _ if ix < walked.base => return None,
                Membership::On => {
                    shared = Some(ix);
                    break;
                }
                _ if self.nodes[ix].reset => return None,
                _ => joins.push(ix),
            }
        }
        if shared.is_none() {
            if walked.kept.is_some() {
                return None;
            }
            walked.lowest = joins.last().copied()?;
        }
        let old = self.upwards(Some(walked.leaf));
        let leaves: Vec<NodeIx> = old.take_while(|ix| Some(*ix) != shared).collect();
        walked.leaf = leaf;
        let mut due: BTreeSet<NodeIx> = (first_new..self.nodes.len()).collect();
        walked.touched.extend(&due);
        let mut responses = HashSet::new();
        let response_of = |ix: &NodeIx| self.nodes[*ix].request;
        for ix in &leaves {
            walked.put(*ix, Membership::Off);
            due.insert(*ix);
            let response = response_of(ix).filter(|it| walked.remove_response(*it));
            responses.extend(response);
        }
        for ix in &joins {
            walked.put(*ix, Membership::On);
            // Which of its outputs may hang beside depends on where the branch begins, too.
            let is_due = |it: &Key| walked.add_response(*it) || shared.is_none();
            responses.extend(response_of(ix).filter(is_due));
        }
        for ix in leaves.iter().chain(&joins) {
            due.extend(walked.hanging_at(*ix));
        }
        for response in responses {
            let outputs = self.outputs_of(response);
            due.extend(outputs.filter(|ix| *ix >= walked.base));
        }
        let mut visited = leaves.len() + joins.len();
        // Each after its parent.
        while let Some(ix) = due.pop_first() {
            visited += 1;
            let old = walked.place(ix);
            let new = match old {
                Membership::On => continue,
                _ => walked.place_beside(ix, self),
            };
            if new != old {
                walked.put(ix, new);
                due.extend(walked.hanging_at(ix));
            }
        }
        let mut touched = std::mem::take(&mut walked.touched);
        touched.sort_unstable();
        touched.dedup();
        let change = self.change_to(&touched, &walked);
        self.visited += visited + touched.len();
        self.change_path(&change);
        self.tip = Some(leaf);
        self.walked = Some(walked);
        Some(change)
    }

    /// Makes those of these nodes live that are on the branch or attached to it, and none of the others.
    fn change_to(&mut self, touched: &[NodeIx], walked: &WalkResult) -> BranchChange {
        let mut change = BranchChange::default();
        for ix in touched.iter().copied() {
            let is_on = match walked.place(ix) {
                // No branch is left with these.
                Membership::Off if self.is_beside(ix) => continue,
                place => place != Membership::Off,
            };
            match (self.is_live(ix), is_on) {
                (true, false) => change.left.push(ix),
                (false, true) => change.joined.push(ix),
                _ => continue,
            }
            self.nodes[ix].live = is_on;
        }
        change
    }

    /// Brings the path up to date. Costs what is on it from the first change on.
    fn change_path(&mut self, change: &BranchChange) {
        let firsts = [change.left.first(), change.joined.first()];
        let Some(first) = firsts.into_iter().flatten().min() else {
            return;
        };
        let from = self.path.partition_point(|live| live < first);
        let tail = self.path.split_off(from);
        self.visited += tail.len();
        let mut joined = change.joined.iter().copied().peekable();
        for ix in tail {
            if self.is_live(ix) {
                while let Some(new) = joined.next_if(|new| *new < ix) {
                    self.path.push(new);
                }
                self.path.push(ix);
            }
        }
        self.path.extend(joined);
    }

    /// Notes that these nodes have left the live branch, but not because of another one.
    pub(super) fn note_cut(&mut self, left: &[NodeIx]) {
        if let Some(walked) = &mut self.walked {
            walked.touched.extend(left);
        }
    }

    /// Makes `leaf` the end of the live branch. Costs what the tree holds since the last reset.
    fn walk_all(&mut self, leaf: NodeIx) -> BranchChange {
        let mut on: Vec<NodeIx> = Vec::new();
        let mut reset = None;
        for ix in self.upwards(Some(leaf)) {
            on.push(ix);
            if let Some(kept) = self.kept_by(ix) {
                on.extend(kept);
                reset = Some(ix);
                break;
            }
        }
        let since = on.iter().filter(|ix| **ix >= reset.unwrap_or(0));
        let lowest = since.min().copied().unwrap_or(0);
        let early = on.iter().copied().filter(|ix| *ix < lowest);
        let mut walked = WalkResult {
            leaf,
            base: lowest,
            lowest,
            kept: reset.map(|_| early.collect()),
            ..WalkResult::default()
        };
        walked.extend(self);
        for ix in &on {
            walked.put(*ix, Membership::On);
            if let Some(response) = self.nodes[*ix].request {
                walked.add_response(response);
            }
        }
        // Nodes that are attached come after what they are attached to.
        for ix in lowest..self.nodes.len() {
            if walked.place(ix) == Membership::Off
                && walked.place_beside(ix, self) == Membership::Attached
            {
                walked.put(ix, Membership::Attached);
                on.push(ix);
            }
        }
        walked.touched.clear();
        on.extend(self.live().filter(|ix| self.is_beside(*ix)));
        self.visited += on.len() + self.path.len() + self.nodes.len() - lowest;
        let change = self.set_path(on);
        self.tip = Some(leaf);
        self.walked = (!self.has_later_parents).then_some(walked);
        change
    }
}
