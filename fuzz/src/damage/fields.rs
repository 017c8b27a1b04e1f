//! The fields of JSON texts, to put others in their place.

use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::ops::Range;

/// A field of an object in a text.
pub struct Field {
    /// The names and types of what it is in, and its own name.
    pub path: String,
    pub value: Range<usize>,
    /// What to cut out to remove the field.
    pub field: Range<usize>,
}

impl Field {
    /// Whether it decides what its record, message or request is, so that all of that may go with it.
    pub fn identifies(&self) -> bool {
        const NAMES: [&str; 7] = [
            "type",
            "role",
            "subtype",
            "id",
            "uuid",
            "usageScope",
            "compaction_output",
        ];
        NAMES.contains(&self.name())
    }

    /// Whether it is the size of a prompt, without which there is no report.
    pub fn is_prompt(&self) -> bool {
        let name = self.name().to_ascii_lowercase();
        let names = [
            "input",
            "prompt",
            "token_count",
            "currenttokens",
            "conversationtokens",
            "totaltokens",
        ];
        names.iter().any(|part| name.starts_with(part))
    }

    /// Whether it is a text that is sent, of which parts may be items of their own.
    pub fn is_text(&self) -> bool {
        self.name().to_ascii_lowercase().ends_with("content")
    }

    pub fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }
}

/// The fields of a JSON text at any depth.
pub fn fields(json: &str) -> Vec<Field> {
    let mut found = Vec::new();
    fields_in(json, 0, "", &mut found);
    found
}

fn fields_in(json: &str, base: usize, path: &str, found: &mut Vec<Field>) {
    let start = |value: &RawValue| value.get().as_ptr() as usize - json.as_ptr() as usize;
    if let Ok(elements) = serde_json::from_str::<Vec<&RawValue>>(json) {
        for element in elements {
            let path = format!("{path}[]");
            fields_in(element.get(), base + start(element), &path, found);
        }
    } else if let Ok(own) = serde_json::from_str::<BTreeMap<String, &RawValue>>(json) {
        let kinds = ["type", "role", "subtype", "kind", "event", "method"];
        let kinds = kinds.iter().filter_map(|kind| own.get(*kind));
        let kinds: Vec<&str> = kinds
            .map(|kind| kind.get())
            .filter(|k| k.len() < 40)
            .collect();
        for (name, value) in &own {
            let path = format!("{path}{{{}}}.{name}", kinds.join(" "));
            let from = start(value);
            let to = from + value.get().len();
            let quoted = serde_json::to_string(name).unwrap();
            let Some(key) = json[..from].rfind(&quoted) else {
                continue;
            };
            // The comma after it, or the one before it.
            let after = json[to..].len() - json[to..].trim_start().len();
            let field = if json[to + after..].starts_with(',') {
                key..to + after + 1
            } else {
                json[..key].rfind([',', '{']).unwrap()..to
            };
            let field = if json[field.clone()].starts_with('{') {
                field.start + 1..field.end
            } else {
                field
            };
            found.push(Field {
                path: path.clone(),
                value: base + from..base + to,
                field: base + field.start..base + field.end,
            });
            fields_in(value.get(), base + from, &path, found);
        }
    }
}
