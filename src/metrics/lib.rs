//! The numbers of sessions for Prometheus and what reads its formats: how full each context is, how much is left before it
//! compacts, what fills it, what was compacted. Teams have a store, graphs and alerts for such numbers already.
//!
//! A summary is all that leaves a machine: numbers, and the names of agents and models. A session's id is hashed, and its
//! title and project are left out, unless the user asks for them.
//!
//! | module | what it is |
//! |---|---|
//! | [`catalogue`] | the table of all metrics of a session: name, unit, meaning, value |
//! | [`mod@unit`] | units, which are parts of names |
//! | [`labels`] | the labels of a session, which are text of a log |
//! | [`salt`] | the random number of this machine, with which ids are hashed |
//! | [`snapshot`] | the sessions of one moment, as many as fit |
//! | [`text`] | a snapshot in the format of OpenMetrics, or in the one before it |
//! | [`own`] | the numbers of the program itself |
//! | [`followed`] | the sessions that the reading threads change and a scrape reads |
//! | [`mod@file`] | a file that is written once, or kept fresh |
//! | [`server`] | a small server that answers scrapes, and browsers |
//! | [`pages`] | the list of sessions and their reports, for a browser |
//!
//! A new metric is an entry of [`catalogue::FAMILIES`]; `assets/docs/metrics.md` lists all, and a test prints its table.

pub mod catalogue;
pub mod file;
pub mod followed;
pub mod labels;
pub mod own;
pub mod pages;
pub mod salt;
pub mod server;
pub mod snapshot;
#[cfg(test)]
mod testing;
pub mod text;
pub mod unit;

pub use followed::Followed;
pub use labels::{ExtraLabel, Naming};
pub use text::Format;
