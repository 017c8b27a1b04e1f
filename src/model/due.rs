//! What is due next, and what a user wants to be told: triggers, the prompt cache, alerts and bounds.

pub mod alerts;
pub mod bounds;
pub mod prompt_cache;
pub mod triggers;
