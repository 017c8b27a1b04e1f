//! The reading of logs for a report: in their order, with patience and progress.

pub(crate) mod in_order;
pub mod patience;
pub mod progress;
pub(crate) mod sessions_builder;
