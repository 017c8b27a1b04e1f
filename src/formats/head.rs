//! Helps formats to look at the first bytes of a file. The bytes may end anywhere.

use super::stores::StoreKind;
use serde::de::IgnoredAny;

/// Returns true if the text occurs in the bytes.
pub fn has(bytes: &[u8], text: &str) -> bool {
    memchr::memmem::find(bytes, text.as_bytes()).is_some()
}

/// Returns the first line, or what there is of it.
pub fn first_line(head: &[u8]) -> &[u8] {
    head.split(|byte| *byte == b'\n').next().unwrap_or(head)
}

/// Returns true if the bytes begin with an object of JSON.
pub fn is_object(head: &[u8]) -> bool {
    head.trim_ascii_start().starts_with(b"{")
}

/// Returns the first `len` bytes that are not white space.
pub fn solid(head: &[u8], len: usize) -> Vec<u8> {
    let solid = head.iter().filter(|byte| !byte.is_ascii_whitespace());
    solid.take(len).copied().collect()
}

/// Returns the store of a file that begins with these bytes. A document continues after its first line, so that this
/// line is not complete JSON, and no other line is an object. A single line may be either: `None`.
pub fn lines_or_document(head: &[u8]) -> Option<StoreKind> {
    let mut lines = head
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .peekable();
    let first = lines.next().filter(|_| lines.peek().is_some())?;
    let read = |line: &[u8]| serde_json::from_slice::<IgnoredAny>(line);
    // A line of a log may be incomplete, too.
    let incomplete = read(first).is_err_and(|error| error.is_eof());
    let whole = |line: &[u8]| line.starts_with(b"{") && read(line).is_ok();
    Some(if incomplete && !lines.any(whole) {
        StoreKind::Document
    } else {
        StoreKind::Lines
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stores() {
        let store = lines_or_document;
        let document = Some(StoreKind::Document);
        assert_eq!(store(b"{\"a\":1}\n{"), Some(StoreKind::Lines));
        assert_eq!(store(b"{\n \"a\": 1"), document);
        assert_eq!(store(b"{\"torn\":\n{\"a\":1}\n"), Some(StoreKind::Lines));
        assert_eq!(store(b"{\"a\":1}\n"), None);
        assert_eq!(store(b"{\"a\":1"), None);
    }
}
