//! The text of one item, a page at a time. It is read from the log when it is shown, and kept nowhere
//! else.

use crate::event::Place;
use crate::history::Item;
use crate::values::file_id::FileId;

/// Bytes of text in a page; a page ends with the character that begins in it.
pub const PAGE_BYTES: u64 = 1 << 20;

/// A request for a page of an item's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextRequest {
    /// The item's file.
    pub file: FileId,
    /// The item's place in it.
    pub place: Place,
    /// The item's hash: distinguishes it from others at the same place, and from what a rewritten log
    /// has there.
    pub hash: u64,
    /// The page, counted from 0.
    pub page: u32,
}

impl TextRequest {
    /// Returns the first page of an item's text; `None`: it has none, or none in the log.
    pub fn of(file: FileId, item: &Item) -> Option<TextRequest> {
        (item.size.bytes > 0).then_some(TextRequest {
            file,
            place: item.place,
            hash: item.hash,
            page: 0,
        })
    }
}

/// A page of an item's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextPage {
    /// The request.
    pub of: TextRequest,
    /// The text, or a message that names the problem and what to do.
    pub text: Result<Text, String>,
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    /// Exactly what the model received. Not safe to print to a terminal.
    pub text: String,
    /// The pages of the whole, one at least.
    pub pages: u32,
    /// Bytes of the whole.
    pub bytes: u64,
    /// Lines of the whole.
    pub lines: u64,
    /// The line in which this part begins, counted from 1.
    pub line: u64,
}

/// Returns the number of pages of a text of this many bytes.
pub fn pages(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(PAGE_BYTES).max(1)).unwrap_or(u32::MAX)
}
