//! Defines the events that the threads which read logs send to their receivers.

use model::lists::sessions::Update;
use model::lists::text::TextPage;
use std::path::PathBuf;

/// A message of the threads that read logs, or of the demo.
#[derive(Debug)]
pub enum IngestEvent {
    /// An update of the sessions.
    Update(Update),
    /// A page of an item's text that was asked for.
    Text(Box<TextPage>),
    /// Something could not be read: a folder, a file.
    Problem {
        /// Where.
        path: PathBuf,
        /// The problem, and what to do about it.
        what: String,
    },
    /// A line to show at the top from now on; empty: none.
    Banner(String),
}

impl From<Update> for IngestEvent {
    fn from(update: Update) -> IngestEvent {
        IngestEvent::Update(update)
    }
}
