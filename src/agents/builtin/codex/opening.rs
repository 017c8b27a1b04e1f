//! Determines the type of a line by its beginning alone: most lines need not be parsed for that.

use memchr::arch::all::packedpair::HeuristicFrequencyRank;
use memchr::memchr;
use memchr::memmem::{Finder, FinderBuilder};
use std::sync::LazyLock;

/// The beginning of a record. Within a text its quotes would be escaped.
const BEGINNING: &[u8] = b"{\"timestamp\":\"";
static NEXT: LazyLock<Finder<'static>> =
    LazyLock::new(|| FinderBuilder::new().build_forward_with_ranker(Rank, BEGINNING));

/// Has a brace and the `p` ten bytes further looked for: few places of a log have both.
struct Rank;

impl HeuristicFrequencyRank for Rank {
    fn rank(&self, byte: u8) -> u8 {
        match byte {
            b'{' => 0,
            b'p' => 1,
            _ => u8::MAX,
        }
    }
}

/// Returns true if a line that begins as a record does is one record: no other begins in it.
pub(super) fn is_one_record(line: &[u8]) -> bool {
    line.get(1..).is_some_and(|rest| NEXT.find(rest).is_none())
}

/// The beginning of a line as Codex writes it since September 2025.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct LineOpening<'a> {
    /// The time at which it was written.
    pub time: &'a [u8],
    /// The type of the line.
    pub kind: &'a [u8],
    /// The type of its payload, if the payload begins with that.
    pub subtype: &'a [u8],
    /// The role of a message, if that comes next.
    pub role: &'a [u8],
}

impl<'a> LineOpening<'a> {
    /// Returns the beginning of this line; `None`: it begins in another way. What comes after it is not looked at.
    pub(super) fn of(line: &'a [u8]) -> Option<LineOpening<'a>> {
        let (time, rest) = value(line.strip_prefix(BEGINNING)?)?;
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
        Some(LineOpening {
            time,
            kind,
            subtype,
            role,
        })
    }
}

/// Returns the value of a field with this beginning, and what follows; empty if another field comes first.
fn named<'a>(text: &'a [u8], field: &[u8]) -> (&'a [u8], &'a [u8]) {
    let found = text.strip_prefix(field).and_then(value);
    found.unwrap_or((b"", text))
}

/// Returns the rest of a string without escapes, and what follows its closing quote.
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
        let opening = LineOpening::of(line).unwrap();
        assert_eq!(
            (opening.time, opening.kind),
            (&b"T"[..], &b"response_item"[..])
        );
        assert_eq!(
            (opening.subtype, opening.role),
            (&b"message"[..], &b"user"[..])
        );
        let other = br#"{"timestamp":"T","type":"turn_context","payload":{"cwd":"/p","type":"x"}}"#;
        assert_eq!(LineOpening::of(other).unwrap().subtype, b"");
        for odd in [
            "",
            "{}",
            r#"{"type":"event_msg"}"#,
            r#"{"timestamp":"T","type":"a\"b","payload":{}}"#,
        ] {
            assert_eq!(LineOpening::of(odd.as_bytes()), None, "{odd}");
        }
    }

    #[test]
    fn a_record_within_a_line_is_seen_and_one_within_a_text_is_none() {
        let one =
            r#"{"timestamp":"T","type":"event_msg","payload":{"text":"{\"timestamp\":\"T\"}"}}"#;
        assert!(is_one_record(one.as_bytes()));
        for cut in 1..=one.len() {
            let two = format!("{}{one}", &one[..cut]);
            assert!(!is_one_record(two.as_bytes()), "{two}");
        }
    }
}
