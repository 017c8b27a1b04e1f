//! How logs get here.
mod backwards;
pub mod discover;
pub mod elide;
pub mod lines;
mod problem;
pub mod reader;
pub mod spool;
pub mod tail;
#[cfg(test)]
mod testing;
mod text;
