//! The next events that concern a user: triggers, the end of the prompt cache, alerts and bounds.

pub mod alerts;
pub mod bounds;
pub mod late_turn;
pub mod prompt_cache;
pub mod triggers;
