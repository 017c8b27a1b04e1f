//! Very long lines without holding them: JSON is copied through, but every very long string loses its
//! end, and the number of bytes that are missing is written in its place.

use model::event::ELIDED;

/// Strings up to this many bytes stay whole.
pub const LONG_STRING: usize = 64 << 10;
/// The bytes of a longer string that stay.
pub const KEPT_STRING: usize = 16 << 10;
/// The most bytes a line may have left after eliding.
pub const LARGEST_LINE: usize = 32 << 20;

/// The state of scanning JSON. Only strings are recognised, which is enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ScanState {
    Outside,
    Inside,
    /// It is after a backslash.
    Escape,
    /// Inside a `\u` escape: the digits still to come and the value so far.
    Hex(u8, u32),
}

/// Scans one line, given in any pieces.
#[derive(Debug)]
pub struct Elider {
    out: Vec<u8>,
    at: ScanState,
    /// The offset in `out` at which the present string's text begins.
    start: usize,
    /// Bytes of the current string, with escapes counted as their characters.
    decoded: u64,
    /// The number of them that are kept, once the rest is being dropped.
    kept: Option<u64>,
    long: usize,
    keep: usize,
    too_large: bool,
}

impl Default for Elider {
    fn default() -> Elider {
        Elider::new(LONG_STRING, KEPT_STRING)
    }
}

impl Elider {
    /// Cuts strings of more than `long` bytes to their first `keep` bytes.
    pub fn new(long: usize, keep: usize) -> Elider {
        Elider {
            out: Vec::new(),
            at: ScanState::Outside,
            start: 0,
            decoded: 0,
            kept: None,
            long,
            // A cut is decided on when the longest escape, a surrogate pair, is there as a whole.
            keep: keep.min(long.saturating_sub(12)),
            too_large: false,
        }
    }

    /// Takes the line's next bytes.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.too_large {
            let used = match self.at {
                ScanState::Outside => self.outside(bytes),
                ScanState::Inside => self.inside(bytes),
                ScanState::Escape => self.escape(bytes[0]),
                ScanState::Hex(left, value) => self.hex(bytes[0], left, value),
            };
            bytes = &bytes[used..];
            if self.out.len() > LARGEST_LINE {
                self.too_large = true;
                self.out = Vec::new();
            }
        }
    }

    /// Returns the elided line; `None`: it is too large even so.
    pub fn line(&self) -> Option<&[u8]> {
        (!self.too_large).then_some(&self.out)
    }

    /// Returns the bytes held now.
    #[cfg(test)]
    pub fn held(&self) -> usize {
        self.out.capacity()
    }

    fn outside(&mut self, bytes: &[u8]) -> usize {
        match memchr::memchr(b'"', bytes) {
            Some(quote) => {
                self.out.extend_from_slice(&bytes[..=quote]);
                self.at = ScanState::Inside;
                self.start = self.out.len();
                self.decoded = 0;
                self.kept = None;
                quote + 1
            }
            None => {
                self.out.extend_from_slice(bytes);
                bytes.len()
            }
        }
    }

    fn inside(&mut self, bytes: &[u8]) -> usize {
        let end = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
        self.put(&bytes[..end]);
        self.decoded += end as u64;
        match bytes.get(end) {
            None => end,
            Some(b'"') => {
                if let Some(kept) = self.kept {
                    let missing = self.decoded.saturating_sub(kept);
                    let mark = format!("{ELIDED}{missing}{ELIDED}");
                    self.out.extend_from_slice(mark.as_bytes());
                }
                self.out.push(b'"');
                self.at = ScanState::Outside;
                end + 1
            }
            Some(_) => {
                self.put(b"\\");
                self.at = ScanState::Escape;
                end + 1
            }
        }
    }

    fn escape(&mut self, byte: u8) -> usize {
        self.put(&[byte]);
        if byte == b'u' {
            self.at = ScanState::Hex(4, 0);
        } else {
            self.decoded += 1;
            self.at = ScanState::Inside;
        }
        1
    }

    fn hex(&mut self, byte: u8, left: u8, value: u32) -> usize {
        let Some(digit) = char::from(byte).to_digit(16) else {
            // Not JSON: the decoder will report it.
            self.at = ScanState::Inside;
            return 0;
        };
        self.put(&[byte]);
        let value = value << 4 | digit;
        self.at = if left > 1 {
            ScanState::Hex(left - 1, value)
        } else {
            self.decoded += utf8_bytes(value);
            ScanState::Inside
        };
        1
    }

    /// Copies a part of a string, or drops it where the string has become too long.
    fn put(&mut self, bytes: &[u8]) {
        if self.kept.is_some() {
            return;
        }
        self.out.extend_from_slice(bytes);
        if self.out.len() - self.start > self.long {
            let (end, kept) = safe_cut(&self.out[self.start..], self.keep);
            self.out.truncate(self.start + end);
            self.kept = Some(kept);
        }
    }
}

