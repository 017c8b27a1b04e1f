//! Fields whose values are kept as they are written, once they have the expected shape.

use crate::lenient::{Field, FieldPlace, Raw, Record, Text};
use std::borrow::Cow;

/// A JSON object.
#[derive(Debug, Clone, Copy)]
pub struct Object<'a>(pub Raw<'a>);

impl<'a> Field<'a> for Object<'a> {
    fn read(value: Raw<'a>, _: FieldPlace<'_>) -> Option<Self> {
        is_object(value).then_some(Object(value))
    }
}

/// A JSON object or list.
#[derive(Debug, Clone, Copy)]
pub struct NestedJson<'a>(pub Raw<'a>);

impl<'a> Field<'a> for NestedJson<'a> {
    fn read(value: Raw<'a>, _: FieldPlace<'_>) -> Option<Self> {
        value
            .get()
            .starts_with(['{', '['])
            .then_some(NestedJson(value))
    }
}

/// Returns the elements of a list; any other value is its own only element.
pub fn list(raw: Raw<'_>) -> Vec<Raw<'_>> {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| vec![raw])
}

/// Returns the first element of a list, however deep; any other value is returned unchanged.
pub fn first(raw: Raw<'_>) -> Option<Raw<'_>> {
    let mut first = raw;
    while first.get().starts_with('[') {
        first = *list(first).first()?;
    }
    Some(first)
}

/// Returns the string that a value contains; `None` for any other value.
pub fn string(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    json::string(raw.get())
}

/// Returns true if a value is an object.
pub(super) fn is_object(raw: Raw<'_>) -> bool {
    raw.get().starts_with('{')
}

/// Notes that a value is neither text, list nor object, where it should be one of them.
pub(super) fn note_scalar(raw: Option<Raw<'_>>, at: FieldPlace<'_>) {
    let scalar = raw.filter(|raw| !raw.get().starts_with(['"', '[', '{']));
    scalar.and_then(|raw| at.read::<Text<'_>>(raw));
}

/// Returns the object that a value is; any other value is noted as lost, and read as an empty object.
pub(super) fn object<'a, T: Record<'a>>(raw: Raw<'a>, at: FieldPlace<'_>) -> T {
    at.read(raw).unwrap_or_default()
}

/// Returns the object that a value is. A missing value, or one of another type, is not noted and is read as an empty
/// object.
pub fn object_if<'a, T: Record<'a>>(raw: Option<Raw<'a>>, at: FieldPlace<'_>) -> T {
    let raw = raw.filter(|raw| is_object(*raw));
    raw.map_or_else(T::default, |raw| object(raw, at))
}
