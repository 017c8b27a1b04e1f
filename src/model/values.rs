//! Plain values that the others are made of: names, versions, projects, thresholds, prices of usage, what earlier
//! sessions have shown.

pub(crate) mod cache_clock;
pub mod earlier;
pub(crate) mod file_id;
pub mod hooked;
pub(crate) mod median;
pub mod names;
pub mod process_activity;
pub mod project;
pub mod prompt;
pub(crate) mod stored;
pub mod threshold;
pub mod token_usage;
pub mod version;
