//! The place of a value in a record: a JSON pointer.

use decode::lenient::{LostFields, Raw};
use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A JSON pointer (RFC 6901) in which `*` means every element of a list or value of an object, and `**` every text at
/// any depth. The empty one points at the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pointer(Vec<Box<str>>);

/// Several things, written as one or as a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Many<T>(Vec<T>);

/// Several pointers.
pub(super) type Pointers = Many<Pointer>;

/// The step that means every element.
const EVERY: &str = "*";
/// The step that means every text.
const TEXTS: &str = "**";
/// Texts of a value that are nested deeper than this are not read.
const MOST_DEPTH: usize = 32;

/// The values at a pointer.
pub(super) struct Found<'p, 'v> {
    /// The values that are not null.
    pub(super) values: Vec<Raw<'v>>,
    /// The names of values on the way in which the next step cannot be.
    pub(super) odd: Vec<&'p str>,
}

impl Pointer {
    /// Everything it points at that is not null.
    pub(super) fn each<'v>(&self, value: Raw<'v>) -> Vec<Raw<'v>> {
        self.found(value).values
    }

    /// Follows the pointer, and notes where that cannot be.
    pub(super) fn found<'p, 'v>(&'p self, value: Raw<'v>) -> Found<'p, 'v> {
        let mut found = Found {
            values: Vec::new(),
            odd: Vec::new(),
        };
        found.walk(&self.0, "", value);
        found
    }

    /// The first thing it points at that is not null.
    pub(super) fn find<'v>(&self, value: Raw<'v>) -> Option<Raw<'v>> {
        self.each(value).into_iter().next()
    }

    /// Returns the key that it begins with; `None`: it points at the whole.
    pub(super) fn first(&self) -> Option<&str> {
        self.0.first().map(|step| &**step)
    }

    /// Returns the key that it is, where it is no more than that.
    pub(super) fn key(&self) -> Option<&str> {
        self.first()
            .filter(|step| self.0.len() == 1 && *step != EVERY)
    }

    /// The keys that a document must hold for this to point at anything.
    pub(super) fn keys(&self) -> impl DoubleEndedIterator<Item = &str> {
        let steps = self.0.iter().map(|step| &**step);
        steps.filter(|step| ![EVERY, TEXTS].contains(step) && step.parse::<usize>().is_err())
    }

    /// The name of what it points at.
    pub(super) fn name(&self) -> &str {
        self.keys().next_back().unwrap_or_default()
    }

    /// Returns true if it points at elements of a list.
    pub(super) fn is_of_list(&self) -> bool {
        self.0.iter().any(|step| **step == *EVERY)
    }
}

impl<'p, 'v> Found<'p, 'v> {
    /// Follows the steps from the value of this name.
    fn walk(&mut self, steps: &'p [Box<str>], name: &'p str, value: Raw<'v>) {
        let json = value.get();
        let Some((step, rest)) = steps.split_first() else {
            if json != "null" {
                self.values.push(value);
            }
            return;
        };
        // The value was checked as a part of its record.
        let _ = match json.as_bytes().first() {
            _ if **step == *TEXTS => {
                let before = self.values.len();
                texts(value, 0, &mut self.values);
                if self.values.len() == before {
                    self.walk(rest, name, value);
                }
                return;
            }
            Some(b'{') if **step == *EVERY => {
                json::each_field(json, &mut |_, value| self.walk(rest, "", value))
            }
            Some(b'{') => {
                let mut last = None;
                let read = json::each_field(json, &mut |key, value| {
                    last = if *key == **step { Some(value) } else { last };
                });
                match last {
                    Some(value) => self.walk(rest, step, value),
                    // It should be a list.
                    None if step.parse::<usize>().is_ok() => self.odd.push(name),
                    None => {}
                }
                read
            }
            Some(b'[') if **step == *EVERY => {
                json::each_element(json, &mut |value| self.walk(rest, "", value))
            }
            Some(b'[') if step.parse::<usize>().is_ok() => {
                let mut nth = step.parse::<usize>().ok();
                json::each_element(json, &mut |value| {
                    if nth == Some(0) {
                        self.walk(rest, name, value);
                    }
                    nth = nth.and_then(|nth| nth.checked_sub(1));
                })
            }
            Some(b'n') | None => return,
            Some(_) => return self.odd.push(name),
        };
    }
}

