//! Defines how a log is recognised by its first bytes.

use super::{ArrayName, StoreKind, head};

/// The way to recognise a log by its first bytes, and the way in which it holds its records.
#[must_use]
#[derive(Clone, Copy)]
pub struct Recognition {
    /// See [`Format::recognise`](super::Format::recognise).
    pub recognise: &'static (dyn Fn(&[u8]) -> bool + Sync),
    /// The name of a family of formats whose logs only differ in their paths; empty: no other is like this one.
    pub family: &'static str,
    /// See [`Format::store`](super::Format::store). The default is a file of lines or a document, by how the file
    /// begins.
    pub store: &'static (dyn Fn(&[u8]) -> Option<StoreKind> + Sync),
    /// The array that holds the records of a document. The decoder is given the document with this array
    /// emptied, then each of its elements as a line.
    pub list: Option<ArrayName>,
    /// True if a log holds several sessions, none of them the parent of the others. Their order and names depend on the
    /// beginning of the log, so such logs are always read from there.
    pub holds_several: bool,
}

impl Recognition {
    /// A file of lines or a document, which its path alone shows.
    pub const DEFAULT: Recognition = Recognition::new(&|_| false);

    /// Returns the recognition of a file of lines or a document by this function.
    pub const fn new(recognise: &'static (dyn Fn(&[u8]) -> bool + Sync)) -> Recognition {
        Recognition {
            recognise,
            family: "",
            store: &head::lines_or_document,
            list: None,
            holds_several: false,
        }
    }

    /// Returns the recognition with this [`store`](Recognition::store).
    pub const fn kept_in(
        self,
        store: &'static (dyn Fn(&[u8]) -> Option<StoreKind> + Sync),
    ) -> Recognition {
        Recognition { store, ..self }
    }

    /// Returns the recognition of a document with this [`list`](Recognition::list).
    pub const fn list(mut self, name: ArrayName) -> Recognition {
        self.list = Some(name);
        self
    }

    /// Returns the recognition of a log that [holds several sessions](Recognition::holds_several).
    pub const fn several(mut self) -> Recognition {
        self.holds_several = true;
        self
    }
}
