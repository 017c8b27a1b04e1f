//! The history as the agent has it: the parts of its messages in their order, each a node of its own.
//!
//! A checkpoint may hold the same parts in other messages: after a resume, a compression or masking the
//! agent gives its messages new ids, and joins neighbouring ones of the same author. So parts are found
//! again by what they are.

use super::parts::Bit;
use model::event::Key;
use std::collections::{BTreeSet, HashMap, VecDeque};

/// The identity of a part, by which it is found again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Print {
    /// A notice to the user, which is not in the context, or a part that is gone.
    Notice,
    /// A response that has neither text nor calls yet.
    Empty,
    /// Something that was said, by the hashes of its pieces.
    Said { by_model: bool, hashes: Vec<u64> },
    /// A call, by its id.
    Call(u64),
    /// A result, by its call and its content.
    Result { call: u64, content: u64 },
}

/// A part of the history.
#[derive(Debug, Clone)]
pub(super) struct Slot {
    /// The message that it is in.
    pub(super) message: Option<Key>,
    /// For a result: the message of the call, if that has the result too.
    pub(super) beside: Option<Key>,
    /// Its node; `None`: it is not in the context.
    pub(super) node: Option<Key>,
    pub(super) print: Print,
    /// True if it is a summary, or the model's answer to it.
    pub(super) is_memory: bool,
}

/// The relation of a part of a message to the parts before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Change {
    /// It was there.
    Kept,
    /// It takes the place of another content.
    Filled,
    /// It is new.
    New,
}

/// The last checkpoint and the parts since then.
#[derive(Debug, Clone, Default)]
pub(super) struct History {
    pub(super) slots: Vec<Slot>,
    /// The slots of each message. The first one stays when its part is gone: it is the place of the message.
    messages: HashMap<Key, BTreeSet<usize>>,
    /// Results that so far only the message of their call has, by the call.
    unclaimed: HashMap<u64, usize>,
    /// The nodes made so far.
    made: u64,
}

/// The parts of an older history that a newer one may hold.
#[derive(Debug, Default)]
pub(super) struct Pool {
    slots: Vec<Option<Slot>>,
    said: HashMap<u64, VecDeque<usize>>,
    calls: HashMap<u64, VecDeque<usize>>,
    results: HashMap<u64, VecDeque<usize>>,
    empty: HashMap<Key, usize>,
}

impl History {
    /// Returns true if this message was read.
    pub(super) fn has(&self, message: Key) -> bool {
        self.messages.contains_key(&message)
    }

    /// Returns true if it has the call that this is the result of.
    pub(super) fn has_call(&self, result: &Print) -> bool {
        let Print::Result { call, .. } = result else {
            return false;
        };
        let call = Print::Call(*call);
        self.slots.iter().any(|slot| slot.print == call)
    }

    /// Returns the nodes in the context.
    pub(super) fn nodes(&self) -> Vec<Key> {
        self.slots.iter().filter_map(|slot| slot.node).collect()
    }

    /// Returns the slots in the context, in order.
    pub(super) fn parts(&self) -> impl Iterator<Item = &Slot> {
        let in_prompt = |slot: &&Slot| !matches!(slot.print, Print::Notice | Print::Empty);
        self.slots.iter().filter(in_prompt)
    }

    /// Compares a message with the parts after the first `passed`: the agent writes all of the history once more before
    /// a checkpoint that gives its messages new ids. Returns the number of parts up to the end of the message; `None`:
    /// it is not the next one.
    pub(super) fn passes(&self, mut passed: usize, bits: &[Bit<'_, '_>]) -> Option<usize> {
        let mut parts = self.parts().skip(passed);
        let mut at = 0;
        while at < bits.len() {
            at += match (&parts.next()?.print, &bits[at]) {
                (Print::Said { hashes, .. }, Bit::Said { .. }) => {
                    let pieces = bits[at..].iter().map_while(Bit::piece);
                    let is_same = pieces.take(hashes.len()).eq(hashes.iter().copied());
                    is_same.then(|| hashes.len().max(1))?
                }
                (Print::Call(call), bit @ Bit::Call(_))
                | (Print::Result { call, .. }, bit @ Bit::Result { .. })
                    if bit.call() == Some(*call) =>
                {
                    1
                }
                _ => return None,
            };
            passed += 1;
        }
        Some(passed)
    }

    /// Returns a key for a new node.
    pub(super) fn new_node(&mut self, message: &str) -> Key {
        self.made += 1;
        Key::of_parts(&[message, &self.made.to_string()])
    }

    /// Adds a part. Returns its index.
    pub(super) fn add(&mut self, slot: Slot) -> usize {
        let ix = self.slots.len();
        for message in slot.message.into_iter().chain(slot.beside) {
            self.messages.entry(message).or_default().insert(ix);
        }
        if let (Print::Result { call, .. }, Some(_), None) =
            (&slot.print, slot.beside, slot.message)
        {
            self.unclaimed.insert(*call, ix);
        }
        self.slots.push(slot);
        ix
    }

