//! Keeps the fields of a record that could not be read.

use model::event::{Event, EventSink};
use std::cell::{Cell, RefCell};

/// The fields that could not be read.
#[derive(Debug, Default, Clone)]
pub struct LostFields {
    /// The names of fields.
    pub(super) names: RefCell<Vec<&'static str>>,
    /// Those of them that hold numbers, without which the report around them cannot be used.
    pub(super) numbers: RefCell<Vec<&'static str>>,
    /// Usage reports that are not used, or not whole.
    pub(super) usages: Cell<u64>,
    /// True if one of them is used without its prompt.
    pub(super) lacks_prompt: Cell<bool>,
    /// The number of values that enclose the one that is being read.
    pub(super) depth: Cell<u32>,
}

impl LostFields {
    /// Notes that a field of this name was lost.
    pub fn note(&self, name: &'static str) {
        self.names.borrow_mut().push(name);
    }

    /// Notes the same, unless it was noted before.
    pub fn note_once(&self, name: &'static str) {
        if !self.names.borrow().contains(&name) {
            self.note(name);
        }
    }

    /// The names of the fields that were lost.
    pub fn names(&self) -> Vec<&'static str> {
        self.names.borrow().clone()
    }

    /// Notes that a usage report cannot be used.
    pub fn note_usage(&self) {
        self.usages.update(|n| n + 1);
    }

    /// Returns the counts of the numbers and the reports that are lost so far.
    pub(super) fn mark(&self) -> (usize, u64) {
        (self.numbers.borrow().len(), self.usages.get())
    }

    /// Returns true if a usage report is used without its prompt.
    pub fn lacks_prompt(&self) -> bool {
        self.lacks_prompt.get()
    }

    /// Returns true if a usage report was not whole.
    pub fn has_usage(&self) -> bool {
        self.usages.get() > 0
    }

    /// Adds the losses that were noted elsewhere.
    pub fn extend(&self, other: LostFields) {
        self.numbers
            .borrow_mut()
            .append(&mut other.numbers.into_inner());
        self.usages.update(|n| n + other.usages.get());
        self.lacks_prompt
            .update(|lacks| lacks || other.lacks_prompt.get());
        self.names
            .borrow_mut()
            .append(&mut other.names.into_inner());
    }

    /// Reports the losses as events of the current record.
    pub fn report(&self, out: &mut EventSink<'_>) {
        for name in self.names.borrow().iter() {
            out.emit(Event::Lost(name));
        }
        for _ in 0..self.usages.get() {
            out.emit(Event::UnreadableUsage);
        }
        if self.lacks_prompt.get() {
            out.without_prompt();
        }
    }
}
