//! Defines the requests of the screens to the reader of the logs.

use super::Finder;
use crate::app::{
    FindingsRequest, FindingsResult, HandOutRequest, HandOutResult, Msg, SearchRequest,
};
use ingest::search::Matcher;
use ingest::{IngestEvent, TextJob};
use model::lists::sessions::FileId;
use std::ffi::OsString;
use std::path::Path;

/// Reads logs for the screens. No request waits: what it leads to comes as updates.
pub trait Logs: Send {
    /// Reads this file first, from its start.
    fn look_at(&self, file: FileId);

    /// Reads the text of an item.
    fn read_text(&self, job: TextJob);

    /// Makes a report or a table of a session, and writes a file of it in the working directory, unless it is to be
    /// copied. The result is given to `done`, which is dropped if the work cannot be begun.
    fn hand_out(&self, request: HandOutRequest, done: Box<dyn FnOnce(HandOutResult) + Send>);

    /// Reads the log of a session for its findings. They are given to `done`, which is dropped if the work cannot be begun.
    fn find(&self, request: FindingsRequest, done: Box<dyn FnOnce(FindingsResult) + Send>);

    /// Searches the texts of sessions, and tells the finder what it finds until that is not wanted any more. The search ends
    /// when the finder is dropped.
    fn search(&self, request: &SearchRequest, matcher: Matcher, finder: Finder);

    /// Returns the program and its arguments that show this log of another machine on its own screens; `None`: none can.
    fn there(&self, host: &str, log: &Path, id: Option<&str>) -> Option<Vec<OsString>>;

    /// Returns true if a file was invented, so that its alerts stay on the screen.
    fn is_invented(&self, file: FileId) -> bool;
}

impl From<IngestEvent> for Msg {
    fn from(event: IngestEvent) -> Msg {
        match event {
            IngestEvent::Update(update) => Msg::Update(update),
            IngestEvent::Text(page) => Msg::Text(page),
            IngestEvent::Problem { path, what } => Msg::Problem { path, what },
            IngestEvent::Banner(text) => Msg::Banner(text),
        }
    }
}
