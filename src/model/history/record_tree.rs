//! The tree of a log's records and the branch of it that is live.
//!
//! Most logs are lists: every record follows the one before. Claude Code and others write a tree, in
//! which parallel tool calls hang side by side and a rewind begins a new branch. The live branch is
//! the path from the leaf to the last reset, plus what is attached to it: other
//! lines of the same response, and the results of its tool calls.
//!
//! Adding a record to the live branch takes constant time. Making another branch the live one takes the
//! time of what the two do not share (`walk`); the first time, of the records since the last reset.

#[cfg(test)]
mod tests;
mod walk;

use crate::event::{Key, MOST_KEPT, Parent, Part, RetainedItems};
use crate::history::{ItemIx, NodeIx, narrow};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use walk::WalkResult;

/// The effect of a change of the live branch.
#[derive(Debug, Default)]
pub(crate) struct BranchChange {
    /// Nodes that are no longer on it, in the order of the log.
    pub(crate) left: Vec<NodeIx>,
    /// Nodes that are on it now and were not before, in the order of the log.
    pub(crate) joined: Vec<NodeIx>,
    /// The number of newest resets that the branch goes back to before.
    pub(crate) undone: usize,
}

/// A record in the tree.
#[derive(Debug, Clone, Default)]
struct Link {
    parent: Option<u32>,
    /// The request whose output it is.
    request: Option<Key>,
    /// The next node of that output.
    next_output: Option<u32>,
    /// Its items, except those in [`RecordTree::late_items`].
    items: Range<u32>,
    part: Part,
    turn: bool,
    /// True if it is the record of a reset.
    reset: bool,
    live: bool,
}

impl Link {
    fn parent(&self) -> Option<NodeIx> {
        self.parent.map(|ix| ix as NodeIx)
    }
}

/// The first and the last node of a request's output.
#[derive(Debug, Clone, Copy)]
struct OutputNodes {
    first: u32,
    last: u32,
}

/// The tree and its live branch.
#[derive(Debug, Clone, Default)]
pub(crate) struct RecordTree {
    nodes: Vec<Link>,
    /// The items that were added to a node after those of other nodes.
    late_items: HashMap<NodeIx, Vec<ItemIx>>,
    /// The resets' nodes, each with the nodes that it kept, in runs: many resets may keep the same long part. No other
    /// earlier node is in the context.
    resets: BTreeMap<NodeIx, Box<[Range<NodeIx>]>>,
    /// The number of nodes that the resets kept together.
    kept: usize,
    by_key: HashMap<Key, NodeIx>,
    outputs: HashMap<Key, OutputNodes>,
    /// The live branch's nodes, in the order of the log.
    path: Vec<NodeIx>,
    /// The record that the next one follows.
    tip: Option<NodeIx>,
    /// True if a record has a parent that was written after it.
    has_later_parents: bool,
    /// The live branch of the last walk; `None`: the next walk visits all nodes since the last reset.
    walked: Option<WalkResult>,
    /// Nodes that walks have visited.
    visited: usize,
}

impl RecordTree {
    pub(crate) fn find(&self, key: Key) -> Option<NodeIx> {
        self.by_key.get(&key).copied()
    }

    /// Returns the live branch's nodes, in the order of the log.
    pub(crate) fn live(
        &self,
    ) -> impl DoubleEndedIterator<Item = NodeIx> + ExactSizeIterator + Clone {
        self.path.iter().copied()
    }

    /// Returns the live branch's nodes from this one on.
    pub(crate) fn live_from(&self, node: NodeIx) -> impl Iterator<Item = NodeIx> {
        // Searched from the end: what is asked for is recent.
        let older = |live: &NodeIx| *live < node;
        let from = self.path.iter().rposition(older).map_or(0, |ix| ix + 1);
        self.path[from..].iter().copied()
    }

    pub(crate) fn is_live(&self, node: NodeIx) -> bool {
        self.nodes[node].live
    }

    /// Returns true if a node may be in between the outputs of one response: a tool's result, and the records that are
    /// injected with it.
    pub(crate) fn hangs(&self, node: NodeIx) -> bool {
        matches!(
            self.nodes[node].part,
            Part::Result | Part::Injected | Part::Link
        )
    }

