//! Attributes, whichever way they are written, as JSON by name.

use decode::bodies::{object_if, string};
use decode::lenient::{Count, Field, FieldPlace, LostFields, Raw, Scanner, Text, record};
use model::event::ELIDED;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The JSON of values by their names.
pub(super) type Object<'a> = BTreeMap<String, Cow<'a, str>>;

/// Attributes by name.
pub(super) struct Attributes<'a, 'l> {
    pub(super) object: Object<'a>,
    pub(super) lost: &'l LostFields,
}

record! {
    /// An attribute as OTLP writes it.
    struct Pair<'a> {
        key: Text<'a>,
        value: Option<Plain<'a>>,
    }

    /// A value as OTLP writes it.
    struct AnyValue<'a> {
        list: Option<List<'a>> = "arrayValue",
        object: Option<Pairs<'a>> = "kvlistValue",
        scalar: Option<Raw<'a>> = "stringValue" | "intValue" | "doubleValue" | "boolValue" | "bytesValue",
    }

    struct List<'a> {
        values: Vec<Plain<'a>>,
    }

    struct Pairs<'a> {
        values: Vec<Pair<'a>>,
    }
}

/// The plain JSON of a value that may be written as OTLP does.
#[derive(Debug, Clone)]
pub(super) struct Plain<'a>(pub(super) Cow<'a, str>);

impl<'a> Field<'a> for Plain<'a> {
    fn read(value: Raw<'a>, at: FieldPlace<'_>) -> Option<Self> {
        let any: AnyValue<'_> = object_if(Some(value), at);
        Some(Plain(match (any.list, any.object, any.scalar) {
            (Some(list), ..) => {
                let values = list.values.into_iter().map(|value| value.0);
                format!("[{}]", values.collect::<Vec<_>>().join(",")).into()
            }
            (None, Some(pairs), _) => object(&by_name(pairs.values)).into(),
            (None, None, Some(scalar)) => scalar.get().into(),
            (None, None, None) if is_empty(value) => "null".into(),
            (None, None, None) => value.get().into(),
        }))
    }
}

/// Returns true if a value is an object whose fields are all null.
fn is_empty(value: Raw<'_>) -> bool {
    let fields = fields(value.get());
    value.get().starts_with('{') && fields.values().all(|value| value == "null")
}

impl<'a, 'l> Attributes<'a, 'l> {
    /// Returns the attributes of a span, an event or a log record.
    pub(super) fn of(attributes: Option<Raw<'a>>, lost: &'l LostFields) -> Attributes<'a, 'l> {
        let object = match attributes {
            Some(raw) if raw.get().starts_with('[') => {
                by_name(lost.at("attributes").read(raw).unwrap_or_default())
            }
            Some(raw) => fields(raw.get()),
            None => Object::new(),
        };
        Attributes { object, lost }
    }

    /// Returns the JSON of the elements of a list whose elements' fields are attributes of their own:
    /// `gen_ai.prompt.0.content`, `llm.input_messages.0.message.contents.1.message_content.text`.
    pub(super) fn numbered(&self, prefix: &str) -> Vec<String> {
        let parts = self.object.iter().filter_map(|(name, value)| {
            let name = name.strip_prefix(prefix)?;
            let (number, rest) = name.split_once('.')?;
            let number: u32 = number.parse().ok()?;
            let last = rest.rsplit('.').next();
            match WORDS.iter().find(|word| last == Some(**word)) {
                Some(word) if !value.starts_with('"') => {
                    self.lost.note(word);
                    None
                }
                _ => Some((number, (rest, &**value))),
            }
        });
        let mut elements: BTreeMap<u32, Vec<NamedValue<'_>>> = BTreeMap::new();
        for (number, part) in parts {
            elements.entry(number).or_default().push(part);
        }
        let elements = elements.into_values();
        elements.map(|parts| nested(parts, MOST_DEPTH)).collect()
    }

    /// Returns the number of the first element of such a list.
    pub(super) fn first_number(&self, prefix: &str) -> Option<u32> {
        let names = self.object.keys();
        let names = names.filter_map(|name| name.strip_prefix(prefix));
        let numbers = names.filter_map(|name| name.split_once('.')?.0.parse().ok());
        numbers.min()
    }

    /// Returns true if there are as many as OpenTelemetry keeps of a span. Then others may be missing.
    pub(super) fn are_at_limit(&self) -> bool {
        self.object.len() == MOST_KEPT
    }

