//! The search in a text.

use super::find::find;
use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

/// The pattern of a search over sessions. A text is searched with it too.
pub trait Pattern: Debug + Send + Sync {
    /// Returns its matches in a text: ranges of bytes, in order and apart.
    fn matches(&self, text: &str) -> Vec<Range<u32>>;

    /// Returns the pattern as it was typed.
    fn typed(&self) -> &str;
}

/// A search.
#[derive(Debug, Clone, Default)]
pub(super) struct Search {
    pub(super) pattern: Option<Arc<dyn Pattern>>,
    /// Its matches in the text as shown.
    pub(super) matches: Vec<Range<u32>>,
    /// The current match.
    pub(super) at: Option<usize>,
}

/// A text as it was typed.
#[derive(Debug)]
pub(super) struct TypedText(pub(super) String);

impl Pattern for TypedText {
    fn matches(&self, text: &str) -> Vec<Range<u32>> {
        find(text, &self.0)
    }

    fn typed(&self) -> &str {
        &self.0
    }
}

impl Search {
    /// Returns the pattern that is searched for; empty: none.
    pub(super) fn typed(&self) -> &str {
        self.pattern.as_ref().map_or("", |pattern| pattern.typed())
    }
}

/// A direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchDirection {
    /// To the end.
    Forward,
    /// To the start.
    Back,
}

/// The state of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchStatus<'r> {
    /// The text that is searched for.
    pub needle: &'r str,
    /// The number of the current match on this page, from 1; 0: none.
    pub at: usize,
    /// The number of matches on this page.
    pub count: usize,
}
