//! Forgets the middle of a branch that goes on at its end.

use super::link::{Link, NodeItems};
use super::{NodeIx, RecordTree};
use crate::event::Key;
use crate::history::ItemIx;
use crate::small::short;

impl RecordTree {
    /// Returns the last node, if it continues the live branch and no reset took place.
    pub(crate) fn end_of_branch(&self) -> Option<NodeIx> {
        let last = self.nodes.len().checked_sub(1)?;
        let continues = self.tip == Some(last) && self.path.last() == Some(&short(last));
        (continues && self.resets.is_empty() && !self.has_later_parents).then_some(last)
    }

    /// Forgets all nodes but the first ones and the last, which follow each other then and are live. Returns the keys
    /// that were forgotten, of nodes and requests, and the items of each node that is kept.
    pub(crate) fn fold(&mut self, front: usize) -> (Vec<Key>, Vec<Vec<ItemIx>>) {
        let old = std::mem::take(self);
        let last = old.nodes.len().saturating_sub(1);
        let kept = (0..front.min(last)).chain([last]);
        let mut forgotten = Vec::new();
        let mut items = Vec::new();
        for node in kept {
            let ix = self.nodes.len();
            let is_beside = old.is_beside(node);
            let parent = self.tip.filter(|_| !is_beside);
            self.nodes.push(Link {
                key: None,
                parent: parent.into(),
                response: None.into(),
                next_output: None.into(),
                held: NodeItems::default(),
                ..old.nodes.at(node).clone()
            });
            if !is_beside {
                self.tip = Some(ix);
            }
            self.path.push(short(ix));
            items.push(old.items(node).collect::<Vec<ItemIx>>());
        }
        for node in 0..old.nodes.len() {
            let key = old.nodes.at(node).key;
            let Some(key) = key.filter(|key| old.find(*key) == Some(node)) else {
                continue;
            };
            if node == last {
                let end = self.last();
                self.nodes.change(end, |link| link.key = Some(key));
                self.note_key(key);
            } else {
                forgotten.push(key);
            }
        }
        forgotten.extend(old.responses.iter().map(|response| response.request));
        let mut next = 0;
        for (node, items) in items.iter().enumerate() {
            for _ in items {
                self.hold(node, next);
                next += 1;
            }
        }
        (forgotten, items)
    }
}
