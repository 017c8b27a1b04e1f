//! Implements [`Store`] for each of the ways in which logs are kept.
//!
//! A file of lines, alone or with the content that it inherits, and a folder of numbered files are [`lines`], a
//! document that is rewritten is a [`document`], a session of a database is [`rows`],
//! standard input is a [`pipe`]. The store of a log is chosen in [`open`]; no code outside of this module depends on
//! it. Places and cursors are interpreted by the store that made them.

pub mod backwards;
mod beginning;
pub mod document;
mod line_cursor;
pub mod lines;
pub mod pipe;
pub mod rows;
#[cfg(test)]
mod tests;
mod usage;

use crate::bytes::source;
use crate::bytes::source::chain::Chain;
use crate::bytes::source::file_system::Location;
use crate::bytes::source::folder::Folder;
use crate::log::Store;
use document::Document;
use formats::StoreKind;
use lines::LineLog;
use std::sync::Arc;

/// Returns the store of this kind at a path; `None`: a database, each of whose sessions has a store of its own.
pub fn open(kind: StoreKind, at: &Location) -> Option<Arc<dyn Store>> {
    Some(match kind {
        StoreKind::Lines => Arc::new(LineLog::new(source::file(at))),
        StoreKind::Chain(spec) => Arc::new(LineLog::new(Arc::new(Chain::new(at, spec)))),
        StoreKind::Folder(spec) => Arc::new(LineLog::new(Arc::new(Folder::new(at, spec)))),
        StoreKind::Document => Arc::new(Document::new(source::plain(at))),
        StoreKind::Database(_) => return None,
    })
}
