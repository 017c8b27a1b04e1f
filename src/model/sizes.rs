//! The size of each item and its error: which item takes which part of a report, and what a token of a model costs.

pub(crate) mod attribution;
pub mod calibration;
pub(crate) mod calibrations;
pub(crate) mod items;
pub mod pictures;
pub mod recurring;
pub mod thinking;
