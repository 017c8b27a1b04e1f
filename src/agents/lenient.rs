//! Reading JSON whose shape cannot be relied on: a field of an unexpected type counts as absent, so
//! that one odd field does not cost the whole line.

mod record;
pub mod scan;

pub use crate::lenient_record as record;
pub use record::{At, Field, Lost, Record, object as read_object, parse, value};

use crate::model::event::{ELIDED, ItemBuilder, Key};
use jiff::Timestamp;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// The largest token number that is believed: sums of such numbers cannot overflow.
const MAX_TOKENS: u64 = 1_000_000_000_000;

/// A string, borrowed from the line where it holds no escapes; absent where it is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text<'a>(pub Option<Cow<'a, str>>);

impl Text<'_> {
    /// The string, if there is one.
    pub fn get(&self) -> Option<&str> {
        self.0.as_deref()
    }

    /// The string, empty where there is none.
    pub fn or_empty(&self) -> &str {
        self.get().unwrap_or_default()
    }

    /// The string where it says anything, to be kept.
    pub fn boxed(&self) -> Option<Box<str>> {
        self.get().filter(|text| !text.is_empty()).map(Into::into)
    }

    /// The key of the id that it is.
    pub fn key(&self) -> Option<Key> {
        self.get().map(Key::of)
    }

    /// The time it says.
    pub fn time(&self) -> Option<Timestamp> {
        self.get()?.parse().ok()
    }
}

/// A number of tokens; absent where it is negative, too large to be true, or no number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count(pub Option<u64>);

impl Count {
    /// The number, 0 where there is none.
    pub fn or_zero(self) -> u64 {
        self.0.unwrap_or(0)
    }
}

/// One piece of a content: bare text or an object.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece<'a, B> {
    /// Bare text.
    Text(Cow<'a, str>),
    /// An object.
    Part(B),
}

/// A content as messages write it: a string, one object, or a list of either; empty where it is
/// something else.
#[derive(Debug, Clone, PartialEq)]
pub struct Pieces<'a, B>(pub Vec<Piece<'a, B>>);

impl<B> Pieces<'_, B> {
    /// The objects among them.
    pub fn parts(&self) -> impl Iterator<Item = &B> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Part(part) => Some(part),
            Piece::Text(_) => None,
        })
    }

    /// The bare texts among them.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(&**text),
            Piece::Part(_) => None,
        })
    }
}

/// Strings of a list, or one bare string; absent where it is something else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts<'a>(pub Vec<Text<'a>>);

impl Texts<'_> {
    /// The strings.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(Text::get)
    }
}

impl<B> Default for Pieces<'_, B> {
    fn default() -> Self {
        Pieces(Vec::new())
    }
}

/// Reads a line that holds one JSON object; otherwise says what is wrong. A list in its place would
/// be taken for the fields in their order.
pub fn object<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, Box<str>> {
    if !line.trim_ascii_start().starts_with(b"{") {
        return Err("not a JSON object".into());
    }
    serde_json::from_slice(line).map_err(|error| error.to_string().into())
}

/// Adds a JSON value to an item as the text that it is. Where a reader cut one of its strings, the
/// strings one by one, since only there can the cut be told.
pub fn raw<'s, 'm>(item: ItemBuilder<'s, 'm>, value: &RawValue) -> ItemBuilder<'s, 'm> {
    if value.get().contains(ELIDED) {
        strings(item, value)
    } else {
        item.text(value.get())
    }
}

/// Adds the strings in a JSON value to an item; the value as it is where it holds none.
pub fn strings<'s, 'm>(item: ItemBuilder<'s, 'm>, value: &RawValue) -> ItemBuilder<'s, 'm> {
    let parsed: serde_json::Value = serde_json::from_str(value.get()).unwrap_or_default();
    let mut found = Vec::new();
    collect(&parsed, &mut found);
    if found.is_empty() {
        return item.text(value.get());
    }
    found.into_iter().fold(item, ItemBuilder::text)
}

fn collect<'v>(value: &'v serde_json::Value, found: &mut Vec<&'v str>) {
    match value {
        serde_json::Value::String(text) => found.push(text),
        serde_json::Value::Array(list) => list.iter().for_each(|v| collect(v, found)),
        serde_json::Value::Object(map) => map.values().for_each(|v| collect(v, found)),
        _ => {}
    }
}

/// Implements the visits of a [`Visitor`] that say nothing of use.
macro_rules! ignore {
    ($value:expr; $($name:ident: $type:ty),*) => {
        $(fn $name<E>(self, _: $type) -> Result<Self::Value, E> {
            Ok($value)
        })*
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok($value)
        }
    };
}

