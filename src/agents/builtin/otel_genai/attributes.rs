//! Attributes, whichever way they are written, as plain JSON.

use decode::lenient::{self, Count, LostFields};
use model::event::ELIDED;
use serde_json::Value;
use std::collections::BTreeMap;

/// Attributes by name, their values plain JSON.
pub(super) struct Attributes<'l> {
    object: Value,
    pub(super) lost: &'l LostFields,
}

impl<'l> Attributes<'l> {
    /// Returns the attributes of a span, an event or a log record.
    pub(super) fn of(record: &Value, lost: &'l LostFields) -> Attributes<'l> {
        let object = first(
            record,
            &["attributes"],
            lost,
            |attributes| match attributes {
                Value::Object(_) => Some(attributes.clone()),
                Value::Array(list) => Some(pairs(list, lost)),
                _ => None,
            },
        );
        Attributes {
            object: object.unwrap_or_default(),
            lost,
        }
    }

    /// Attributes beside these.
    pub(super) fn beside(&self, object: Value) -> Attributes<'l> {
        let lost = self.lost;
        Attributes { object, lost }
    }

    /// Returns the list whose elements' fields are attributes of their own: `gen_ai.prompt.0.content`,
    /// `llm.input_messages.0.message.contents.1.message_content.text`.
    pub(super) fn numbered(&self, prefix: &str) -> Vec<Value> {
        let fields = self.iter().filter_map(|(name, value)| {
            let name = name.strip_prefix(prefix)?;
            let (number, rest) = name.split_once('.')?;
            number.parse::<u32>().ok()?;
            let last = rest.rsplit('.').next()?;
            match WORDS
                .iter()
                .find(|word| **word == last && !value.is_string())
            {
                Some(word) => {
                    self.lost.note(word);
                    None
                }
                None => Some((name, value)),
            }
        });
        match nested(fields.collect(), MOST_DEPTH) {
            Value::Array(list) => list,
            _ => Vec::new(),
        }
    }

    /// Returns the number of the first element of such a list.
    pub(super) fn first_number(&self, prefix: &str) -> Option<u32> {
        let names = self
            .iter()
            .filter_map(|(name, _)| name.strip_prefix(prefix));
        let numbers = names.filter_map(|name| name.split_once('.')?.0.parse().ok());
        numbers.min()
    }

    /// Returns true if there are as many as OpenTelemetry keeps of a span. Then others may be missing.
    pub(super) fn are_at_limit(&self) -> bool {
        self.iter().count() == MOST_KEPT
    }

    pub(super) fn to_value(&self) -> Value {
        self.object.clone()
    }

    pub(super) fn get(&self, name: &str) -> Option<&Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// Returns an attribute of JSON or text.
    pub(super) fn content(&self, name: &'static str) -> Option<Value> {
        first(&self.object, &[name], self.lost, |value| {
            let is_scalar = value.is_number() || value.is_boolean();
            (!is_scalar).then(|| parsed(value))
        })
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        let fields = self.object.as_object().into_iter().flatten();
        fields.map(|(name, value)| (name.as_str(), value))
    }

