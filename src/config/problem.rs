//! Finds the problems in the text of a configuration, each with its place.

use super::Config;
use super::keys::{self, Key, Kind};
use crate::nearest::nearest;
use model::event::cut::floor_char;
use render::text::{inert, width};
use serde::Deserialize;
use std::fmt::Write;
use std::ops::Range;
use toml::Deserializer;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Something that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Its place in the text, in bytes; `None`: it has no place of its own.
    pub place: Option<Range<usize>>,
    /// The problem, and what to do about it.
    pub message: String,
}

impl Problem {
    /// Returns the message after the number of the line, and below it the line with a mark, safe to print.
    pub fn shown(&self, text: &str) -> String {
        let Some(place) = &self.place else {
            return self.message.clone();
        };
        let (number, line, before) = line_at(text, place.start);
        let rest = &line[before..];
        let marked = rest.len().min(place.len().max(1));
        let marked = rest.get(..marked).unwrap_or(rest);
        let shown = |part: &str| inert(&part.replace('\t', " ")).into_owned();
        let margin = " ".repeat(number.to_string().len());
        let gap = " ".repeat(width(&shown(&line[..before])));
        let mark = "^".repeat(width(&shown(marked)).max(1));
        let (message, line) = (inert(&self.message), shown(line));
        format!("line {number}: {message}\n{number} | {line}\n{margin} | {gap}{mark}")
    }
}

/// Returns the number of the line that a byte is in, the line, and the number of its bytes before that byte.
fn line_at(text: &str, at: usize) -> (usize, &str, usize) {
    let mut at = floor_char(text, at);
    // A problem at the end of the text is shown in the last line that is not empty.
    if at == text.len() {
        at = text.trim_end_matches(['\n', '\r']).len();
    }
    let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[start..].lines().next().unwrap_or_default();
    (line_number(text, at), line, (at - start).min(line.len()))
}

/// Returns the number of the line that a byte is in, counted from 1.
pub(super) fn line_number(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}

/// Returns all problems in a text, in its order. A syntax error hides the others.
pub fn problems(text: &str) -> Vec<Problem> {
    valid_part(text).1
}

/// Returns the configuration that the valid keys of a text say, and the problems with the others.
pub fn valid_part(text: &str) -> (Config, Vec<Problem>) {
    let (mut table, errors) = DeTable::parse_recoverable(text);
    let mut found: Vec<Problem> = errors.iter().map(of_error).collect();
    let mut config = Ok(Config::default());
    if found.is_empty() {
        remove_unknown(table.get_mut(), keys::ALL, "", &mut found);
        config = read(table.clone());
        while let Err(error) = &config {
            found.push(of_error(error));
            // Without what is wrong, the next problem shows.
            let place = error.span();
            if !place.is_some_and(|place| remove(table.get_mut(), &place)) {
                break;
            }
            config = read(table.clone());
        }
    }
    found.sort_by_key(|problem| problem.place.as_ref().map(|place| place.start));
    found.dedup();
    (config.unwrap_or_default(), found)
}

/// Reads a configuration.
pub(super) fn read(table: Spanned<DeTable<'_>>) -> Result<Config, toml::de::Error> {
    Config::deserialize(Deserializer::from(table))
}

fn of_error(error: &toml::de::Error) -> Problem {
    Problem {
        place: error.span(),
        message: error.message().trim_end().replace('\n', ", "),
    }
}

/// Removes keys that there are none of, each of which is a problem. `within` is what they are in, with a period.
fn remove_unknown(table: &mut DeTable<'_>, known: &[Key], within: &str, found: &mut Vec<Problem>) {
    let mut unknown = Vec::new();
    for (name, value) in table.iter_mut() {
        match known.iter().find(|key| key.is_called(name.get_ref())) {
            Some(key) => look_below(key, value, within, found),
            None => unknown.push(name.clone()),
        }
    }
    for name in unknown {
        found.push(Problem {
            place: Some(name.span()),
            message: unknown_key(name.get_ref(), known, within),
        });
        table.remove(&name);
    }
}

