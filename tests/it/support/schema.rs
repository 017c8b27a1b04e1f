//! The JSON schemas in `assets/schemas`. Of the language of schemas only what they use is understood; any other word in
//! one is an error.

use super::manifest_folder;
use serde_json::Value;

/// Panics if a document is not as the schema of this file says.
pub fn check(file: &str, document: &Value) {
    if let Err(why) = validated(file, document) {
        panic!(
            "{why}\nA new key belongs into assets/schemas/{file}, and into assets/docs/json.md or export.md."
        );
    }
}

/// Whether a document is as the schema of this file says.
pub fn fits(file: &str, document: &Value) -> bool {
    validated(file, document).is_ok()
}

fn validated(file: &str, document: &Value) -> Result<(), String> {
    let path = manifest_folder().join("assets/schemas").join(file);
    let text = std::fs::read_to_string(path).unwrap();
    let schema: Value = serde_json::from_str(&text).unwrap();
    validate(&schema, &schema, document, "")
}

fn validate(root: &Value, schema: &Value, value: &Value, place: &str) -> Result<(), String> {
    let words = schema.as_object().ok_or("a schema is an object")?;
    let fail = |why: &str| Err(format!("{place}: {why}: {}", shortened(value)));
    for (word, rule) in words {
        match word.as_str() {
            "$schema" | "$defs" | "title" | "description" | "format" | "default" | "examples" => {}
            "minimum" | "maximum" | "exclusiveMinimum" => {
                let bound = rule.as_f64().ok_or("a bound is a number")?;
                let is_within = |n: f64| match word.as_str() {
                    "minimum" => n >= bound,
                    "maximum" => n <= bound,
                    _ => n > bound,
                };
                if value.as_f64().is_some_and(|n| !is_within(n)) {
                    return fail("too small or too large");
                }
            }
            "minItems" | "maxItems" => {
                let bound = rule.as_u64().ok_or("a bound is a number")? as usize;
                let is_within = |n: usize| match word.as_str() {
                    "minItems" => n >= bound,
                    _ => n <= bound,
                };
                if value.as_array().is_some_and(|all| !is_within(all.len())) {
                    return fail("too few or too many");
                }
            }
            "$ref" => {
                let name = rule.as_str().and_then(|name| name.strip_prefix('#'));
                let part = name.and_then(|name| root.pointer(name));
                validate(
                    root,
                    part.ok_or(format!("{rule} leads nowhere"))?,
                    value,
                    place,
                )?;
            }
            "const" if rule == value => {}
            "enum" if rule.as_array().is_some_and(|all| all.contains(value)) => {}
            "const" | "enum" => return fail("another value"),
            "oneOf" => {
                let all = rule.as_array().ok_or("oneOf is a list")?.iter();
                let fits = |one: &&Value| validate(root, one, value, place).is_ok();
                if all.clone().filter(fits).count() != 1 {
                    for meant in all.filter(|one| is_meant(root, one, value)) {
                        validate(root, meant, value, place)?;
                    }
                    return fail("not one of the kinds");
                }
            }
            "type" => {
                let one = std::slice::from_ref(rule);
                let kinds = rule.as_array().map_or(one, Vec::as_slice);
                if !kinds.iter().any(|kind| is_of(kind, value)) {
                    return fail("another type");
                }
            }
            "properties" => {
                for (name, part) in rule.as_object().ok_or("properties")? {
                    if let Some(value) = value.get(name) {
                        validate(root, part, value, &format!("{place}/{name}"))?;
                    }
                }
            }
            "required" => {
                for name in rule.as_array().ok_or("required")? {
                    let name = name.as_str().ok_or("required")?;
                    if value.is_object() && value.get(name).is_none() {
                        return fail(&format!("{name} is missing"));
                    }
                }
            }
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                let of_map = value.as_object().into_iter().flatten();
                let unknown = |name: &str| known.is_none_or(|known| !known.contains_key(name));
                for (name, value) in of_map.filter(|(name, _)| unknown(name)) {
                    match rule {
                        Value::Bool(false) => return fail(&format!("{name} is unknown")),
                        Value::Bool(true) => {}
                        rule => validate(root, rule, value, &format!("{place}/{name}"))?,
                    }
                }
            }
            "items" => {
                for (ix, value) in value.as_array().into_iter().flatten().enumerate() {
                    validate(root, rule, value, &format!("{place}/{ix}"))?;
                }
            }
            other => return Err(format!("{place}: '{other}' is not understood here")),
        }
    }
    Ok(())
}

/// True if a value has the constants of this schema, such as the name of its kind.
fn is_meant(root: &Value, schema: &Value, value: &Value) -> bool {
    let part = schema["$ref"]
        .as_str()
        .and_then(|name| root.pointer(name.strip_prefix('#')?));
    let properties = part.unwrap_or(schema)["properties"].as_object();
    let constants = properties.into_iter().flatten();
    let mut constants = constants.filter_map(|(name, rule)| Some((name, rule.get("const")?)));
    constants.all(|(name, constant)| value.get(name).is_none_or(|value| value == constant))
}

fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn is_of(kind: &Value, value: &Value) -> bool {
    match kind.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_i64() || value.is_u64(),
        _ => false,
    }
}

#[test]
fn what_does_not_fit_a_schema_is_found() {
    let schema = serde_json::json!({
        "type": "object",
        "properties": { "a": { "type": ["integer", "null"], "minimum": 0, "maximum": 9 }, "b": { "$ref": "#/$defs/b" } },
        "required": ["a"],
        "additionalProperties": false,
        "$defs": { "b": { "type": "array", "minItems": 1, "items": { "enum": ["x", "y"] } } },
    });
    let fits = |text: &str| {
        let value: Value = serde_json::from_str(text).unwrap();
        validate(&schema, &schema, &value, "").is_ok()
    };
    assert!(fits(r#"{"a":1,"b":["x"]}"#) && fits(r#"{"a":null}"#));
    for wrong in [
        "[]",
        "{}",
        r#"{"a":"1"}"#,
        r#"{"a":1.5}"#,
        r#"{"a":-1}"#,
        r#"{"a":10}"#,
        r#"{"a":1,"b":[]}"#,
        r#"{"a":1,"c":2}"#,
        r#"{"a":1,"b":["z"]}"#,
        r#"{"a":1,"b":"x"}"#,
    ] {
        assert!(!fits(wrong), "{wrong}");
    }
    let kinds = serde_json::json!({ "oneOf": [
        { "properties": { "type": { "const": "a" }, "n": {} }, "additionalProperties": false },
        { "properties": { "type": { "const": "b" } }, "additionalProperties": false },
    ] });
    let wrong = serde_json::json!({ "type": "b", "n": "x".repeat(900) });
    let why = validate(&kinds, &kinds, &wrong, "").unwrap_err();
    assert!(
        why.starts_with(": n is unknown: ") && why.len() < 300,
        "{why}"
    );
    let other = serde_json::json!({ "pattern": "x" });
    assert!(validate(&other, &other, &schema, "").is_err());
}
