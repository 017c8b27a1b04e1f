//! The parts of a JSON text: the fields of an object, the elements of an array, the text of a string.
//!
//! Values are handed out as they are written and are read only where somebody wants them, so one that
//! cannot be read (a number beyond any range, a lone surrogate) costs nothing but itself.

use serde::Deserializer as _;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde_json::Deserializer;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Calls `visit` with each field of a JSON object, in the order of the text; a name that occurs twice
/// is visited twice. Fails where the text is not one whole JSON object.
pub fn each_field<'a>(
    object: &'a str,
    visit: &mut dyn FnMut(&str, &'a RawValue),
) -> serde_json::Result<()> {
    let mut deserializer = Deserializer::from_str(object);
    deserializer.deserialize_map(Parts(visit))?;
    deserializer.end()
}

/// Calls `visit` with each element of a JSON array. Fails where the text is not one whole JSON array.
pub fn each_element<'a>(
    array: &'a str,
    visit: &mut dyn FnMut(&'a RawValue),
) -> serde_json::Result<()> {
    let mut deserializer = Deserializer::from_str(array);
    deserializer.deserialize_seq(Parts(&mut |_: &str, element| visit(element)))?;
    deserializer.end()
}

/// Visits the fields of an object, or the elements of an array, which have no names.
struct Parts<'v, V: ?Sized>(&'v mut V);

impl<'a, V: FnMut(&str, &'a RawValue) + ?Sized> Visitor<'a> for Parts<'_, V> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object or array")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((name, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            (self.0)(&string(name.get()).unwrap_or_default(), value);
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'a>>(self, mut seq: A) -> Result<(), A::Error> {
        while let Some(element) = seq.next_element::<&RawValue>()? {
            (self.0)("", element);
        }
        Ok(())
    }
}

/// The text of a JSON string, borrowed where it holds no escapes; `None` for any other value. A lone
/// surrogate, which agents write where they cut an emoji in two, becomes U+FFFD.
pub fn string(json: &str) -> Option<Cow<'_, str>> {
    let body = json.strip_prefix('"')?.strip_suffix('"')?;
    let Some(first) = memchr::memchr(b'\\', body.as_bytes()) else {
        return Some(Cow::Borrowed(body));
    };
    let mut text = String::with_capacity(body.len());
    text.push_str(&body[..first]);
    let mut rest = &body[first..];
    while let Some(escape) = rest.strip_prefix('\\') {
        let mut chars = escape.chars();
        match chars.next()? {
            'n' => text.push('\n'),
            't' => text.push('\t'),
            'r' => text.push('\r'),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'u' => {
                let (c, after) = code_point(escape.get(1..)?);
                text.push(c);
                chars = after.chars();
            }
            other => text.push(other),
        }
        rest = chars.as_str();
        let plain = memchr::memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
        text.push_str(&rest[..plain]);
        rest = &rest[plain..];
    }
    Some(Cow::Owned(text))
}

/// The character of a `\u` escape, or of a pair of them, and what follows it. `escape` begins after
/// the `u`.
fn code_point(escape: &str) -> (char, &str) {
    let unit = |text: &str| u32::from_str_radix(text.get(..4)?, 16).ok();
    let after = escape.get(4..).unwrap_or_default();
    let high = unit(escape).unwrap_or(0xfffd);
    if let 0xd800..0xdc00 = high
        && let Some(second) = after.strip_prefix("\\u")
        && let Some(low @ 0xdc00..0xe000) = unit(second)
    {
        let c = char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00));
        return (
            c.unwrap_or(char::REPLACEMENT_CHARACTER),
            second.get(4..).unwrap_or_default(),
        );
    }
    let c = char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER);
    (c, after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn escapes_are_decoded() {
        let json = r#""a\n\t\r\b\f\"\\\/\u00e9\ud83d\ude00z""#;
        let text = "a\n\t\r\u{8}\u{c}\"\\/\u{e9}\u{1f600}z";
        assert_eq!(string(json).as_deref(), Some(text));
        assert_eq!(string("7"), None);
        assert_eq!(string("null"), None);
    }

    #[test]
    fn lone_surrogates_are_replaced() {
        assert_eq!(string(r#""a\ud83d""#).as_deref(), Some("a\u{fffd}"));
        assert_eq!(string(r#""\ude00b""#).as_deref(), Some("\u{fffd}b"));
        assert_eq!(
            string(r#""\ud83d\ud83d\ude00""#).as_deref(),
            Some("\u{fffd}\u{1f600}")
        );
    }

    #[test]
    fn fields_are_visited_as_they_are_written() {
        let mut seen = Vec::new();
        let json = r#" {"a":1e999, "\u0062":{"a":[]},"a":"\ud83d"} "#;
        each_field(json, &mut |name, value| {
            seen.push((name.to_owned(), value.get()))
        })
        .unwrap();
        let seen: Vec<(&str, &str)> = seen.iter().map(|(n, v)| (&**n, *v)).collect();
        assert_eq!(
            seen,
            [("a", "1e999"), ("b", r#"{"a":[]}"#), ("a", r#""\ud83d""#)]
        );
        for odd in ["[1]", "7", "", "{\"a\":1", "{} {}"] {
            assert!(each_field(odd, &mut |_, _| {}).is_err(), "{odd}");
        }
    }

    proptest! {
        #[test]
        fn a_string_reads_as_serde_json_reads_it(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            let read = string(&json);
            prop_assert_eq!(read.as_deref(), Some(&*text));
            let escaped: String = text
                .encode_utf16()
                .map(|unit| format!("\\u{unit:04x}"))
                .collect();
            let json = format!("\"{escaped}\"");
            let read = string(&json);
            prop_assert_eq!(read.as_deref(), Some(&*text));
        }

        #[test]
        fn no_text_panics(json in any::<String>()) {
            let _ = string(&json);
            let _ = string(&format!("\"\\{json}\""));
            let _ = string(&format!("\"\\u{json}\""));
        }
    }
}
