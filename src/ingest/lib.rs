//! Finds logs, reads them from the end, follows them, and reads them through when there is nothing else
//! to do.
//!
//! One thread, the worker, decides what is read and when: first all gauges, from the ends of the files; then the
//! epoch of the session that is looked at, then all of it; then what is appended; then everything else.
//!
//! | thread | what it does |
//! |---|---|
//! | worker | looks for logs, reads ends and what is appended, folds, sends what it read |
//! | pool, as many as there are cores, at most 8 | read whole logs while nobody waits for them |
//! | texts, at most 4 | read the text of an item |
//! | pipe | follows a log that comes through a pipe |
//! | hints | the system's notices of what was written; stat decides whether it was |
//! | overseer | starts another worker when one does not come back from a file |
//!
//! Reports use [`discover::Scanner`] and [`log::reader::read_whole`], [`log::reader::tail_only`] and
//! [`log::reader::each_usage`] without a thread. What a log is kept in is a [`log::Store`].
//!
//! The rooms, each of which uses those above it:
//!
//! | module | what it is |
//! |---|---|
//! | [`log::event`] | what the threads send |
//! | [`bytes::source`] | the bytes of files |
//! | [`bytes::lines`], [`bytes::elide`], `text` | lines and places among them; the text of an item |
//! | [`database`] | rows of databases that their agents write to |
//! | [`log::conversations`], [`sidecar`] | the sessions of a log; its sidecars |
//! | [`log`] | what a log is: the contract of stores, cursors and readings |
//! | [`store`] | the implementations of that contract |
//! | [`log::reader`] | logs that are read through |
//! | [`search`] | items whose text matches a pattern |
//! | [`log::follower`] | a log that is asked about again and again |
//! | [`discover`] | where logs are, and the settings of their agents |
//! | [`discover::which`] | the session that is meant by an id, a folder, a process or a call |
//! | [`index`] | what was read before |
//! | `worker` | follows all logs |
//! | [`demo`] | logs that are part of the program |

pub mod bytes;
pub mod database;
pub mod demo;
pub mod discover;
#[cfg(test)]
mod faults;
pub mod index;
pub mod log;
pub mod search;
pub mod sidecar;
pub mod store;
#[cfg(test)]
mod testing;
mod worker;

pub use log::event::IngestEvent;
pub use worker::handle::{Handle, start};
pub use worker::inbox::Options;
pub use worker::job::{OnWritten, TextJob};
pub use worker::poll::{POLL_INTERVAL, ROUND_INTERVAL};

use std::time::Duration;

/// A session is at work for so long after its log was written. Between two records of an agent that thinks or runs a
/// command are minutes.
pub const AT_WORK: Duration = Duration::from_secs(600);

/// The largest log without usage reports of which all text is counted, in bytes: nothing else of it is known.
/// This many bytes take about a fifth of a second.
pub const COUNTED: u64 = 1 << 20;
