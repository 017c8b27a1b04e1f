//! The JSON schema of the configuration, for editors and other programs: `assets/schemas/config.json`.

use super::keys::{ALL, Key, Kind, Unset};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toml::de::{DeValue, ValueDeserializer};

/// Returns the schema of all keys.
pub fn schema() -> Value {
    let mut schema = table(ALL);
    let head = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "ctxgauge configuration",
        "description": "The configuration file of ctxgauge, in TOML",
    });
    if let (Value::Object(schema), Value::Object(head)) = (&mut schema, head) {
        schema.extend(head);
    }
    schema
}

fn table(keys: &[Key]) -> Value {
    let mut properties = Map::new();
    for key in keys {
        properties.insert(key.name.to_owned(), property(key));
        if let Some(alias) = key.alias {
            properties.insert(alias.to_owned(), property(key));
        }
    }
    let required: Vec<&str> = keys
        .iter()
        .filter(|key| key.unset == Unset::Required)
        .map(|key| key.name)
        .collect();
    let mut table = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    if !required.is_empty() {
        table["required"] = json!(required);
    }
    table
}

fn property(key: &Key) -> Value {
    let mut schema = of_kind(key.kind);
    schema["description"] = match key.unset {
        Unset::Means(what) if !matches!(key.kind, Kind::Section(_)) => {
            json!(format!("{} Default: {what}.", key.about))
        }
        _ => json!(key.about),
    };
    if let Unset::Default(text) = key.unset {
        schema["default"] = value(text);
    }
    if !key.example.is_empty() {
        schema["examples"] = json!([value(key.example)]);
    }
    schema
}

fn of_kind(kind: Kind) -> Value {
    let share = json!({ "type": "number", "exclusiveMinimum": 0, "maximum": 1 });
    let text = json!({ "type": "string" });
    let texts = json!({ "type": "array", "items": text });
    match kind {
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Text => text,
        Kind::Texts => texts,
        Kind::Choice(words) => json!({ "enum": words }),
        Kind::Choices(words) => json!({ "type": "array", "items": { "enum": words } }),
        Kind::Count => json!({ "type": "integer", "minimum": 0 }),
        Kind::Share => share,
        Kind::Shares => json!({ "oneOf": [share, { "type": "array", "items": share }] }),
        Kind::TwoShares => json!({
            "type": "array",
            "items": { "type": "number", "exclusiveMinimum": 0 },
            "minItems": 2,
            "maxItems": 2,
        }),
        Kind::Tokens | Kind::Size => {
            json!({ "oneOf": [{ "type": "integer", "minimum": 1 }, text] })
        }
        // An action's keys, or those of a screen.
        Kind::Bindings => {
            let keys = json!({ "oneOf": [text, texts] });
            let screen = json!({ "type": "object", "additionalProperties": keys });
            json!({
                "type": "object",
                "additionalProperties": { "oneOf": [text, texts, screen] },
            })
        }
        Kind::Section(keys) => table(keys),
        Kind::Rows(keys) => json!({ "type": "array", "items": table(keys) }),
    }
}

/// Converts a value that is written as TOML.
fn value(text: &str) -> Value {
    let value = DeValue::parse(text).ok();
    let value = value.and_then(|value| Value::deserialize(ValueDeserializer::from(value)).ok());
    value.unwrap_or_default()
}
