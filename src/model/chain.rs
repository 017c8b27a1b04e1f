//! The tree of a log's records and the branch of it that is live.
//!
//! Most logs are lists: every record follows the one before. Claude Code and others write a tree, in
//! which parallel tool calls hang side by side and a rewind begins a new branch. The live branch is
//! the path from the leaf to the last reset, plus what belongs to it though it hangs beside it: other
//! lines of the same response, and the results of its tool calls.

use super::event::{Kept, Key, Parent, Part};
use super::session::ItemIx;
use std::collections::{HashMap, HashSet};

/// A record's place in the tree.
#[derive(Debug, Clone)]
struct Link {
    parent: Option<usize>,
    part: Part,
    request: Option<Key>,
    turn: bool,
    /// Nothing before this record is in the context, but for what was kept.
    reset: Option<Vec<usize>>,
    live: bool,
    items: Vec<ItemIx>,
}

/// The tree and its live branch.
#[derive(Debug, Clone, Default)]
pub(super) struct Chain {
    nodes: Vec<Link>,
    by_key: HashMap<Key, usize>,
    /// The first node of each request's output.
    first_of: HashMap<Key, usize>,
    /// The live branch's nodes, in the order of the log.
    path: Vec<usize>,
    /// The record after which the conversation goes on.
    tip: Option<usize>,
}

impl Chain {
    pub(super) fn find(&self, key: Key) -> Option<usize> {
        self.by_key.get(&key).copied()
    }

    pub(super) fn live(&self) -> &[usize] {
        &self.path
    }

    pub(super) fn is_live(&self, node: usize) -> bool {
        self.nodes[node].live
    }

    pub(super) fn items(&self, node: usize) -> &[ItemIx] {
        &self.nodes[node].items
    }

    pub(super) fn request_of(&self, node: usize) -> Option<Key> {
        self.nodes[node].request
    }

    pub(super) fn hold(&mut self, node: usize, item: ItemIx) {
        self.nodes[node].items.push(item);
    }

    pub(super) fn last(&self) -> usize {
        self.nodes.len().saturating_sub(1)
    }

    /// The first node of a request's output.
    pub(super) fn start_of(&self, request: Key) -> Option<usize> {
        self.first_of.get(&request).copied()
    }

