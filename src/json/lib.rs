//! A scanner of JSON that reads what is wanted, skips the rest, and looks at each byte once.
//!
//! It accepts exactly the texts that `serde_json` accepts, to any depth. Values that nobody reads are checked, not
//! decoded, so one that cannot be read (a number beyond any range, a lone surrogate) costs nothing but itself.

// No function is `inline` in debug builds: it would be compiled in the crates that call it, which are not optimised there.
mod strings;

use crate::strings::Body;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;

pub use strings::{string, without_escapes};

/// A JSON value as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// Returns the value's text, without white space around it.
    pub fn get(self) -> &'a str {
        self.0
    }

    /// Returns the one value that a text contains; `None`: it is not JSON.
    pub fn of(json: &'a str) -> Option<Raw<'a>> {
        let mut scanner = Scanner::new(json);
        let value = scanner.value().ok()?;
        scanner.end().ok()?;
        Some(value)
    }
}

impl<'a, 'de: 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Raw<'a>, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|raw| Raw(raw.get()))
    }
}

/// The text is not JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotJson;

/// The function that is called with the name of each field of an object. It must read or skip the value.
pub type VisitField<'v, 'a> = &'v mut dyn FnMut(&str, &mut Scanner<'a>) -> Result<(), NotJson>;

/// A place in a JSON text.
#[derive(Debug, Clone)]
pub struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

/// A string: its body as written, and where its first escape is.
#[derive(Debug, Clone, Copy)]
pub struct QuotedString<'a> {
    body: &'a str,
    first_escape: Option<usize>,
}

impl<'a> QuotedString<'a> {
    /// Returns its text, borrowed where it contains no escapes.
    pub fn text(self) -> Cow<'a, str> {
        match self.first_escape {
            None => Cow::Borrowed(self.body),
            Some(first) => {
                strings::unescape(self.body, first).map_or(Cow::Borrowed(""), Cow::Owned)
            }
        }
    }
}

impl<'a> Scanner<'a> {
    /// Returns the beginning of a text.
    pub fn new(text: &'a str) -> Scanner<'a> {
        Scanner { text, at: 0 }
    }

    /// Returns the next byte that is no white space; it is not passed.
    #[cfg_attr(not(debug_assertions), inline)]
    pub fn peek(&mut self) -> Option<u8> {
        let bytes = self.text.as_bytes();
        loop {
            let byte = *bytes.get(self.at)?;
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => self.at += 1,
                _ => return Some(byte),
            }
        }
    }

    /// Passes this byte, after any white space.
    #[cfg_attr(not(debug_assertions), inline)]
    fn pass(&mut self, byte: u8) -> Result<(), NotJson> {
        match self.peek() {
            Some(next) if next == byte => {
                self.at += 1;
                Ok(())
            }
            _ => Err(NotJson),
        }
    }