/// Adds the texts in a value, whatever is around them.
fn texts<'v>(value: Raw<'v>, depth: usize, found: &mut Vec<Raw<'v>>) {
    let _ = match value.get().as_bytes().first() {
        Some(b'"') => return found.push(value),
        Some(b'{') if depth < MOST_DEPTH => json::each_field(value.get(), &mut |_, value| {
            texts(value, depth + 1, found);
        }),
        Some(b'[') if depth < MOST_DEPTH => json::each_element(value.get(), &mut |value| {
            texts(value, depth + 1, found);
        }),
        _ => return,
    };
}

impl<T> Default for Many<T> {
    fn default() -> Self {
        Many(Vec::new())
    }
}

impl<T> Many<T> {
    /// Returns true if there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }
}

impl Pointers {
    /// Everything they point at, in their order.
    pub(super) fn each<'v>(&self, value: Raw<'v>) -> Vec<Raw<'v>> {
        self.0.iter().flat_map(|p| p.each(value)).collect()
    }

    /// The elements of the lists they point at, and what else they point at.
    pub(super) fn elements<'v>(&self, value: Raw<'v>) -> Vec<Raw<'v>> {
        let mut elements = Vec::new();
        for found in self.each(value) {
            if json::each_element(found.get(), &mut |element| elements.push(element)).is_err() {
                elements.push(found);
            }
        }
        elements
    }

    /// Reads each value that they point at with `read`. Where nothing can be read, the names of the values are noted.
    pub(super) fn read<'v, T>(
        &'static self,
        value: Raw<'v>,
        lost: &LostFields,
        read: impl Fn(Raw<'v>) -> Option<T>,
    ) -> Vec<T> {
        let (mut taken, mut odd) = (Vec::new(), Vec::new());
        for pointer in &self.0 {
            let found = pointer.found(value);
            odd.extend(found.odd);
            for value in found.values {
                match read(value) {
                    Some(value) => taken.push(value),
                    None => odd.push(pointer.name()),
                }
            }
        }
        if taken.is_empty() {
            let named = odd.into_iter().filter(|name| !name.is_empty());
            named.for_each(|name| lost.note_once(name));
        }
        taken
    }

    /// The first text they point at that is not empty.
    pub(super) fn text<'v>(
        &'static self,
        value: Raw<'v>,
        lost: &LostFields,
    ) -> Option<Cow<'v, str>> {
        let texts = self.read(value, lost, |found| json::string(found.get()));
        texts.into_iter().find(|text| !text.is_empty())
    }

    /// The first id they point at: a text or a number.
    pub(super) fn id<'v>(&'static self, value: Raw<'v>, lost: &LostFields) -> Option<Cow<'v, str>> {
        let ids = self.read(value, lost, id);
        ids.into_iter().find(|id| !id.is_empty())
    }
}

/// A text, or a number as it is written.
pub(super) fn id(value: Raw<'_>) -> Option<Cow<'_, str>> {
    let number = || {
        let is_number = value
            .get()
            .starts_with(|c: char| c == '-' || c.is_ascii_digit());
        is_number.then(|| value.get().into())
    };
    json::string(value.get()).or_else(number)
}

/// A thing that can be written as a text.
pub(super) trait Word: Sized {
    /// Its description, for a message.
    const WHAT: &'static str;

    /// Reads the text; the error says what is wrong with it.
    fn read(text: &str) -> Result<Self, String>;
}

impl Word for Pointer {
    const WHAT: &'static str = "a JSON pointer such as \"/message/role\"";

    /// Reads a pointer as RFC 6901 writes it: `/message/role`, `~1` being a slash and `~0` a tilde.
    fn read(text: &str) -> Result<Pointer, String> {
        let Some(rest) = text.strip_prefix('/') else {
            return match text {
                "" => Ok(Pointer(Vec::new())),
                _ => Err(format!(
                    "'{text}' is no JSON pointer: it begins with a slash, as in \"/{text}\""
                )),
            };
        };
        let steps = rest.split('/');
        let plain = |step: &str| step.replace("~1", "/").replace("~0", "~").into();
        Ok(Pointer(steps.map(plain).collect()))
    }
}

impl Word for String {
    const WHAT: &'static str = "a text";

    fn read(text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }
}

impl<'de> Deserialize<'de> for Pointer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Pointer::read(&text).map_err(D::Error::custom)
    }
}

