//! Determines which message of a user begins a turn, and which is inserted into the running one.
//!
//! Newer files mark turns by `task_started`. Older ones write the turn's settings, before the user's
//! message or after it, and some of them again before each request; the oldest write nothing. There, a
//! user's message after an answer begins a turn, and one while tools run does not.

/// Follows the turns of a rollout.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// A turn has begun that has no user message yet.
    pub waiting: bool,
    /// True if `task_started` lines mark turns.
    marked: bool,
    /// True if the history was just rebuilt, after which the running turn's settings are repeated.
    pub rebuilt: bool,
    /// True if an answer of the model is still to come.
    pub busy: bool,
    /// True if the newest item is an answer of the model.
    answered: bool,
}

impl Turns {
    /// Takes in a `task_started`.
    pub fn started(&mut self) {
        self.marked = true;
        self.answered = false;
        self.rebuilt = false;
        self.waiting = true;
    }

    /// Takes in a `turn_context`.
    pub fn settings(&mut self) {
        self.waiting |= !self.marked && !self.rebuilt;
    }

    /// Takes in an output of the model: its answer, or one that more will follow.
    pub fn output(&mut self, is_answer: bool) {
        self.rebuilt = false;
        (self.busy, self.answered) = (!is_answer, is_answer);
        // The settings were those of the running turn, written again.
        self.waiting &= self.marked;
    }

    /// Takes in a tool's result.
    pub fn result(&mut self) {
        self.rebuilt = false;
        self.answered = false;
    }

    /// Returns true if the running turn has its answer: nothing came after it.
    pub fn has_ended(&self) -> bool {
        self.marked && self.answered && !self.waiting
    }

    /// Takes in a message of the user. Returns true if it begins a turn.
    pub fn user_message(&mut self) -> bool {
        let begins = self.waiting || !self.marked && !self.busy;
        self.rebuilt = false;
        self.waiting = false;
        self.answered = false;
        self.busy = true;
        begins
    }
}
