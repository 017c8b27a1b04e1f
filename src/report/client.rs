//! What an agent's own program shows: the line of its status line, and the answers of its hooks.

pub mod hook;
pub mod line;
