//! The cost of items beyond their text, by kind of framing.

use crate::Kind;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Items with similar framing: results of one tool, reminders, summaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Class(u64);

impl Class {
    pub(super) fn of(kind: Kind, tool: Option<&str>) -> Class {
        let mut hasher = DefaultHasher::new();
        (kind, tool).hash(&mut hasher);
        Class(hasher.finish())
    }
}

/// A class's index in [`Classes`].
pub(super) type ClassIx = u32;

/// The classes of a session's items by index: a fit looks up some thousand of them.
#[derive(Debug, Clone)]
pub(super) struct Classes {
    ix: BTreeMap<Class, ClassIx>,
    costs: Vec<Cost>,
}

/// The cost of a class beyond the usual framing, in tokens.
#[derive(Debug, Clone, Copy, Default)]
struct Cost {
    prior: f64,
    learned: f64,
    /// Its place among the sums of a fit, counted from 1; 0: none so far.
    slot: usize,
}

impl Classes {
    /// Returns the classes of the models table.
    pub(super) fn new(prior: BTreeMap<Class, f64>) -> Classes {
        let costs = prior.values().map(|prior| Cost {
            prior: *prior,
            learned: *prior,
            slot: 0,
        });
        Classes {
            costs: costs.collect(),
            ix: prior.into_keys().zip(0..).collect(),
        }
    }

    /// Returns the index of a class, which may be new.
    pub(super) fn ix(&mut self, class: Class) -> ClassIx {
        let next = ClassIx::try_from(self.costs.len()).unwrap_or(ClassIx::MAX);
        let ix = *self.ix.entry(class).or_insert(next);
        if ix == next {
            self.costs.push(Cost::default());
        }
        ix
    }

    /// Returns the cost of a class, as far as it was learned.
    pub(super) fn extra_of(&self, class: Class) -> f64 {
        let ix = self.ix.get(&class);
        ix.map_or(0.0, |ix| self.learned(*ix))
    }

    #[inline]
    pub(super) fn learned(&self, ix: ClassIx) -> f64 {
        self.costs[ix as usize].learned
    }

    #[inline]
    pub(super) fn prior(&self, ix: ClassIx) -> f64 {
        self.costs[ix as usize].prior
    }

    /// Returns the place of a class among the sums of a fit; `next`, if it is the first of its class.
    #[inline]
    pub(super) fn slot(&mut self, ix: ClassIx, next: usize) -> usize {
        let slot = &mut self.costs[ix as usize].slot;
        if *slot == 0 {
            *slot = next + 1;
        }
        *slot - 1
    }

    /// Learns what a class costs; it has no slot any more.
    pub(super) fn learn(&mut self, ix: ClassIx, extra: f64) {
        let cost = &mut self.costs[ix as usize];
        (cost.learned, cost.slot) = (extra, 0);
    }

    /// Returns the cost of these classes together, as far as it was learned.
    #[inline]
    pub(super) fn extras(&self, classes: &[ClassIx]) -> f64 {
        classes.iter().map(|ix| self.learned(*ix)).sum()
    }

    /// Returns the cost of these classes together by the models table.
    #[inline]
    pub(super) fn expected(&self, classes: &[ClassIx]) -> f64 {
        classes.iter().map(|ix| self.prior(*ix)).sum()
    }
}
