//! Finds the value of each key, and its source.

use super::LoadedConfig;
use super::keys::{self, Kind, Setting, Unset};
use super::problem::line_number;
use serde::Deserialize;
use std::ops::Range;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toml::{Spanned, Value};

/// A key and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyValue {
    /// Its name; with the number of the row, or the name of the action, where it has several values.
    pub name: String,
    /// The value; `None`: it is not set, and what holds then is no value.
    pub value: Option<Value>,
    /// The behaviour if it is not set.
    pub unset: Unset,
    /// The line of the file that sets it; `None`: it has its default.
    pub line: Option<usize>,
}

/// Returns the values of all keys, in the order of [`keys::ALL`].
pub fn values(loaded: &LoadedConfig) -> Vec<KeyValue> {
    let text = loaded.text.as_deref().unwrap_or_default();
    let (table, _) = DeTable::parse_recoverable(text);
    let mut values = Vec::new();
    for setting in keys::settings() {
        let (name, unset) = (setting.name(), setting.key.unset);
        let mut add = |name, value: Option<&Spanned<DeValue<'_>>>, line| {
            values.push(KeyValue {
                name,
                value: value.and_then(plain),
                unset,
                line,
            });
        };
        match (find(table.get_ref(), setting), unset) {
            (Some((_, value)), _) => each(&name, setting.key.kind, value, &mut |name, value| {
                let line = line_number(text, value.span().start);
                add(name, Some(value), Some(line));
            }),
            (None, Unset::Default(text)) => add(name, DeValue::parse(text).ok().as_ref(), None),
            (None, Unset::Means(_) | Unset::Required) => add(name, None, None),
        }
    }
    values
}

/// Returns the place where a key is set in the text of a file; `None`: it is not.
pub fn place(text: &str, key: &str) -> Option<Range<usize>> {
    let (table, _) = DeTable::parse_recoverable(text);
    let setting = keys::settings().find(|setting| setting.name() == key)?;
    find(table.get_ref(), setting).map(|(place, _)| place)
}

/// Returns the keys of the keyboard that a file sets: the name of each action, with its place.
pub fn bindings(text: &str) -> Vec<(String, Range<usize>)> {
    let (table, _) = DeTable::parse_recoverable(text);
    let mut found = Vec::new();
    if let Some((name, value)) = table.get_ref().get_key_value("keys") {
        each("", Kind::Bindings, value, &mut |name, value| {
            found.push((name.trim_start_matches('.').to_owned(), value.span()));
        });
        found.retain(|(action, _)| !action.is_empty() && action != name.get_ref());
    }
    found
}

/// Finds a key's place and value in a file.
fn find<'t, 'i>(
    table: &'t DeTable<'i>,
    setting: Setting,
) -> Option<(Range<usize>, &'t Spanned<DeValue<'i>>)> {
    let table = match setting.section {
        None => table,
        Some(section) => table.get(section)?.get_ref().as_table()?,
    };
    let mut entries = table.iter();
    let (name, value) = entries.find(|(name, _)| setting.key.is_called(name.get_ref()))?;
    Some((name.span(), value))
}

/// Gives each of a key's values: rows and keys of the keyboard one by one, everything else as a whole.
fn each(
    name: &str,
    kind: Kind,
    value: &Spanned<DeValue<'_>>,
    give: &mut dyn FnMut(String, &Spanned<DeValue<'_>>),
) {
    match (kind, value.get_ref()) {
        (Kind::Rows(_), DeValue::Array(rows)) if !rows.is_empty() => {
            for (at, row) in rows.iter().enumerate() {
                give(format!("{name}[{at}]"), row);
            }
        }
        (Kind::Bindings, DeValue::Table(table)) if !table.is_empty() => {
            for (below, value) in table {
                each(&format!("{name}.{}", below.get_ref()), kind, value, give);
            }
        }
        _ => give(name.to_owned(), value),
    }
}

fn plain(value: &Spanned<DeValue<'_>>) -> Option<Value> {
    Value::deserialize(ValueDeserializer::from(value.clone())).ok()
}

#[cfg(test)]
mod tests {
    use super::super::load;
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        let loaded = load(Some(&path), None).unwrap();
        let all = values(&loaded).into_iter();
        all.filter_map(|it| Some(format!("{}: {} = {}", it.line?, it.name, it.value?)))
            .collect()
    }

    #[test]
    fn values_have_their_lines() {
        let text = "\
theme = 'dark'
cache = false
[[window]]
tokens = 272_000
[[window]]
tokens = '1M'
[keys]
sort = 'f5'
session.back = ['b']
[statusline]
colors = [0.5, 0.75]
[hooks]
share = 0.7
";
        assert_eq!(
            shown(text),
            [
                "1: theme = \"dark\"",
                "2: cache = false",
                "3: window[0] = { tokens = 272000 }",
                "5: window[1] = { tokens = \"1M\" }",
                "9: keys.session.back = [\"b\"]",
                "8: keys.sort = \"f5\"",
                "11: statusline.colours = [0.5, 0.75]",
                "13: hooks.share = 0.7",
            ]
        );
    }
}
