//! The sessions of other machines as rows of the list: each machine's own `ctxgauge follow --summaries`, read through
//! the user's own `ssh`.
//!
//! ```text
//!  there: follow ─▶ row ─▶ a line ─▶ ssh ─▶ lines (1 MB) ─▶ Incoming::line ─▶ Update ─▶ the screens' channel
//!                   wire::row                 a thread         a thread for each machine
//! ```
//!
//! A row has the [`Summary`](model::lists::summary::Summary) that the cache of the other machine keeps too, the settings of
//! the session's agent there, and the limits that follow from them and from the configuration there. So a row is made here by the code that makes all other rows, and shows what the list of the
//! other machine shows. JSON numbers would have to be put into a summary field by field, a second time for each number of
//! the list. The price is that both machines need the same version, which the first line says.
//!
//! | module | what it is |
//! |---|---|
//! | [`host`] | the names of machines: which are refused, and the arguments of `ssh` |
//! | [`wire`] | a row as text: what leaves a machine, and what is taken from one |
//! | [`incoming`] | the lines of one machine as updates, with bounds. Pure: the time is passed in |
//! | [`backoff`] | the pauses between two attempts. Pure |
//! | [`link`] | one machine: the process, its ends, and what they mean |
//!
//! Another machine is as hostile as a log. Lines, texts, numbers and sessions are bounded, nothing of it becomes part of a
//! command but the path of a log and the id of a session, quoted, for the machine that sent them. A machine that does not
//! answer is waited for by its own thread alone.

pub mod backoff;
pub mod host;
pub mod incoming;
pub mod link;
#[cfg(test)]
mod testing;
pub mod wire;

pub use host::Host;
pub use link::{Event, Links, Options, start};