impl<'de, T: Word + Deserialize<'de>> Deserialize<'de> for Many<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit<T>(PhantomData<T>);
        impl<'de, T: Word + Deserialize<'de>> Visitor<'de> for Visit<T> {
            type Value = Many<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}, or a list of them", T::WHAT)
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Many<T>, E> {
                T::read(text).map(|one| Many(vec![one])).map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Many<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(|one| Many(vec![one]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Many<T>, A::Error> {
                let mut all = Vec::new();
                while let Some(Many(one)) = seq.next_element()? {
                    all.extend(one);
                }
                Ok(Many(all))
            }
        }
        deserializer.deserialize_any(Visit(PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(pointer: &str, value: &'static str) -> Vec<&'static str> {
        let found = Pointer::read(pointer).unwrap();
        let found = found.each(Raw::of(value).unwrap()).into_iter();
        found.map(Raw::get).collect()
    }

    #[test]
    fn it_points_as_the_standard_says_and_at_every_element() {
        let value = r#"{"a": [{"b": 1}, {"b": 2}, 3], "c/d~": true, "*": 4, "": 5, "\u0061b": 6}"#;
        assert_eq!(texts("/a/1/b", value), ["2"]);
        assert_eq!(texts("/a/*/b", value), ["1", "2"]);
        assert_eq!(texts("/c~1d~0", value), ["true"]);
        assert_eq!(texts("/*/*/b", value), ["1", "2"]);
        assert_eq!(texts("/", value), ["5"]);
        assert_eq!(texts("/ab", value), ["6"]);
        assert_eq!(texts("", "7"), ["7"]);
        for nothing in ["/a/7", "/a/b", "/a/0/b/c", "/x"] {
            assert_eq!(texts(nothing, value), [""; 0], "{nothing}");
        }
        let nested = r#"{"a": ["b", {"c": "d", "e": [7, "f"]}], "g": "h"}"#;
        assert_eq!(texts("/a/**", nested), ["\"b\"", "\"d\"", "\"f\""]);
        assert_eq!(texts("/g/**", nested), ["\"h\""]);
    }

    #[test]
    fn what_is_no_pointer_says_how_it_is_written() {
        let why = Pointer::read("message/role").unwrap_err();
        assert!(why.contains("\"/message/role\""), "{why}");
    }

    #[test]
    fn several_are_looked_at_in_their_order_and_what_does_not_fit_is_noted() {
        #[derive(serde::Deserialize)]
        struct Keys {
            one: Pointers,
            more: Pointers,
        }
        let keys: Keys = toml::from_str("one = \"/b\"\nmore = [\"/x\", \"/b\", \"/a/c\"]").unwrap();
        let keys: &'static Keys = Box::leak(Box::new(keys));
        let value = |json: &'static str| Raw::of(json).unwrap();
        let said = value(r#"{"a": {"c": "A"}, "b": 8, "x": null}"#);
        let lost = LostFields::default();
        assert_eq!(keys.more.id(said, &lost).unwrap(), "8");
        assert_eq!(keys.more.text(said, &lost).unwrap(), "A");
        assert_eq!(keys.one.each(said), [value("8")]);
        assert_eq!(lost.names(), [""; 0]);
        assert_eq!(keys.more.text(value(r#"{"a": "A", "b": 8}"#), &lost), None);
        assert_eq!(lost.names(), ["b", "a"]);
        let list = value(r#"{"b": [1, [2]]}"#);
        assert_eq!(keys.one.elements(list), [value("1"), value("[2]")]);
    }
}