    /// Checks that nothing but white space is left.
    pub fn end(&mut self) -> Result<(), NotJson> {
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(NotJson),
        }
    }

    /// Calls `visit` with the name of each field of the object that begins here, in the order of the text; a name
    /// that occurs twice is visited twice. `visit` must read or skip the value.
    pub fn fields(&mut self, visit: VisitField<'_, 'a>) -> Result<(), NotJson> {
        self.pass(b'{')?;
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            let name = self.quoted()?;
            self.pass(b':')?;
            match name.first_escape {
                None => visit(name.body, self)?,
                Some(_) => visit(&name.text(), self)?,
            }
            if !self.goes_on(b'}')? {
                return Ok(());
            }
        }
    }

    /// Calls `visit` at each element of the array that begins here; it must read or skip the element.
    pub fn elements(
        &mut self,
        visit: &mut dyn FnMut(&mut Self) -> Result<(), NotJson>,
    ) -> Result<(), NotJson> {
        self.pass(b'[')?;
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            visit(self)?;
            if !self.goes_on(b']')? {
                return Ok(());
            }
        }
    }

    /// Passes a comma, or the end of the object or array. Returns whether it was a comma.
    #[cfg_attr(not(debug_assertions), inline)]
    fn goes_on(&mut self, end: u8) -> Result<bool, NotJson> {
        let next = self.peek();
        self.at += 1;
        match next {
            Some(b',') => Ok(true),
            Some(byte) if byte == end => Ok(false),
            _ => Err(NotJson),
        }
    }

    /// Reads the string that begins here.
    #[cfg_attr(not(debug_assertions), inline)]
    pub fn quoted(&mut self) -> Result<QuotedString<'a>, NotJson> {
        self.pass(b'"')?;
        let begin = self.at;
        let Body { end, first_escape } =
            strings::body(self.text.as_bytes(), begin).ok_or(NotJson)?;
        self.at = end + 1;
        Ok(QuotedString {
            body: &self.text[begin..end],
            first_escape: first_escape.map(|at| at - begin),
        })
    }

    /// Skips the value that begins here, and returns it as it is written.
    #[cfg_attr(not(debug_assertions), inline)]
    pub fn value(&mut self) -> Result<Raw<'a>, NotJson> {
        self.scanned(Self::skip).map(|((), raw)| raw)
    }

    /// Reads a value, and returns it as it is written too.
    pub fn scanned<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, NotJson>,
    ) -> Result<(T, Raw<'a>), NotJson> {
        self.peek();
        let begin = self.at;
        let read = read(self)?;
        Ok((read, Raw(&self.text[begin..self.at])))
    }

    /// Skips the value that begins here. Nesting takes one bit for each level, and no stack.
    #[cfg_attr(not(debug_assertions), inline)]
    pub fn skip(&mut self) -> Result<(), NotJson> {
        match self.peek() {
            Some(b'{' | b'[') => self.skip_nested(),
            _ => self.skip_scalar(),
        }
    }

    fn skip_scalar(&mut self) -> Result<(), NotJson> {
        match self.peek() {
            Some(b'"') => {
                let end = strings::body(self.text.as_bytes(), self.at + 1)
                    .ok_or(NotJson)?
                    .end;
                self.at = end + 1;
                Ok(())
            }
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), NotJson> {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        if !rest.starts_with(word.as_bytes()) {
            return Err(NotJson);
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), NotJson> {
        let bytes = self.text.as_bytes();
        let mut at = self.at;
        let digits = |at: &mut usize| {
            let begin = *at;
            while bytes.get(*at).is_some_and(u8::is_ascii_digit) {
                *at += 1;
            }
            if *at > begin { Ok(()) } else { Err(NotJson) }
        };
        if bytes.get(at) == Some(&b'-') {
            at += 1;
        }
        match bytes.get(at) {
            Some(b'0') => at += 1,
            _ => digits(&mut at)?,
        }
        if bytes.get(at) == Some(&b'.') {
            at += 1;
            digits(&mut at)?;
        }
        if let Some(b'e' | b'E') = bytes.get(at) {
            at += 1;
            if let Some(b'+' | b'-') = bytes.get(at) {
                at += 1;
            }
            digits(&mut at)?;
        }
        // `01` and `1a` are refused by what must follow, except at the end of the text.
        self.at = at;
        Ok(())
    }

    /// Skips an object or an array.
    fn skip_nested(&mut self) -> Result<(), NotJson> {
        let mut open = OpenBrackets::default();
        loop {
            // At a value.
            match self.peek() {
                Some(b'{') => {
                    self.at += 1;
                    if self.peek() != Some(b'}') {
                        open.push(true);
                        self.name()?;
                        continue;
                    }
                    self.at += 1;
                }
                Some(b'[') => {
                    self.at += 1;
                    if self.peek() != Some(b']') {
                        open.push(false);
                        continue;
                    }
                    self.at += 1;
                }
                _ => self.skip_scalar()?,
            }
            // After a value.
            loop {
                let Some(is_object) = open.last() else {
                    return Ok(());
                };
                if self.goes_on(if is_object { b'}' } else { b']' })? {
                    if is_object {
                        self.name()?;
                    }
                    break;
                }
                open.pop();
            }
        }
    }

    /// Skips the name of a field and its colon.
    #[cfg_attr(not(debug_assertions), inline)]
    fn name(&mut self) -> Result<(), NotJson> {
        self.quoted()?;
        self.pass(b':')
    }

    /// Returns the current place, for [`Scanner::back_to`].
    pub fn place(&self) -> usize {
        self.at
    }

    /// Goes back to a place.
    pub fn back_to(&mut self, place: usize) {
        self.at = place;
    }
}

/// For each open bracket, a bit that is set if it belongs to an object: 64 levels without an allocation.
#[derive(Default)]
struct OpenBrackets {
    newest: u64,
    depth: usize,
    older: Vec<u64>,
}

impl OpenBrackets {
    fn push(&mut self, is_object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.older.push(self.newest);
        }
        self.newest = self.newest << 1 | u64::from(is_object);
        self.depth += 1;
    }

    fn last(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.newest & 1 == 1)
    }

    fn pop(&mut self) {
        self.newest >>= 1;
        self.depth -= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.newest = self.older.pop().unwrap_or_default();
        }
    }
}

