//! The cost of a session: its calls and tools, the tokens that were sent again, and the money.

pub mod cache_history;
pub mod calls;
pub mod carried;
pub mod clearing;
pub mod counts;
pub mod rebuilds;
pub mod spending;
pub mod texts;
pub mod tools;