    pub(super) fn text(&self, names: &[&'static str]) -> Option<String> {
        first(&self.object, names, self.lost, Value::as_str).map(str::to_owned)
    }

    pub(super) fn count(&self, names: &[&'static str]) -> Result<Option<u64>, Unreadable> {
        // Some instrumentations write -1 where they have no number.
        let is_absent = |value: &Value| *value == -1 || *value == "-1";
        let mut values = names.iter().filter_map(|name| self.get(name));
        if values.any(|value| number(value).is_none() && !is_absent(value) && *value != "") {
            first(&self.object, names, self.lost, number);
            return Err(Unreadable);
        }
        let found = first(&self.object, names, self.lost, |value| {
            match number(value) {
                None if is_absent(value) => Some(None),
                number => number.map(Some),
            }
        });
        Ok(found.flatten())
    }
}

/// Returns the first of these fields that `read` can read. Others that are there, null and empty text aside, are noted
/// as lost.
pub(super) fn first<'v, T>(
    of: &'v Value,
    names: &[&'static str],
    lost: &LostFields,
    read: impl Fn(&'v Value) -> Option<T>,
) -> Option<T> {
    names.iter().find_map(|name| {
        let value = of.get(name);
        let value = value.filter(|value| !value.is_null() && **value != "")?;
        let read = read(value);
        if read.is_none() {
            lost.note(name);
        }
        read
    })
}

/// Returns the objects in the list of this name. Anything else is noted as lost.
pub(super) fn list<'v>(
    of: &'v Value,
    name: &'static str,
    lost: &LostFields,
) -> impl Iterator<Item = &'v Value> {
    let list = first(of, &[name], lost, Value::as_array);
    list.into_iter().flatten().filter(move |element| {
        if !element.is_object() {
            lost.note(name);
        }
        element.is_object()
    })
}

/// A number of tokens that is there and cannot be read.
pub(super) struct Unreadable;

/// Returns a number of tokens, bare or as the string that OTLP makes of 64 bits.
pub(super) fn number(value: &Value) -> Option<u64> {
    match value {
        Value::String(text) => text.parse().ok().filter(|n| lenient::is_plausible(*n)),
        Value::Number(number) => Count::of(&number.to_string()).0,
        _ => None,
    }
}

/// Returns `[{"key":…,"value":{"stringValue":…}}]` as an object.
fn pairs(list: &[Value], lost: &LostFields) -> Value {
    let pairs = list.iter().filter_map(|pair| {
        if !pair.is_object() {
            lost.note("attributes");
        }
        let key = first(pair, &["key"], lost, Value::as_str)?;
        let is_object = |value| Some(value).filter(|value: &&Value| value.is_object());
        let value = first(pair, &["value"], lost, is_object)?;
        Some((key.to_owned(), plain(value, lost)))
    });
    Value::Object(pairs.collect())
}

/// Returns OTLP's `AnyValue` as plain JSON.
pub(super) fn plain(value: &Value, lost: &LostFields) -> Value {
    let Some(fields) = value.as_object() else {
        return value.clone();
    };
    let list = |name| {
        let list = first(value, &[name], lost, Value::as_object)?.get("values");
        let list = list.filter(|values| !values.is_null());
        if list.is_some_and(|values| !values.is_array()) {
            lost.note("values");
        }
        Some(
            list.and_then(Value::as_array)
                .map_or(&[][..], Vec::as_slice),
        )
    };
    match fields.keys().next().map(String::as_str) {
        Some("arrayValue") => list("arrayValue").map_or(Value::Null, |values| {
            values.iter().map(|value| plain(value, lost)).collect()
        }),
        Some("kvlistValue") => {
            list("kvlistValue").map_or(Value::Null, |values| pairs(values, lost))
        }
        _ => fields.values().next().cloned().unwrap_or_default(),
    }
}

/// Returns a value, or the JSON that its text is; nothing where a reader cut that JSON.
pub(super) fn parsed(value: &Value) -> Value {
    match value {
        Value::String(text) if text.starts_with(['[', '{']) && text.ends_with(ELIDED) => {
            Value::Null
        }
        Value::String(text) => serde_json::from_str(text).unwrap_or_else(|_| value.clone()),
        other => other.clone(),
    }
}

/// Names of fields of messages and calls that are strings.
const WORDS: [&str; 4] = ["role", "name", "id", "tool_call_id"];

/// The attributes of a span that OpenTelemetry keeps by default: the newest.
const MOST_KEPT: usize = 128;

/// Deeper names are cut off: a call's function in a message is six deep.
const MOST_DEPTH: usize = 8;

/// A value and its name, or what is left of it.
type NamedValue<'v> = (&'v str, &'v Value);

/// Values with dotted names as the object that they are parts of; where all names are numbers, as a list.
fn nested(fields: Vec<NamedValue<'_>>, depth: usize) -> Value {
    let mut groups: BTreeMap<(Option<u32>, &str), Vec<NamedValue<'_>>> = BTreeMap::new();
    for (name, value) in fields {
        let (first, rest) = name.split_once('.').unwrap_or((name, ""));
        let group = groups.entry((first.parse().ok(), first)).or_default();
        group.push((rest, value));
    }
    let is_list = groups.keys().all(|(number, _)| number.is_some());
    let values = groups.into_iter().map(|((_, name), fields)| {
        let value = match fields[..] {
            [(_, value)] if depth == 0 => value.clone(),
            [("", value)] => value.clone(),
            _ if depth == 0 => Value::Null,
            _ => nested(fields, depth - 1),
        };
        (name.to_owned(), value)
    });
    if is_list {
        values.map(|(_, value)| value).collect()
    } else {
        Value::Object(values.collect())
    }
}
