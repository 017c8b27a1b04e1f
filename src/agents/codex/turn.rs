//! Which message of a user begins a turn, and which is put into the running one.
//!
//! Newer files tell by `task_started`. Older ones write the turn's settings, before the user's message
//! or after it, and some of them again before each request; the oldest write nothing. There, what the
//! user says after an answer begins a turn, and what is said while tools run does not.

/// Follows the turns of a rollout.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// A turn has begun in which the user has said nothing yet.
    waiting: bool,
    /// Whether `task_started` lines tell of turns.
    told: bool,
    /// Whether the history was just rebuilt, after which the running turn's settings are repeated.
    rebuilt: bool,
    /// Whether an answer of the model is still to come.
    busy: bool,
}

impl Turns {
    /// A `task_started`.
    pub fn started(&mut self) {
        self.told = true;
        self.rebuilt = false;
        self.waiting = true;
    }

    /// A `turn_context`.
    pub fn settings(&mut self) {
        self.waiting |= !self.told && !self.rebuilt;
    }

    /// A `turn_aborted`.
    pub fn aborted(&mut self) {
        self.busy = false;
    }

    /// A `compacted`.
    pub fn rebuilt(&mut self) {
        self.rebuilt = true;
    }

    /// The model wrote an answer, or something that is to be followed by more.
    pub fn spoke(&mut self, answer: bool) {
        self.rebuilt = false;
        self.busy = !answer;
        // The settings were those of the running turn, written again.
        self.waiting &= self.told;
    }

    /// A tool gave something back.
    pub fn returned(&mut self) {
        self.rebuilt = false;
    }

    /// Whether a turn was begun in which the user has said nothing yet.
    pub fn waits(&self) -> bool {
        self.waiting
    }

    /// The user said something. Returns whether that begins a turn.
    pub fn said(&mut self) -> bool {
        let begins = self.waiting || !self.told && !self.busy;
        self.rebuilt = false;
        self.waiting = false;
        self.busy = true;
        begins
    }
}
