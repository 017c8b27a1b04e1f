//! Bytes of logs as text.

use std::borrow::Cow;

/// Returns the bytes of a log as text; bytes that are not UTF-8 are replaced.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    // Several times faster than the lossy way, and than the standard library's check.
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}