fn drain_seq<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<(), A::Error> {
    while seq.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

fn drain_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Text(Some(Cow::Borrowed(text))))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Text(Some(Cow::Owned(text.to_owned()))))
            }

            ignore!(Text(None); visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
                drain_seq(seq).map(|()| Text(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                drain_map(map).map(|()| Text(None))
            }
        }
        deserializer.deserialize_any(Visit)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Count;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_u64<E>(self, n: u64) -> Result<Count, E> {
                Ok(Count(Some(n).filter(|n| *n <= MAX_TOKENS)))
            }

            fn visit_i64<E>(self, n: i64) -> Result<Count, E> {
                Ok(Count(u64::try_from(n).ok().filter(|n| *n <= MAX_TOKENS)))
            }

            fn visit_f64<E>(self, n: f64) -> Result<Count, E> {
                let sane = (0.0..=MAX_TOKENS as f64).contains(&n);
                Ok(Count(sane.then_some(n as u64)))
            }

            ignore!(Count(None); visit_bool: bool, visit_str: &str);

            fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Count, A::Error> {
                drain_seq(seq).map(|()| Count(None))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Count, A::Error> {
                drain_map(map).map(|()| Count(None))
            }
        }
        deserializer.deserialize_any(Visit)
    }
}

impl<'de: 'a, 'a, B: Deserialize<'de>> Deserialize<'de> for Pieces<'a, B> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visit<B>(PhantomData<B>);
        impl<'de, B: Deserialize<'de>> Visitor<'de> for Visit<B> {
            type Value = Pieces<'de, B>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Pieces(vec![Piece::Text(Cow::Borrowed(text))]))
            }

            fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Pieces(vec![Piece::Text(Cow::Owned(text.to_owned()))]))
            }

            ignore!(Pieces(Vec::new()); visit_bool: bool, visit_i64: i64, visit_u64: u64,
                visit_f64: f64);

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(Pieces(inner)) = seq.next_element::<Pieces<'de, B>>()? {
                    all.extend(inner);
                }
                Ok(Pieces(all))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let part = B::deserialize(MapAccessDeserializer::new(map))?;
                Ok(Pieces(vec![Piece::Part(part)]))
            }
        }
        deserializer.deserialize_any(Visit(PhantomData))
    }
}

/// A model's id without the provider's name, which gateways put before it.
pub(super) fn model_name(model: &str) -> &str {
    let name = model.rsplit('/').next().unwrap_or(model);
    // Bedrock: `us.anthropic.claude-…`.
    match name.split_once("anthropic.") {
        Some((_, claude)) => claude,
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Default, Deserialize)]
    #[serde(default)]
    struct Sample<'a> {
        #[serde(borrow)]
        name: Text<'a>,
        tokens: Count,
        #[serde(borrow)]
        content: Pieces<'a, Inner<'a>>,
    }

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default)]
    struct Inner<'a> {
        #[serde(borrow)]
        text: Text<'a>,
    }

    fn count(json: &str) -> Option<u64> {
        serde_json::from_str::<Count>(json).unwrap().0
    }

    #[test]
    fn numbers_that_cannot_be_true_are_absent() {
        assert_eq!(count("12207"), Some(12_207));
        assert_eq!(count("12.0"), Some(12));
        for odd in [
            "-1",
            "18446744073709551615",
            "1e300",
            "null",
            "\"7\"",
            "[1]",
            "{\"a\":[1]}",
            "true",
        ] {
            assert_eq!(count(odd), None, "{odd}");
        }
    }

    #[test]
    fn a_field_of_another_type_does_not_cost_the_line() {
        let line = r#"{"name":{"a":[1,{}]},"tokens":[[]],"content":"plain"}"#;
        let sample: Sample<'_> = serde_json::from_str(line).unwrap();
        assert_eq!(sample.name.get(), None);
        assert_eq!(sample.tokens.0, None);
        assert_eq!(sample.content.0, [Piece::Text(Cow::Borrowed("plain"))]);
    }

    #[test]
    fn content_is_a_string_an_object_or_a_list_of_both() {
        let line = r#"{"name":"n","content":["a",{"text":"b\n"},7,null,[{"text":"c"}]]}"#;
        let sample: Sample<'_> = serde_json::from_str(line).unwrap();
        let texts: Vec<&str> = sample
            .content
            .0
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text,
                Piece::Part(inner) => inner.text.or_empty(),
            })
            .collect();
        assert_eq!(texts, ["a", "b\n", "c"]);
        assert!(matches!(sample.name.0, Some(Cow::Borrowed("n"))));
    }
}
