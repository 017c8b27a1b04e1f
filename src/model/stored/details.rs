//! The bytes of what lists do not show of sessions. A cache keeps those of a log's sessions as one piece, apart from what
//! lists show, and reads it when somebody looks at one of them.

use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

/// Where the details of a log's sessions are.
pub trait Details: Send + Sync {
    /// All bytes. `None`: they cannot be read, or are not those that were written.
    fn bytes(&self) -> Option<Vec<u8>>;
}

impl Details for Vec<u8> {
    fn bytes(&self) -> Option<Vec<u8>> {
        Some(self.clone())
    }
}

thread_local! {
    static WRITTEN: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    static CURRENT: RefCell<Option<Arc<dyn Details>>> = const { RefCell::new(None) };
}

/// Calls a function; the details of what it writes on this thread are appended to these.
pub(crate) fn write_to<A>(details: &mut Vec<u8>, write: impl FnOnce() -> A) -> A {
    WRITTEN.set(std::mem::take(details));
    let written = write();
    *details = WRITTEN.take();
    written
}

/// Calls a function; what it reads on this thread has these details.
pub(crate) fn read_from<A>(details: Arc<dyn Details>, read: impl FnOnce() -> A) -> A {
    CURRENT.set(Some(details));
    let value = read();
    CURRENT.set(None);
    value
}

/// Appends to the details that are being written; returns where.
pub(crate) fn append(bytes: &[u8]) -> Range<usize> {
    WRITTEN.with_borrow_mut(|details| {
        let from = details.len();
        details.extend_from_slice(bytes);
        from..details.len()
    })
}

/// The details of what is being read: none outside of [`read_from`].
pub(crate) fn current() -> Arc<dyn Details> {
    CURRENT
        .with_borrow(Clone::clone)
        .unwrap_or_else(|| Arc::new(Vec::new()))
}
