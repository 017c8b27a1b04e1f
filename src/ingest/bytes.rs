//! From bytes to lines: sources, lines of any length, texts that are read again, and waiting for a writer.

pub(crate) mod clock;
pub mod elide;
pub mod lines;
pub mod patience;
pub mod source;
pub mod sync;
pub(crate) mod text;
