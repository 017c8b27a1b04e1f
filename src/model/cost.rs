//! What a session has cost: its calls and tools, what was sent again, and the money.

pub mod calls;
pub mod carried;
pub mod clearing;
pub mod counts;
pub mod repeats;
pub mod spending;
pub mod tools;
