//! The future of a session, and the past under other rules: forecasts, compactions, policies, estimators, growths.

pub mod compaction;
pub mod estimators;
pub mod forecast;
pub mod jumps;
pub mod whatif;
