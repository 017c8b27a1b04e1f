//! The place of a value in a record: a JSON pointer.

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde_json::Value;
use std::fmt;

/// A JSON pointer (RFC 6901) in which `*` means every element of a list. The empty one points
/// at the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pointer(Vec<Box<str>>);

/// Several pointers, written as one string or as a list of strings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Pointers(Vec<Pointer>);

/// The step that means every element.
const EVERY: &str = "*";

impl Pointer {
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

    /// Returns everything it points at.
    pub(super) fn each<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let mut found = vec![value];
        for step in &self.0 {
            found = found
                .into_iter()
                .flat_map(|value| go(value, step))
                .collect();
        }
        found
    }

    /// Returns the first thing it points at that is not null.
    pub(super) fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.each(value).into_iter().find(|found| !found.is_null())
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

    /// Returns the keys that a document must hold for this to point at anything.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        let steps = self.0.iter().map(|step| &**step);
        steps.filter(|step| *step != EVERY && step.parse::<usize>().is_err())
    }
}

fn go<'v>(value: &'v Value, step: &str) -> Vec<&'v Value> {
    match value {
        Value::Array(list) if step == EVERY => list.iter().collect(),
        Value::Array(list) => {
            let nth = step.parse::<usize>().ok();
            nth.and_then(|nth| list.get(nth)).into_iter().collect()
        }
        Value::Object(map) => map.get(step).into_iter().collect(),
        _ => Vec::new(),
    }
}

impl Pointers {
    /// Returns true if there are no pointers.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns each pointer.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Pointer> {
        self.0.iter()
    }

    /// Returns everything they point at, in their order.
    pub(super) fn each<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        self.0.iter().flat_map(|p| p.each(value)).collect()
    }

    /// Returns the elements of the lists they point at, and what else they point at.
    pub(super) fn elements<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        let found = self.each(value).into_iter();
        found
            .flat_map(|found| match found {
                Value::Array(list) => list.iter().collect(),
                other => vec![other],
            })
            .collect()
    }

    /// Returns the first string or number they point at, as text.
    pub(super) fn text(&self, value: &Value) -> Option<String> {
        let found = self.0.iter().filter_map(|pointer| pointer.find(value));
        found
            .filter_map(|found| match found {
                Value::String(text) if !text.is_empty() => Some(text.clone()),
                Value::Number(number) => Some(number.to_string()),
                _ => None,
            })
            .next()
    }
}

impl<'de> Deserialize<'de> for Pointer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Pointer::read(&text).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Pointers {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Pointers;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON pointer such as \"/message/role\", or a list of them")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<Pointers, E> {
                Pointer::read(text)
                    .map(|pointer| Pointers(vec![pointer]))
                    .map_err(E::custom)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Pointers, A::Error> {
                let mut all = Vec::new();
                while let Some(pointer) = seq.next_element()? {
                    all.push(pointer);
                }
                Ok(Pointers(all))
            }
        }
        deserializer.deserialize_any(Visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn texts(pointer: &str, value: &Value) -> Vec<String> {
        let found = Pointer::read(pointer).unwrap();
        let found = found.each(value).into_iter();
        found.map(ToString::to_string).collect()
    }

    #[test]
    fn it_points_as_the_standard_says_and_at_every_element() {
        let value = json!({"a": [{"b": 1}, {"b": 2}, 3], "c/d~": true, "*": 4, "": 5});
        assert_eq!(texts("/a/1/b", &value), ["2"]);
        assert_eq!(texts("/a/*/b", &value), ["1", "2"]);
        assert_eq!(texts("/c~1d~0", &value), ["true"]);
        assert_eq!(texts("/*", &value), ["4"]);
        assert_eq!(texts("/", &value), ["5"]);
        assert_eq!(texts("", &json!(7)), ["7"]);
        for nothing in ["/a/7", "/a/b", "/a/0/b/c", "/x"] {
            assert_eq!(texts(nothing, &value), [""; 0], "{nothing}");
        }
    }

    #[test]
    fn what_is_no_pointer_says_how_it_is_written() {
        let why = Pointer::read("message/role").unwrap_err();
        assert!(why.contains("\"/message/role\""), "{why}");
    }

    #[test]
    fn several_are_looked_at_in_their_order() {
        #[derive(serde::Deserialize)]
        struct Keys {
            one: Pointers,
            more: Pointers,
        }
        let keys: Keys = toml::from_str("one = \"/b\"\nmore = [\"/x\", \"/b\", \"/a\"]").unwrap();
        let value = json!({"a": "A", "b": 8, "x": null});
        assert_eq!(keys.more.text(&value).unwrap(), "8");
        assert_eq!(keys.one.each(&value), [&json!(8)]);
        let list = json!({"b": [1, [2]]});
        assert_eq!(keys.one.elements(&list), [&json!(1), &json!([2])]);
    }
}