    /// Returns the value of this name, unless it is null.
    pub(super) fn get(&self, name: &str) -> Option<Raw<'_>> {
        let value = self.object.get(name).and_then(|value| Raw::of(value));
        value.filter(|value| value.get() != "null")
    }

    /// Returns an attribute of JSON or text, as [`parsed`] does.
    pub(super) fn content(&self, name: &'static str) -> Option<Cow<'_, str>> {
        let value = self.get(name).filter(|value| value.get() != "\"\"")?;
        if !value.get().starts_with(['"', '[', '{']) {
            self.lost.note(name);
            return None;
        }
        Some(parsed(value))
    }

    /// Returns the first of these that is a text and not empty. Others that are there are noted as lost.
    pub(super) fn text(&self, names: &[&'static str]) -> Option<String> {
        names.iter().find_map(|name| {
            let text: Text<'_> = self.lost.at(name).read(self.get(name)?)?;
            text.boxed().map(String::from)
        })
    }

    /// Returns the first of these numbers of tokens, bare or as the string that OTLP makes of 64 bits. One that is there
    /// and no such number is noted as lost, and makes all of them unreadable.
    pub(super) fn count(&self, names: &[&'static str]) -> Result<Option<u64>, Unreadable> {
        let mut found = None;
        for name in names {
            let Some(value) = self.get(name) else {
                continue;
            };
            let text = string(value).unwrap_or(value.get().into());
            match (&*text, Count::of(&text).0) {
                ("", _) => {}
                // Some instrumentations write -1 where they have no number.
                ("-1", _) => _ = found.get_or_insert(None),
                (_, Some(tokens)) => _ = found.get_or_insert(Some(tokens)),
                (_, None) => {
                    self.lost.note(name);
                    return Err(Unreadable);
                }
            }
        }
        Ok(found.flatten())
    }
}

/// A number of tokens that is there and cannot be read.
pub(super) struct Unreadable;

fn by_name(pairs: Vec<Pair<'_>>) -> Object<'_> {
    let pairs = pairs.into_iter();
    let pairs = pairs.filter_map(|pair| Some((pair.key.0?.into_owned(), pair.value?.0)));
    pairs.collect()
}

/// Returns the fields of a JSON object; none where it is something else.
pub(super) fn fields(json: &str) -> Object<'_> {
    let mut fields = Object::new();
    // Of what is no object, nothing is visited.
    let _ = Scanner::new(json).fields(&mut |name, json| {
        fields.insert(name.to_owned(), json.value()?.get().into());
        Ok(())
    });
    fields
}

/// Returns the JSON of an object.
pub(super) fn object(fields: &Object<'_>) -> String {
    let fields = fields.iter();
    let fields: Vec<String> = fields
        .map(|(name, value)| format!("{}:{value}", quoted(name)))
        .collect();
    format!("{{{}}}", fields.join(","))
}

/// Returns the JSON of a text.
pub(super) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Returns JSON without white space, its fields in the order of their names: exporters write one value in several ways,
/// and a block is recognised by how it is written.
pub(super) fn normal(json: &str) -> String {
    serde_json::from_str::<Value>(json)
        .unwrap_or_default()
        .to_string()
}

/// Returns the JSON of a value, or the JSON that its text is; `null` where a reader cut that.
pub(super) fn parsed(value: Raw<'_>) -> Cow<'_, str> {
    match string(value) {
        Some(text) if text.starts_with(['[', '{']) && text.ends_with(ELIDED) => "null".into(),
        Some(text) if Raw::of(&text).is_some() => text,
        _ => value.get().into(),
    }
}

/// Names of fields of messages and calls that are strings.
const WORDS: [&str; 4] = ["role", "name", "id", "tool_call_id"];

/// The attributes of a span that OpenTelemetry keeps by default: the newest.
const MOST_KEPT: usize = 128;

/// Deeper names are cut off: a call's function in a message is six deep.
const MOST_DEPTH: usize = 8;

/// A name, or what is left of it, and the JSON of its value.
type NamedValue<'v> = (&'v str, &'v str);

/// Returns the JSON of values with dotted names as the object that they are parts of; where all names are numbers, as a
/// list.
fn nested(parts: Vec<NamedValue<'_>>, depth: usize) -> String {
    let mut groups: BTreeMap<(Option<u32>, &str), Vec<NamedValue<'_>>> = BTreeMap::new();
    for (name, value) in parts {
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        let group = groups.entry((first.parse().ok(), first)).or_default();
        group.push((rest, value));
    }
    let is_list = groups.keys().all(|(number, _)| number.is_some());
    let values = groups.into_iter().map(|((_, name), parts)| {
        let value = match parts[..] {
            [("", value)] => value.to_owned(),
            [(_, value)] if depth == 0 => value.to_owned(),
            _ if depth == 0 => "null".to_owned(),
            _ => nested(parts, depth - 1),
        };
        if is_list {
            value
        } else {
            format!("{}:{value}", quoted(name))
        }
    });
    let values = values.collect::<Vec<_>>().join(",");
    if is_list {
        format!("[{values}]")
    } else {
        format!("{{{values}}}")
    }
}