    /// Returns true if a node is not part of the chain: no record follows it.
    fn is_beside(&self, node: NodeIx) -> bool {
        matches!(self.nodes[node].part, Part::Front | Part::Beside)
    }

    /// Returns the last node of the chain on the live branch.
    fn last_of_chain(&self) -> Option<NodeIx> {
        let mut newest_first = self.live().rev();
        newest_first.find(|ix| !self.is_beside(*ix))
    }

    pub(crate) fn items(
        &self,
        node: NodeIx,
    ) -> impl DoubleEndedIterator<Item = ItemIx> + Clone + '_ {
        let late = self.late_items.get(&node).into_iter().flatten();
        let Range { start, end } = self.nodes[node].items;
        (start as ItemIx..end as ItemIx).chain(late.copied())
    }

    pub(crate) fn request_of(&self, node: NodeIx) -> Option<Key> {
        self.nodes[node].request
    }

    /// Returns true if a user turn begins with a node.
    pub(crate) fn begins_turn(&self, node: NodeIx) -> bool {
        let link = &self.nodes[node];
        link.turn && link.part != Part::Output
    }

    /// Removes items from a node that will not come back: a record that is written again and again keeps few.
    pub(crate) fn drop_items(&mut self, node: NodeIx, is_gone: impl Fn(ItemIx) -> bool) {
        let (mut gone, mut stay): (Vec<ItemIx>, Vec<ItemIx>) =
            self.items(node).partition(|ix| is_gone(*ix));
        // One stays: a range that is empty would begin anew before older items.
        if stay.is_empty() {
            stay.extend(gone.pop());
        }
        if let Some((first, late)) = stay.split_first().filter(|_| !gone.is_empty()) {
            let first = narrow(*first);
            self.nodes[node].items = first..first + 1;
            self.late_items.insert(node, late.to_vec());
        }
    }

    /// Adds the newest item to a node.
    pub(crate) fn hold(&mut self, node: NodeIx, item: ItemIx) {
        let items = &mut self.nodes[node].items;
        let ix = narrow(item);
        if Range::is_empty(items) {
            *items = ix..ix + 1;
        } else if items.end == ix {
            items.end += 1;
        } else {
            self.late_items.entry(node).or_default().push(item);
        }
    }

    /// Returns the nodes that a reset kept; `None`: the node is not a reset's.
    fn kept_by(&self, node: NodeIx) -> Option<impl Iterator<Item = NodeIx> + Clone> {
        let kept = self.nodes[node].reset.then(|| self.resets.get(&node))?;
        kept.map(|runs| runs.iter().flat_map(Clone::clone))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub(crate) fn last(&self) -> NodeIx {
        self.nodes.len().saturating_sub(1)
    }

    /// Returns the first node of a request's output.
    pub(crate) fn start_of(&self, request: Key) -> Option<NodeIx> {
        Some(self.outputs.get(&request)?.first as NodeIx)
    }

    /// Returns the nodes of a request's output, live or not, in the order of the log.
    pub(crate) fn outputs_of(&self, request: Key) -> impl Iterator<Item = NodeIx> + '_ {
        std::iter::successors(self.start_of(request), |ix| {
            self.nodes[*ix].next_output.map(|next| next as NodeIx)
        })
    }

    /// Notes that the next node is the last one of a request's output.
    fn add_output(&mut self, request: Key) {
        let new = narrow(self.nodes.len());
        let new_nodes = OutputNodes {
            first: new,
            last: new,
        };
        let nodes = self.outputs.entry(request).or_insert(new_nodes);
        let before = std::mem::replace(&mut nodes.last, new);
        if before != new {
            self.nodes[before as NodeIx].next_output = Some(new);
        }
    }

    /// Adds a record. Costs the same whatever the length of the branch, unless the record begins
    /// another branch: then the branch is walked, and its change returned.
    pub(crate) fn push(
        &mut self,
        key: Option<Key>,
        parent: Parent,
        part: Part,
        request: Option<Key>,
        turn: bool,
    ) -> Option<BranchChange> {
        let ix = self.nodes.len();
        let follows = match parent {
            Parent::Previous => self.tip,
            Parent::Root => None,
            // A parent that no line shows (unreadable, or before what was read) must not cost the
            // whole past: the record follows the one before it.
            Parent::Key(key) => self.find(key).or(self.tip),
        };
        let is_beside = matches!(part, Part::Front | Part::Beside);
        if let Some(request) = request {
            self.add_output(request);
        }
        self.nodes.push(Link {
            parent: follows.filter(|_| !is_beside).map(narrow),
            request,
            part,
            turn,
            live: is_beside,
            ..Link::default()
        });
        if let Some(key) = key {
            self.by_key.insert(key, ix);
        }
        if is_beside {
            self.path.push(ix);
            return None;
        }
        let goes_on = follows == self.tip || (follows.is_none() && self.path.is_empty());
        if goes_on || self.hangs_beside(ix) {
            self.nodes[ix].live = true;
            self.path.push(ix);
            // The conversation does not go on from a mere link that is not on the chain.
            if goes_on || part != Part::Link {
                self.tip = Some(ix);
            }
            return None;
        }
        Some(self.walk(ix))
    }

    /// Returns true if a record belongs to the live branch though it does not follow the tip.
    fn hangs_beside(&self, ix: NodeIx) -> bool {
        let node = &self.nodes[ix];
        let Some(parent) = node.parent().filter(|parent| self.is_live(*parent)) else {
            return false;
        };
        match node.part {
            Part::Result | Part::Injected | Part::Link => true,
            Part::Output => node.request.is_some_and(|request| {
                let first = self.start_of(request).filter(|first| *first != ix);
                self.nodes[parent].request == Some(request)
                    || first.is_some_and(|first| self.is_live(first))
            }),
            Part::Input | Part::Front | Part::Beside => false,
        }
    }

    /// Takes in a record that was written again, with the parent it names now.
    pub(crate) fn relink(&mut self, ix: NodeIx, parent: Parent) {
        let new = match parent {
            Parent::Previous => return,
            Parent::Root => None,
            Parent::Key(key) => match self.find(key) {
                None => return,
                parent => parent,
            },
        };
        let is_new = new != self.nodes[ix].parent();
        // No record is its own ancestor. Ancestors are earlier records, unless a record was linked to a later one.
        let is_earlier = !self.has_later_parents && new.is_none_or(|new| new < ix);
        if is_new && (is_earlier || !self.upwards(new).any(|ancestor| ancestor == ix)) {
            self.nodes[ix].parent = new.map(narrow);
            self.walked = None;
            self.has_later_parents |= new.is_some_and(|new| new > ix);
        }
    }

    /// Returns this node and its ancestors, up to the root.
    fn upwards(&self, from: Option<NodeIx>) -> impl Iterator<Item = NodeIx> + '_ {
        std::iter::successors(from, |node| self.nodes[*node].parent())
    }

    /// Makes these nodes the live branch, its last node the tip.
    fn set_path(&mut self, mut path: Vec<NodeIx>) -> BranchChange {
        path.sort_unstable();
        path.dedup();
        self.walked = None;
        let old = std::mem::replace(&mut self.path, path.clone());
        let fresh = path.iter().copied();
        let joined: Vec<NodeIx> = fresh.filter(|ix| !self.is_live(*ix)).collect();
        // Those that stay are not touched.
        let mut stay = path.iter().copied().peekable();
        let mut left = Vec::new();
        for ix in old {
            while stay.next_if(|other| *other < ix).is_some() {}
            if stay.peek() != Some(&ix) {
                self.nodes[ix].live = false;
                left.push(ix);
            }
        }
        for ix in &joined {
            self.nodes[*ix].live = true;
        }
        self.tip = self.last_of_chain();
        BranchChange {
            left,
            joined,
            undone: 0,
        }
    }

    /// Makes the record of this key the leaf. Returns the change, if the live branch is another one now.
    pub(crate) fn set_leaf(&mut self, key: Key, rewound: bool) -> Option<BranchChange> {
        let leaf = self.find(key)?;
        // Agents write the leaf as they go: one that is on the live branch changes nothing.
        if self.is_live(leaf) && !rewound {
            return None;
        }
        let change = self.walk(leaf);
        (!change.left.is_empty() || !change.joined.is_empty()).then_some(change)
    }

    /// Returns the position on the live branch at which the n-th user turn from the end begins, with the nodes that the
    /// harness inserted just above it.
    pub(crate) fn turn_from_end(&self, turns: u64) -> usize {
        if turns == 0 {
            return self.path.len();
        }
        let positions = self.live().enumerate();
        let begins = positions.filter(|(_, ix)| self.nodes[*ix].turn);
        // More turns than there are: the first one is the furthest back it goes.
        let turns = usize::try_from(turns).unwrap_or(usize::MAX);
        let first = begins.rev().take(turns).last();
        let mut from = first.map_or(self.path.len(), |(position, _)| position);
        while from > 0
            && self.part_at(from - 1) == Part::Injected
            && (0..from - 1).any(|at| self.part_at(at) == Part::Output)
        {
            from -= 1;
        }
        from
    }

    /// Returns the part of the exchange that a node of the live branch is.
    fn part_at(&self, position: usize) -> Part {
        self.nodes[self.path[position]].part
    }

    /// Takes all from this position on off the live branch.
    pub(crate) fn cut(&mut self, position: usize) -> BranchChange {
        let cut = self.path.split_off(position.min(self.path.len()));
        let (beside, left): (Vec<NodeIx>, Vec<NodeIx>) =
            cut.into_iter().partition(|ix| self.is_beside(*ix));
        self.path.extend(beside);
        for ix in &left {
            self.nodes[*ix].live = false;
        }
        self.note_cut(&left);
        self.tip = self.last_of_chain();
        BranchChange {
            left,
            ..BranchChange::default()
        }
    }

    /// Leaves only these nodes on the live branch.
    pub(crate) fn retain(&mut self, keys: &[Key]) -> BranchChange {
        self.set_path(keys.iter().filter_map(|key| self.find(*key)).collect())
    }

    /// Takes in a reset: only what is kept stays, and later records hang below the reset's own. Nothing stays once the
    /// resets have kept [`MOST_KEPT`] nodes.
    pub(crate) fn reset(&mut self, key: Option<Key>, kept: &RetainedItems) -> BranchChange {
        let is_full = self.kept >= MOST_KEPT;
        let mut path: Vec<NodeIx> = match kept {
            _ if is_full => Vec::new(),
            RetainedItems::Nothing => Vec::new(),
            RetainedItems::Nodes(keys) => keys.iter().filter_map(|key| self.find(*key)).collect(),
            RetainedItems::Range { first, last } => self.range(*first, *last),
        };
        let front = |ix: &NodeIx| !is_full && self.nodes[*ix].part == Part::Front;
        path.extend(self.live().filter(front));
        path.sort_unstable();
        path.dedup();
        self.kept += path.len();
        let ix = self.nodes.len();
        self.nodes.push(Link {
            reset: true,
            ..Link::default()
        });
        self.resets.insert(ix, runs(&path));
        if let Some(key) = key {
            self.by_key.insert(key, ix);
        }
        path.push(ix);
        self.set_path(path)
    }

    /// Forgets by which keys records are found: none will follow.
    pub(crate) fn forget_keys(&mut self) {
        self.by_key = HashMap::new();
        self.walked = None;
    }

    fn range(&self, first: Key, last: Option<Key>) -> Vec<NodeIx> {
        let to = last.and_then(|key| self.find(key)).unwrap_or(usize::MAX);
        let from = self.find(first).unwrap_or(usize::MAX);
        self.live()
            .filter(|ix| (from..=to).contains(ix) && !self.is_beside(*ix))
            .collect()
    }
}

/// Returns the runs of indices that rise.
fn runs(rising: &[NodeIx]) -> Box<[Range<NodeIx>]> {
    let runs = rising.chunk_by(|ix, next| ix + 1 == *next);
    runs.map(|run| run[0]..run[0] + run.len()).collect()
}