/// Removes unknown keys from the sections and rows below a key.
fn look_below(key: &Key, value: &mut Spanned<DeValue<'_>>, within: &str, found: &mut Vec<Problem>) {
    let within = format!("{within}{}.", key.name);
    match (key.kind, value.get_mut()) {
        (Kind::Section(keys), DeValue::Table(table)) => {
            remove_unknown(table, keys, &within, found);
        }
        (Kind::Rows(keys), DeValue::Array(rows)) => {
            for row in rows.iter_mut() {
                if let DeValue::Table(table) = row.get_mut() {
                    remove_unknown(table, keys, &within, found);
                }
            }
        }
        _ => {}
    }
}

fn unknown_key(name: &str, known: &[Key], within: &str) -> String {
    let mut message = format!("unknown key '{within}{name}'; ");
    let names = known.iter().map(|key| key.name);
    // Of another section, if that is the only one.
    let mut elsewhere = keys::settings().filter(|setting| setting.key.is_called(name));
    let elsewhere = elsewhere.next().filter(|_| elsewhere.next().is_none());
    let _ = match (nearest(name, names.clone()), elsewhere) {
        (Some(meant), _) => write!(message, "did you mean '{within}{meant}'?"),
        (None, Some(setting)) => write!(message, "did you mean '{}'?", setting.name()),
        (None, None) => {
            let names: Vec<&str> = names.collect();
            write!(message, "the keys here are {}", names.join(", "))
        }
    };
    message
}

/// Removes the smallest entry that a place is in. Whether there was one.
fn remove(table: &mut DeTable<'_>, place: &Range<usize>) -> bool {
    let is_in = |span: Range<usize>| span.start <= place.start && place.start < span.end.max(1);
    for (_, value) in table.iter_mut() {
        let is_removed = match value.get_mut() {
            DeValue::Table(table) => remove(table, place),
            DeValue::Array(values) => {
                let mut values = values.iter_mut();
                values.any(|value| match value.get_mut() {
                    DeValue::Table(table) => remove(table, place),
                    _ => false,
                })
            }
            _ => false,
        };
        if is_removed {
            return true;
        }
    }
    let entry = table.iter().find(|(name, value)| {
        let rows = value.get_ref().as_array().map(|rows| rows.iter());
        let mut rows = rows.into_iter().flatten();
        is_in(name.span()) || is_in(value.span()) || rows.any(|row| is_in(row.span()))
    });
    let name = entry.map(|(name, _)| name.clone());
    name.is_some_and(|name| table.remove(&name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let all = problems(text);
        all.iter().map(|problem| problem.shown(text)).collect()
    }

    #[test]
    fn every_problem_has_its_line_and_a_mark() {
        let text = "\
rootz = []
oversized = true

[alerts]
share = [0.8, 80]
requests_lft = 5

[[window]]
tokns = 5

[statusline]
colours = [0.9, 0.7]
";
        let shown = shown(text);
        let lines: Vec<&str> = shown.iter().map(|it| it.lines().next().unwrap()).collect();
        assert_eq!(
            lines[0],
            "line 1: unknown key 'rootz'; did you mean 'roots'?"
        );
        assert!(
            shown[0].ends_with("\n1 | rootz = []\n  | ^^^^^"),
            "{shown:#?}"
        );
        for (at, line) in [
            "line 1:", "line 2:", "line 4:", "line 6:", "line 8:", "line 9:",
        ]
        .iter()
        .enumerate()
        {
            assert!(lines[at].starts_with(line), "{lines:#?}");
        }
        assert!(lines[3].ends_with("did you mean 'alerts.requests_left'?"));
        assert!(lines[5].ends_with("unknown key 'window.tokns'; did you mean 'window.tokens'?"));
        assert!(shown.iter().any(|it| it.contains("colours")), "{lines:#?}");
    }

    #[test]
    fn no_toml_and_hostile_text() {
        let hostile = shown("theme = \u{1b}[31m\n");
        assert!(!hostile.is_empty() && !hostile.concat().contains('\u{1b}'));
        assert_eq!(shown("theme = \"dark\"\n# \u{e9}\n"), [""; 0]);
        let end = shown("# 日本\ntheme = \"dark\n");
        assert!(end[0].starts_with("line 2:"), "{end:#?}");
        let wide = shown("\"日本\" = 1\n");
        assert!(wide[0].ends_with("\n  | ^^^^^^"), "{wide:#?}");
    }

    #[test]
    fn a_key_of_another_section_is_found() {
        let shown = shown("requests_left = 5\n");
        assert!(
            shown[0].contains("did you mean 'alerts.requests_left'?"),
            "{shown:#?}"
        );
    }
}