/// Returns the bytes of a `\u` escape in UTF-8; a surrogate is half of a character of four.
fn utf8_bytes(unit: u32) -> u64 {
    match unit {
        0..0x80 => 1,
        0x80..0x800 | 0xd800..0xe000 => 2,
        _ => 3,
    }
}

/// Returns the offset at which a JSON string's text can be cut within `limit` bytes, not inside an escape, a surrogate
/// pair or a character, and the bytes of text before it.
fn safe_cut(text: &[u8], limit: usize) -> (usize, u64) {
    let (mut at, mut decoded) = (0, 0);
    while at < limit {
        let (len, bytes) = unit(&text[at..]);
        if at + len > limit {
            break;
        }
        at += len;
        decoded += bytes;
    }
    (at, decoded)
}

/// Returns the length of the first character, as written and as meant.
fn unit(text: &[u8]) -> (usize, u64) {
    let hex = |from: usize| {
        let digits = text.get(from..from + 4)?;
        u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    match text {
        [b'\\', b'u', ..] => match hex(2) {
            Some(0xd800..0xdc00) if text.get(6..8) == Some(b"\\u") => (12, 4),
            Some(unit) => (6, utf8_bytes(unit)),
            None => (2, 1),
        },
        [b'\\', ..] => (2, 1),
        [0xc0..0xe0, ..] => (2, 2),
        [0xe0..0xf0, ..] => (3, 3),
        [0xf0..=0xff, ..] => (4, 4),
        _ => (1, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn elide(line: &[u8], long: usize, keep: usize, chunk: usize) -> Vec<u8> {
        let mut elider = Elider::new(long, keep);
        for part in line.chunks(chunk.max(1)) {
            elider.feed(part);
        }
        elider.line().expect("small").to_vec()
    }

    /// The elided value says of every string what it replaces.
    fn same(whole: &Value, elided: &Value, long: usize) -> bool {
        match (whole, elided) {
            (Value::String(a), Value::String(b)) => match b.strip_suffix(ELIDED) {
                Some(body) if a != b => {
                    let (shown, digits) = body.rsplit_once(ELIDED).expect("two marks");
                    let cut: usize = digits.parse().expect("a number");
                    a.len() > long / 6 && a.starts_with(shown) && shown.len() + cut == a.len()
                }
                _ => a == b,
            },
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, long))
            }
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len()
                    && a.iter()
                        .all(|(key, a)| b.get(key).is_some_and(|b| same(a, b, long)))
            }
            (a, b) => a == b,
        }
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i64>().prop_map(Value::from),
            "[a-z\"\\\\\\n\\t é漢😀\\u{1}]{0,200}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z]{1,6}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    /// JSON with every character beyond ASCII escaped, surrogate pairs included.
    fn escaped(value: &Value) -> String {
        let mut out = String::new();
        for c in value.to_string().chars() {
            if c.is_ascii() {
                out.push(c);
            } else {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
        out
    }

    proptest! {
        #[test]
        fn elided_json_is_the_same_json(value in json(), long in 8_usize..120, keep in 1_usize..60, chunk in 1_usize..50) {
            for line in [value.to_string(), escaped(&value)] {
                let short = elide(line.as_bytes(), long, keep, chunk);
                let read: Value = serde_json::from_slice(&short).expect("valid JSON");
                prop_assert!(same(&value, &read, long), "{line}\n{}", String::from_utf8_lossy(&short));
                // However it is cut into pieces.
                prop_assert_eq!(short, elide(line.as_bytes(), long, keep, usize::MAX));
            }
        }

        #[test]
        fn any_bytes_pass(bytes in prop::collection::vec(any::<u8>(), 0..400), chunk in 1_usize..50) {
            elide(&bytes, 16, 8, chunk);
        }
    }

    #[test]
    fn short_strings_stay() {
        let line = br#"{"a":"\ud83d\ude00","b":[1,2]}"#;
        assert_eq!(elide(line, 64, 16, 3), line);
    }

    #[test]
    fn what_is_too_large_even_so_is_dropped() {
        let mut elider = Elider::default();
        for _ in 0..=(LARGEST_LINE / 1024) {
            elider.feed(&[b'1'; 1024]);
        }
        assert!(elider.line().is_none());
        assert_eq!(elider.held(), 0);
    }
}
