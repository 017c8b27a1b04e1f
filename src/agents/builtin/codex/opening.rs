//! What a line is, by its beginning alone: most lines need not be parsed for that.

use memchr::memchr;
use memchr::memmem::Finder;
use std::sync::LazyLock;

/// How a record begins. Within a text its quotes would be escaped.
const BEGINNING: &[u8] = b"{\"timestamp\":\"";
static NEXT: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(BEGINNING));

/// The beginning of a line as Codex writes it since September 2025.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Opening<'a> {
    /// When it was written.
    pub time: &'a [u8],
    /// The type of the line.
    pub kind: &'a [u8],
    /// The type of its payload, if the payload begins with that.
    pub subtype: &'a [u8],
    /// The role of a message, if that comes next.
    pub role: &'a [u8],
}

impl<'a> Opening<'a> {
    /// The beginning of this line; `None`: it begins in another way, or is not one record.
    pub(super) fn of(line: &'a [u8]) -> Option<Opening<'a>> {
        let rest = line.strip_prefix(BEGINNING)?;
        if NEXT.find(rest).is_some() {
            return None;
        }
        let (time, rest) = value(rest)?;
        let rest = match rest.strip_prefix(b",\"ordinal\":") {
            Some(ordinal) => {
                let digits = ordinal.iter().take_while(|byte| byte.is_ascii_digit());
                &ordinal[digits.count()..]
            }
            None => rest,
        };
        let (kind, rest) = value(rest.strip_prefix(b",\"type\":\"")?)?;
        let payload = rest.strip_prefix(b",\"payload\":{")?;
        let (subtype, rest) = named(payload, b"\"type\":\"");
        let (role, _) = named(rest, b",\"role\":\"");
        Some(Opening {
            time,
            kind,
            subtype,
            role,
        })
    }
}

/// The value of a field with this beginning, and what follows; empty if another field comes first.
fn named<'a>(text: &'a [u8], field: &[u8]) -> (&'a [u8], &'a [u8]) {
    let found = text.strip_prefix(field).and_then(value);
    found.unwrap_or((b"", text))
}

/// The rest of a string without escapes, and what follows its closing quote.
fn value(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let (value, rest) = text.split_at(memchr(b'"', text)?);
    (memchr(b'\\', value).is_none()).then_some((value, &rest[1..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_what_it_is() {
        let line = br#"{"timestamp":"T","ordinal":7,"type":"response_item","payload":{"type":"message","role":"user","content":[]}}"#;
        let opening = Opening::of(line).unwrap();
        assert_eq!(
            (opening.time, opening.kind),
            (&b"T"[..], &b"response_item"[..])
        );
        assert_eq!(
            (opening.subtype, opening.role),
            (&b"message"[..], &b"user"[..])
        );
        let other = br#"{"timestamp":"T","type":"turn_context","payload":{"cwd":"/p","type":"x"}}"#;
        assert_eq!(Opening::of(other).unwrap().subtype, b"");
        for odd in [
            "",
            "{}",
            r#"{"type":"event_msg"}"#,
            r#"{"timestamp":"T","type":"a\"b","payload":{}}"#,
            r#"{"timestamp":"T","type":"event_msg","payload":{}}{"timestamp":"T"}"#,
        ] {
            assert_eq!(Opening::of(odd.as_bytes()), None, "{odd}");
        }
    }
}
