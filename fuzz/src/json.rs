//! The JSON scanner accepts what `serde_json` accepts, and finds the same fields, elements and texts.

use ctxgauge::decode::lenient::Raw;
use ctxgauge::json::{each_element, each_field, string};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// An input is any text.
pub fn check(input: &[u8]) {
    let Ok(json) = std::str::from_utf8(input) else {
        return;
    };
    let raw = Raw::of(json);
    let expected = serde_json::from_str::<&RawValue>(json).ok();
    assert_eq!(raw.map(Raw::get), expected.map(RawValue::get));
    // `serde_json` refuses lone surrogates, numbers beyond any range and deep nesting where it reads a value.
    if let (Some(raw), Ok(value)) = (raw, serde_json::from_str::<Value>(json)) {
        assert_eq!(rebuilt(raw.get()), value);
    }
}

/// The value that the scanner's parts make.
fn rebuilt(json: &str) -> Value {
    let mut map = Map::new();
    if each_field(json, &mut |name, value| {
        map.insert(name.to_owned(), rebuilt(value.get()));
    })
    .is_ok()
    {
        return map.into();
    }
    let mut list = Vec::new();
    if each_element(json, &mut |element| list.push(rebuilt(element.get()))).is_ok() {
        return list.into();
    }
    match string(json) {
        Some(text) => text.into(),
        None => serde_json::from_str(json).unwrap_or_default(),
    }
}
