//! The place of a message's parts in the history.

use super::Step;
use super::history::{Change, History, Pool, Print, Slot};
use super::parts::{self, Bit};
use super::record::Record;
use model::Kind;
use model::event::Key;

/// Places the parts of one message.
pub(super) struct PartPlacer<'h, 'p, 'r, 'a> {
    pub(super) history: &'h mut History,
    /// The slots of the message as it was written before.
    pub(super) own: Vec<usize>,
    /// The parts before a checkpoint.
    pub(super) pool: Option<&'p mut Pool>,
    pub(super) message: &'r Record<'a>,
    pub(super) is_model: bool,
}

impl<'r, 'a> PartPlacer<'_, '_, 'r, 'a> {
    /// Returns the parts with their slots, and those slots that the message no longer has.
    pub(super) fn steps(&mut self, mut bits: Vec<Bit<'r, 'a>>) -> Vec<Step<'r, 'a>> {
        let mut steps = Vec::new();
        if bits.is_empty() && self.is_model {
            steps.extend(self.step(Print::Empty, Vec::new()));
        }
        while !bits.is_empty() {
            let (print, length) = self.next(&bits);
            let rest = bits.split_off(length);
            steps.extend(self.step(print, std::mem::replace(&mut bits, rest)));
        }
        let gone = std::mem::take(&mut self.own);
        for slot in gone {
            if matches!(self.history.slots[slot].print, Print::Empty | Print::Notice) {
                continue;
            }
            self.history.take_out(slot);
            steps.push(Step {
                slot,
                bits: Vec::new(),
                change: Change::Filled,
            });
        }
        steps
    }

    /// Returns the first part, and how many of these it is made of.
    fn next(&self, bits: &[Bit<'r, 'a>]) -> (Print, usize) {
        let first = &bits[0];
        let call = first.call().unwrap_or_default();
        let print = match first {
            Bit::Call(_) => Print::Call(call),
            Bit::Result { response, .. } => {
                let content = response.response.map_or("", |value| value.get());
                let content = Key::of(content).get();
                Print::Result { call, content }
            }
            Bit::Said { .. } => {
                let pieces: Vec<u64> = bits.iter().map_while(Bit::piece).collect();
                let length = self.length(bits, &pieces);
                let hashes = pieces[..length].to_vec();
                return (
                    Print::Said {
                        by_model: self.is_model,
                        hashes,
                    },
                    length,
                );
            }
        };
        (print, 1)
    }

    /// Returns the number of these texts and files that are one part. Those of a message are, but a checkpoint joins
    /// messages.
    fn length(&self, bits: &[Bit<'r, 'a>], pieces: &[u64]) -> usize {
        let Some(pool) = &self.pool else {
            return pieces.len();
        };
        if let Some(length) = pool.length(self.is_model, pieces) {
            return length;
        }
        let begins_another = |at: &usize| {
            bits[*at].begins_note() || pool.length(self.is_model, &pieces[*at..]).is_some()
        };
        if bits[0].begins_note() {
            1
        } else {
            (1..pieces.len())
                .find(begins_another)
                .unwrap_or(pieces.len())
        }
    }

    fn step(&mut self, print: Print, bits: Vec<Bit<'r, 'a>>) -> Option<Step<'r, 'a>> {
        let (slot, change) = self
            .again(&print)
            .or_else(|| self.claimed(&print))
            .or_else(|| self.taken_from_pool(&print))
            .unwrap_or_else(|| (self.add(&print, &bits), Change::New));
        self.history.slots[slot].print = print;
        Some(Step { slot, bits, change })
    }

    /// Returns a part that the message had when it was written before.
    fn again(&mut self, print: &Print) -> Option<(usize, Change)> {
        let slots = &self.history.slots;
        let same = self.own.iter().position(|ix| slots[*ix].print == *print);
        let alike = |old: &Print| match (old, print) {
            (Print::Empty, Print::Said { .. } | Print::Call(_)) => true,
            (Print::Said { by_model: a, .. }, Print::Said { by_model: b, .. }) => a == b,
            (Print::Result { call: a, .. }, Print::Result { call: b, .. }) => a == b,
            _ => false,
        };
        let (at, change) = match same {
            Some(at) => (at, Change::Kept),
            None => {
                let at = self.own.iter().position(|ix| alike(&slots[*ix].print))?;
                (at, Change::Filled)
            }
        };
        Some((self.own.remove(at), change))
    }

    /// Returns a result that was next to its call and now is in a message of the user's too.
    fn claimed(&mut self, print: &Print) -> Option<(usize, Change)> {
        let ix = match print {
            Print::Result { call, .. } if !self.is_model => {
                self.history.claim(*call, self.message.id.key())?
            }
            _ => return None,
        };
        let change = if self.history.slots[ix].print == *print {
            Change::Kept
        } else {
            Change::Filled
        };
        Some((ix, change))
    }

    /// Returns a part that was there before the checkpoint.
    fn taken_from_pool(&mut self, print: &Print) -> Option<(usize, Change)> {
        let pool = self.pool.as_mut()?;
        let (slot, change) = match print {
            Print::Notice => return None,
            Print::Empty => (pool.empty(self.message.id.key()?)?, Change::Kept),
            Print::Said { by_model, hashes } => (pool.said(*by_model, hashes)?, Change::Kept),
            Print::Call(call) => (pool.call(*call)?, Change::Kept),
            Print::Result { call, content } => pool.result(*call, *content)?,
        };
        let (message, beside) = self.owners(print);
        let ix = self.history.add(Slot {
            message,
            beside,
            ..slot
        });
        Some((ix, change))
    }

    fn add(&mut self, print: &Print, bits: &[Bit<'r, 'a>]) -> usize {
        let (message, beside) = self.owners(print);
        let node = self.history.new_node(self.message.id.or_empty());
        let said = matches!(print, Print::Said { .. });
        let last = self.history.slots.last();
        let after_summary = last.is_some_and(|last| last.is_memory);
        let after_model =
            last.is_some_and(|last| matches!(last.print, Print::Said { by_model: true, .. }));
        let is_memory = said
            && if self.is_model {
                after_summary && !after_model
            } else {
                parts::class(bits).1 == Kind::Summary
            };
        self.history.add(Slot {
            message,
            beside,
            node: Some(node),
            print: print.clone(),
            is_memory,
        })
    }

    /// Returns the messages that a new part is in: those of the user's, and that of the call.
    fn owners(&self, print: &Print) -> (Option<Key>, Option<Key>) {
        let own = self.message.id.key();
        match print {
            Print::Result { .. } if self.is_model => (None, own),
            _ => (own, None),
        }
    }
}