/// Calls `visit` with each field of a JSON object. Fails where the text is not one whole JSON object.
pub fn each_field<'a>(
    object: &'a str,
    visit: &mut dyn FnMut(&str, Raw<'a>),
) -> Result<(), NotJson> {
    let mut scanner = Scanner::new(object);
    scanner.fields(&mut |name, json| {
        visit(name, json.value()?);
        Ok(())
    })?;
    scanner.end()
}

/// Calls `visit` with each element of a JSON array. Fails where the text is not one whole JSON array.
pub fn each_element<'a>(array: &'a str, visit: &mut dyn FnMut(Raw<'a>)) -> Result<(), NotJson> {
    let mut scanner = Scanner::new(array);
    scanner.elements(&mut |json| {
        visit(json.value()?);
        Ok(())
    })?;
    scanner.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::de::IgnoredAny;
    use serde_json::Value;

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

    #[test]
    fn any_depth_is_skipped() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"b\":[7],\"a\":", "}]")] {
            let json = format!("{}1{}", open.repeat(300_000), close.repeat(300_000));
            assert_eq!(Raw::of(&json).map(Raw::get), Some(&*json));
            assert_eq!(Raw::of(&json[..json.len() - 1]), None);
            assert_eq!(Raw::of(&format!("{json}]")), None);
        }
        // Each level is closed by its own bracket.
        for depth in [1, 63, 64, 65, 128, 129] {
            let json = format!("{}[]{}", "[".repeat(depth), "]".repeat(depth));
            assert!(Raw::of(&json).is_some());
            let wrong = json.replacen("[]]", "[]}", 1);
            assert_eq!(Raw::of(&wrong), None);
        }
    }

    /// Whether `serde_json` takes a text, as the parts of a log are taken: unread.
    fn accepts(json: &str) -> bool {
        serde_json::from_str::<&RawValue>(json).is_ok()
    }

    #[test]
    fn it_accepts_what_serde_json_accepts() {
        let values = [
            "0",
            "-0",
            "01",
            "-",
            "1.",
            ".5",
            "1.5",
            "1e5",
            "1E+5",
            "1e-",
            "1e999",
            "-1.0e-10",
            "+1",
            "0x1",
            "1_0",
            "00",
            "1a",
            "true",
            "tru",
            "trueish",
            "null",
            "nul",
            "false",
            "NaN",
            "Infinity",
            "\"\"",
            "\"a",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\\u1234\"",
            "\"\\ud800\"",
            "\"\t\"",
            "\"\u{7f}\"",
            "\"\u{0}\"",
            "\"é漢😀\"",
            "[]",
            "[1,]",
            "[,1]",
            "[1 2]",
            "{}",
            "{\"a\":1,}",
            "{\"a\" 1}",
            "{a:1}",
            "{\"a\":1 \"b\":2}",
            "{\"a\":1,\"a\":2}",
            "{\"\\u0061\":1}",
            "",
            " ",
            "\u{feff}1",
            "1 1",
            "[}",
            "{]",
            "[[]",
            "]",
            "\u{a0}1",
            "1\u{b}",
            "18446744073709551616",
            "123456789012345678901234567890.123456789e-400",
        ];
        for value in values {
            for json in [
                value.to_owned(),
                format!(" \n{value}\r\t"),
                format!("[{value}]"),
                format!("{{\"k\":{value}}}"),
                format!("[{value},{value}]"),
            ] {
                assert_eq!(Raw::of(&json).is_some(), accepts(&json), "{json}");
            }
        }
    }

    /// A JSON value with white space, escapes and anything else that is allowed.
    fn json() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            Just("null".to_owned()),
            Just("true".to_owned()),
            "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?",
            any::<String>().prop_map(|text| serde_json::to_string(&text).unwrap()),
            "\"([a-z ]|\\\\[nrtbf/\\\\\"]|\\\\u[0-9a-fA-F]{4}|é|漢|😀){0,40}\"",
        ];
        leaf.prop_recursive(4, 48, 6, |inner| {
            let name = prop_oneof!["\"[a-c]\"", "\"(\\\\u006[0-9]|\\\\n|x){0,4}\""];
            let space = "[ \t\r\n]{0,2}";
            prop_oneof![
                prop::collection::vec((space, inner.clone()), 0..6).prop_map(|list| {
                    let list: Vec<String> =
                        list.iter().map(|(s, v)| format!("{s}{v}{s}")).collect();
                    format!("[{}]", list.join(","))
                }),
                prop::collection::vec((name, space, inner), 0..6).prop_map(|map| {
                    let map: Vec<String> = map
                        .iter()
                        .map(|(n, s, v)| format!("{s}{n}{s}:{s}{v}{s}"))
                        .collect();
                    format!("{{{}}}", map.join(","))
                }),
            ]
        })
    }

    /// The value that the scanner's parts make; numbers as they are written.
    fn rebuilt(json: &str) -> Value {
        if json.starts_with('{') {
            let mut map = serde_json::Map::new();
            each_field(json, &mut |name, value| {
                map.insert(name.to_owned(), rebuilt(value.get()));
            })
            .unwrap();
            return map.into();
        }
        if json.starts_with('[') {
            let mut list = Vec::new();
            each_element(json, &mut |element| list.push(rebuilt(element.get()))).unwrap();
            return list.into();
        }
        match string(json) {
            Some(text) => text.into(),
            None => serde_json::from_str(json).unwrap_or(json.into()),
        }
    }

    proptest! {
        #[test]
        fn parts_are_those_of_serde_json(json in json()) {
            prop_assert!(accepts(&json));
            prop_assert_eq!(Raw::of(&json).map(Raw::get), Some(json.trim()));
            // Where `serde_json` can read the value too: it refuses lone surrogates and huge numbers.
            if let Ok(value) = serde_json::from_str::<Value>(&json) {
                prop_assert_eq!(rebuilt(json.trim()), value);
            }
        }

        #[test]
        fn damaged_json_is_refused_as_by_serde_json(
            json in json(),
            at in any::<prop::sample::Index>(),
            to in prop::sample::select(vec!["", "\"", "\\", "{", "}", "[", "]", ",", ":", "0", "e", "u", "\n", "\u{1}", "é", " "]),
            len in 0_usize..2,
        ) {
            let mut bytes = json.into_bytes();
            let from = at.index(bytes.len() + 1);
            let end = (from + len).min(bytes.len());
            bytes.splice(from..end, to.bytes());
            let json = String::from_utf8_lossy(&bytes);
            prop_assert_eq!(Raw::of(&json).is_some(), accepts(&json), "{}", json);
        }

        #[test]
        fn any_text_is_refused_as_by_serde_json(json in "[\\[\\]{}:,\"\\\\0-9a-eu.+\\- \n]{0,40}") {
            prop_assert_eq!(Raw::of(&json).is_some(), accepts(&json));
            prop_assert_eq!(
                Raw::of(&json).is_some(),
                serde_json::from_str::<IgnoredAny>(&json).is_ok()
            );
        }
    }
}
