//! Which message of a user begins a turn, and which is put into the running one.

/// Where the conversation stands between turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// No line has told: the first message begins a turn, and each that follows an answer.
    #[default]
    Untold,
    /// A turn has begun, the user's message comes.
    Waiting,
    /// It came: what the user says now is put into the running turn.
    Running,
}

/// Follows the turns of a rollout.
#[derive(Debug, Default)]
pub(super) struct Turns {
    state: State,
    /// Whether `task_started` lines tell of turns; older files have the settings only.
    told: bool,
    /// Whether the history was just rebuilt, after which the running turn's settings are repeated.
    rebuilt: bool,
    /// Whether the model has spoken last with something else than an answer.
    busy: bool,
}

impl Turns {
    /// A `task_started`.
    pub fn started(&mut self) {
        self.told = true;
        self.rebuilt = false;
        self.state = State::Waiting;
    }

    /// A `turn_context`.
    pub fn settings(&mut self) {
        if !self.told && !self.rebuilt {
            self.state = State::Waiting;
        }
    }

    /// A `compacted`.
    pub fn rebuilt(&mut self) {
        self.rebuilt = true;
    }

    /// The model wrote an answer, or something that is to be followed by more.
    pub fn spoke(&mut self, answer: bool) {
        self.rebuilt = false;
        self.busy = !answer;
    }

    /// A tool gave something back.
    pub fn returned(&mut self) {
        self.rebuilt = false;
    }

    /// Whether what the user says now begins a turn.
    fn opens(&self) -> bool {
        match self.state {
            State::Untold => !self.busy,
            State::Waiting => true,
            State::Running => false,
        }
    }

    /// Whether a turn was begun in which the user has said nothing yet.
    pub fn waits(&self) -> bool {
        self.state == State::Waiting
    }

    /// The user said something. Returns whether that begins a turn.
    pub fn said(&mut self) -> bool {
        let opens = self.opens();
        self.rebuilt = false;
        match self.state {
            State::Untold => self.busy = true,
            State::Waiting | State::Running => self.state = State::Running,
        }
        opens
    }
}