    /// Returns the result of this call that only the message of the call has so far, for the message of the user's that
    /// has it too.
    pub(super) fn claim(&mut self, call: u64, by: Option<Key>) -> Option<usize> {
        let ix = self.unclaimed.remove(&call)?;
        self.slots[ix].message = by;
        if let Some(message) = by {
            self.messages.entry(message).or_default().insert(ix);
        }
        Some(ix)
    }

    /// Takes a part out of its message. Its node stays, so that it can be emptied.
    pub(super) fn take_out(&mut self, ix: usize) {
        let slot = &mut self.slots[ix];
        slot.print = Print::Notice;
        for message in slot.message.iter().chain(&slot.beside) {
            if let Some(of) = self.messages.get_mut(message)
                && of.first() != Some(&ix)
            {
                of.remove(&ix);
            }
        }
    }

    /// Returns the parts of a message that is written again, from its first to its last.
    pub(super) fn of_message(&self, message: Key) -> Vec<usize> {
        let of = self.messages.get(&message);
        of.into_iter().flatten().copied().collect()
    }

    /// Takes away a message and all after it; everything, where it is unknown.
    pub(super) fn rewind(&mut self, message: Key) {
        let first = self.of_message(message).into_iter().next();
        let kept = self.slots.drain(..first.unwrap_or(0)).collect();
        self.replace(kept);
    }

    /// Replaces the history by these parts.
    pub(super) fn replace(&mut self, slots: Vec<Slot>) {
        let made = self.made;
        *self = History {
            made,
            ..History::default()
        };
        for slot in slots {
            self.add(slot);
        }
    }

    /// Takes all parts, so that the history can be rebuilt from them.
    pub(super) fn take(&mut self) -> Pool {
        let slots = std::mem::take(&mut self.slots);
        self.replace(Vec::new());
        Pool::of(slots)
    }
}

impl Pool {
    fn of(slots: Vec<Slot>) -> Pool {
        let mut pool = Pool::default();
        for (ix, slot) in slots.into_iter().enumerate() {
            match &slot.print {
                Print::Notice => {}
                Print::Empty => pool.empty.extend(slot.message.map(|message| (message, ix))),
                Print::Said { hashes, .. } => {
                    let first = hashes.first().copied().unwrap_or_default();
                    pool.said.entry(first).or_default().push_back(ix);
                }
                Print::Call(call) => pool.calls.entry(*call).or_default().push_back(ix),
                Print::Result { call, .. } => pool.results.entry(*call).or_default().push_back(ix),
            }
            pool.slots.push(Some(slot));
        }
        pool
    }

    /// Returns the number of these pieces that make up one of the parts that begins with them; `None`: none does.
    pub(super) fn length(&self, by_model: bool, pieces: &[u64]) -> Option<usize> {
        let places = self.said.get(pieces.first()?)?;
        places
            .iter()
            .find_map(|ix| self.begins(*ix, by_model, pieces))
    }

    fn begins(&self, ix: usize, by_model: bool, pieces: &[u64]) -> Option<usize> {
        match &self.slots[ix].as_ref()?.print {
            Print::Said {
                by_model: model,
                hashes,
            } if *model == by_model && pieces.starts_with(hashes) => Some(hashes.len()),
            _ => None,
        }
    }

    /// Takes the part that was said in exactly these pieces; `None`: there is none.
    pub(super) fn said(&mut self, by_model: bool, pieces: &[u64]) -> Option<Slot> {
        let places = self.said.get(pieces.first()?)?;
        let is_it = |ix: &usize| self.begins(*ix, by_model, pieces) == Some(pieces.len());
        let at = places.iter().position(is_it)?;
        let ix = self.said.get_mut(pieces.first()?)?.remove(at)?;
        self.slots[ix].take()
    }

    /// Returns a call.
    pub(super) fn call(&mut self, call: u64) -> Option<Slot> {
        let ix = self.calls.get_mut(&call)?.pop_front()?;
        self.slots[ix].take()
    }

    /// Returns a result of a call, of this content before any other.
    pub(super) fn result(&mut self, call: u64, content: u64) -> Option<(Slot, Change)> {
        let places = self.results.get_mut(&call)?;
        let same = Print::Result { call, content };
        let slots = &self.slots;
        let is_same = |ix: &usize| slots[*ix].as_ref().is_some_and(|slot| slot.print == same);
        let (at, change) = match places.iter().position(is_same) {
            Some(at) => (at, Change::Kept),
            None => (0, Change::Filled),
        };
        let ix = places.remove(at)?;
        Some((self.slots[ix].take()?, change))
    }

    /// Returns a response that had neither text nor calls.
    pub(super) fn empty(&mut self, message: Key) -> Option<Slot> {
        let ix = self.empty.remove(&message)?;
        self.slots[ix].take()
    }

    /// Takes the results that are not in a message of the user's yet: they are sent next.
    pub(super) fn take_unsent(&mut self) -> Vec<Slot> {
        let waits =
            |slot: &mut Slot| slot.message.is_none() && matches!(slot.print, Print::Result { .. });
        let slots = self.slots.iter_mut();
        slots.filter_map(|slot| slot.take_if(waits)).collect()
    }

    /// Returns the parts that no message has taken.
    pub(super) fn rest(&self) -> impl Iterator<Item = &Slot> {
        self.slots.iter().flatten()
    }
}
