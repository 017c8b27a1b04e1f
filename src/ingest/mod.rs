//! How logs get here.
pub mod elide;
pub mod lines;
pub mod tail;