    /// The live nodes of a request's output.
    pub(super) fn outputs_of(&self, request: Key) -> impl Iterator<Item = usize> + '_ {
        self.path
            .iter()
            .copied()
            .filter(move |node| self.nodes[*node].request == Some(request))
    }

    /// Adds a record. Where the live branch becomes another one, returns the nodes of the old one.
    pub(super) fn push(
        &mut self,
        key: Option<Key>,
        parent: Parent,
        part: Part,
        request: Option<Key>,
        turn: bool,
    ) -> Option<Vec<usize>> {
        let ix = self.nodes.len();
        let follows = match parent {
            Parent::Previous => self.tip,
            Parent::Root => None,
            // A parent that no line shows (unreadable, or before what was read) must not cost the
            // whole past: the record follows the one before it.
            Parent::Key(key) => self.find(key).or(self.tip),
        };
        self.nodes.push(Link {
            parent: follows,
            part,
            request,
            turn,
            reset: None,
            live: true,
            items: Vec::new(),
        });
        if let Some(key) = key {
            self.by_key.insert(key, ix);
        }
        if let Some(request) = request {
            self.first_of.entry(request).or_insert(ix);
        }
        let goes_on = follows == self.tip || (follows.is_none() && self.path.is_empty());
        if goes_on || self.hangs_beside(ix) {
            self.path.push(ix);
            // A mere link beside the chain is not where the conversation goes on.
            if goes_on || part != Part::Link {
                self.tip = Some(ix);
            }
            return None;
        }
        let old = self.path.clone();
        self.walk(ix);
        Some(old)
    }

    /// Whether a record belongs to the live branch though it does not follow the tip.
    fn hangs_beside(&self, ix: usize) -> bool {
        let node = &self.nodes[ix];
        let Some(parent) = node.parent.filter(|parent| self.nodes[*parent].live) else {
            return false;
        };
        match node.part {
            Part::Result | Part::Injected | Part::Link => true,
            Part::Output => {
                node.request.is_some()
                    && (self.nodes[parent].request == node.request
                        || node
                            .request
                            .and_then(|request| self.start_of(request))
                            .is_some_and(|first| first != ix && self.nodes[first].live))
            }
            Part::Input => false,
        }
    }

    /// A record that was written again, with the parent it names now.
    pub(super) fn relink(&mut self, ix: usize, parent: Parent) {
        let new = match parent {
            Parent::Previous => return,
            Parent::Root => None,
            Parent::Key(key) => match self.find(key) {
                Some(parent) => Some(parent),
                None => return,
            },
        };
        let old = self.nodes[ix].parent;
        self.nodes[ix].parent = new;
        if self.loops(ix) {
            self.nodes[ix].parent = old;
        }
    }

    fn loops(&self, ix: usize) -> bool {
        let mut at = self.nodes[ix].parent;
        for _ in 0..=self.nodes.len() {
            match at {
                None => return false,
                Some(parent) if parent == ix => return true,
                Some(parent) => at = self.nodes[parent].parent,
            }
        }
        true
    }

    /// Makes `leaf` the end of the live branch.
    fn walk(&mut self, leaf: usize) {
        let mut on: HashSet<usize> = HashSet::new();
        let mut at = Some(leaf);
        let mut floor = 0;
        while let Some(ix) = at {
            if !on.insert(ix) {
                break;
            }
            if let Some(kept) = &self.nodes[ix].reset {
                floor = ix;
                on.extend(kept);
                break;
            }
            at = self.nodes[ix].parent;
        }
        self.attach_beside(&mut on, floor);
        for ix in &self.path {
            self.nodes[*ix].live = false;
        }
        self.path = on.into_iter().collect();
        self.path.sort_unstable();
        for ix in &self.path {
            self.nodes[*ix].live = true;
        }
        self.tip = Some(leaf);
    }

    /// Adds what belongs to a branch though it hangs beside it.
    fn attach_beside(&self, on: &mut HashSet<usize>, floor: usize) {
        let lowest = on.iter().copied().filter(|ix| *ix >= floor).min();
        let requests: HashSet<Key> = on.iter().filter_map(|ix| self.nodes[*ix].request).collect();
        let mut beside: HashSet<usize> = HashSet::new();
        for ix in lowest.unwrap_or(0)..self.nodes.len() {
            let node = &self.nodes[ix];
            if on.contains(&ix) {
                continue;
            }
            let parent_on = node.parent.is_some_and(|parent| {
                // Below a result that itself hangs beside, reminders follow it; below the chain
                // itself only results do: other records there are a branch that was left.
                beside.contains(&parent) && node.part != Part::Input
                    || on.contains(&parent)
                        && (node.part == Part::Result || node.part == Part::Link)
            });
            let joins = match node.part {
                Part::Output => node.request.is_some_and(|r| requests.contains(&r)),
                Part::Result | Part::Injected | Part::Link => parent_on,
                Part::Input => false,
            };
            if joins {
                beside.insert(ix);
            }
        }
        on.extend(beside);
    }

    /// Makes the record of this key the leaf. Returns whether the live branch changed.
    pub(super) fn set_leaf(&mut self, key: Key, rewound: bool) -> bool {
        let Some(leaf) = self.find(key) else {
            return false;
        };
        // Agents write the leaf as they go: one that is on the live branch says nothing new.
        if self.nodes[leaf].live && !rewound {
            return false;
        }
        let old = self.path.clone();
        self.walk(leaf);
        old != self.path
    }

    /// Where on the live branch the record of this key stands.
    pub(super) fn position(&self, key: Key) -> Option<usize> {
        let node = self.find(key)?;
        self.path.iter().position(|ix| *ix == node)
    }

    /// Where on the live branch the n-th user turn from the end begins, with what the harness put in
    /// just above it.
    pub(super) fn turn_from_end(&self, turns: u64) -> usize {
        if turns == 0 {
            return self.path.len();
        }
        let mut left = turns;
        let mut from = 0;
        for (position, ix) in self.path.iter().enumerate().rev() {
            if self.nodes[*ix].turn {
                from = position;
                left -= 1;
                if left == 0 {
                    break;
                }
            }
        }
        if left > 0 {
            // More turns than there are: the first one is the furthest back it goes.
            from = self
                .path
                .iter()
                .position(|ix| self.nodes[*ix].turn)
                .unwrap_or(self.path.len());
        }
        while from > 0
            && matches!(self.nodes[self.path[from - 1]].part, Part::Injected)
            && self.path[..from - 1]
                .iter()
                .any(|ix| self.nodes[*ix].part == Part::Output)
        {
            from -= 1;
        }
        from
    }

    /// Takes all from this position on off the live branch.
    pub(super) fn cut(&mut self, position: usize) {
        for ix in self.path.drain(position.min(self.path.len())..) {
            self.nodes[ix].live = false;
        }
        self.tip = self.path.last().copied();
    }

    /// Leaves only these nodes on the live branch.
    pub(super) fn retain(&mut self, keys: &[Key]) {
        for ix in self.path.drain(..) {
            self.nodes[ix].live = false;
        }
        let mut path: Vec<usize> = keys.iter().filter_map(|key| self.find(*key)).collect();
        path.sort_unstable();
        path.dedup();
        for ix in &path {
            self.nodes[*ix].live = true;
        }
        self.tip = path.last().copied();
        self.path = path;
    }

    /// A reset: only what is kept stays, and later records hang below the reset's own.
    pub(super) fn reset(&mut self, key: Option<Key>, kept: &Kept) {
        let stays: Vec<usize> = match kept {
            Kept::Nothing => Vec::new(),
            Kept::Nodes(keys) => keys.iter().filter_map(|key| self.find(*key)).collect(),
            Kept::Range { first, last } => self.range(*first, *last),
        };
        for ix in self.path.drain(..) {
            self.nodes[ix].live = false;
        }
        let ix = self.nodes.len();
        self.nodes.push(Link {
            parent: None,
            part: Part::Link,
            request: None,
            turn: false,
            reset: Some(stays.clone()),
            live: true,
            items: Vec::new(),
        });
        if let Some(key) = key {
            self.by_key.insert(key, ix);
        }
        self.path = stays;
        self.path.push(ix);
        self.path.sort_unstable();
        self.path.dedup();
        for node in &self.path {
            self.nodes[*node].live = true;
        }
        self.tip = Some(ix);
    }

    /// Forgets all nodes but the live ones, which hold these items from now on. There is no going on
    /// from here.
    pub(super) fn keep_only_live(&mut self, items: Vec<Vec<ItemIx>>) {
        self.nodes = items
            .into_iter()
            .zip(&self.path)
            .map(|(items, old)| Link {
                items,
                parent: None,
                reset: None,
                ..self.nodes[*old].clone()
            })
            .collect();
        self.path = (0..self.nodes.len()).collect();
        self.tip = self.path.last().copied();
        self.by_key = HashMap::new();
        self.first_of = HashMap::new();
    }

    fn range(&self, first: Key, last: Option<Key>) -> Vec<usize> {
        let Some(from) = self.find(first) else {
            return Vec::new();
        };
        let to = last.and_then(|key| self.find(key)).unwrap_or(usize::MAX);
        self.path
            .iter()
            .copied()
            .filter(|ix| (from..=to).contains(ix))
            .collect()
    }
}
