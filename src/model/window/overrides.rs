//! What an agent's settings change about its window and trigger.

/// The windows and triggers in an agent's settings files. The policy holds for what they leave out. All
/// numbers are tokens.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Overrides {
    /// The window, where the log has none.
    pub window: Option<u64>,
    /// The window is no larger than this, whatever the model's.
    pub window_at_most: Option<u64>,
    /// Compaction uses this window where the model's is larger; it is proactive then, even where it
    /// would not be otherwise.
    pub compact_window: Option<u64>,
    /// The most output per request: this much is reserved for it, if that is less than usual.
    pub output: Option<u64>,
    /// In place of the policy's reserve.
    pub reserve: Option<u64>,
    /// In place of the policy's share of the window: 0 to 1.
    pub share: Option<f64>,
    /// Percent of what the output leaves of the window, 1 to 100: can only lower the trigger.
    pub percent: Option<f64>,
    /// In place of the policy's budget: it fires at so many tokens, whatever the window.
    pub budget: Option<u64>,
    /// The trigger is no higher than this.
    pub limit: Option<u64>,
    /// Whether the agent compacts by itself at all.
    pub compaction: Compaction,
}

/// Whether an agent compacts by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compaction {
    /// According to its policy.
    #[default]
    Usual,
    /// Never: it was switched off.
    Off,
}

impl Overrides {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        *self == Overrides::default()
    }
}
