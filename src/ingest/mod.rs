//! How logs get here.
pub mod discover;
pub mod elide;
pub mod lines;
mod problem;
pub mod tail;
#[cfg(test)]
mod testing;
