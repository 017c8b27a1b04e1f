//! Output inside an agent's own program: its status line, and the answers of its hooks.

pub mod hook;
pub mod line;
