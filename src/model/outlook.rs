//! What will happen, or would have: forecasts, compactions, other policies, and other estimators.

pub mod compaction;
pub mod estimators;
pub mod forecast;
pub mod jumps;
pub mod whatif;
