//! Leaves out the rows of the user's models table whose numbers cannot be true; the other rows are used.

use std::ops::RangeInclusive;
use toml::{Table, Value};

/// More tokens than any window has.
const MOST_TOKENS: f64 = 1e9;

/// A year: longer than any cache keeps a prompt.
const MOST_SECONDS: f64 = 31_536_000.0;

/// Returns the message on a row that is not used. `line` is that of the number, counted from 1; `None`: it was not found, since
/// the table is written in another way.
fn message(line: Option<usize>, why: String) -> String {
    match line {
        Some(line) => format!("line {line}: {why}"),
        None => why,
    }
}

/// The numbers that a field may have, and the words for them.
type AllowedRange = (RangeInclusive<f64>, &'static str);

/// Returns the range of numbers that a field of a row may have; `None`: the field is no number.
fn allowed(list: &str, field: &str) -> Option<AllowedRange> {
    let size = Some((1.0..=MOST_TOKENS, "1 to 1,000,000,000 tokens"));
    let tokens = Some((0.0..=MOST_TOKENS, "0 to 1,000,000,000 tokens"));
    let factor = Some((0.0..=1_000.0, "0 to 1,000"));
    match (list, field) {
        ("model", "window" | "window_extended") => size,
        ("model", "thinking_growth") => Some((0.0..=10.0, "0 to 10")),
        ("policy", "window" | "compact_window" | "budget") => size,
        ("policy", "share" | "keep_share") => Some((0.0..=1.0, "0 to 1")),
        (
            "policy",
            "reserve" | "output" | "window_from" | "prefix" | "keep_recent" | "keep_user"
            | "restored" | "summary",
        ) => tokens,
        (
            "price",
            "input" | "cached_read" | "cached_read_above" | "cache_write" | "cache_write_hour"
            | "output",
        ) => Some((0.0..=1e6, "0 to 1,000,000 dollars for a million tokens")),
        ("price", "above") => tokens,
        ("cache", "seconds" | "most") | ("trigger", "cache_seconds" | "pause") => {
            Some((0.0..=MOST_SECONDS, "0 to 31,536,000 seconds"))
        }
        ("trigger", "size" | "least" | "reserve") => tokens,
        ("trigger", "share") => Some((0.0..=1.0, "0 to 1")),
        ("tokenizer", "per_token") => Some((0.01..=100.0, "0.01 to 100")),
        ("tokenizer", "per_digit" | "per_mark") => Some((-100.0..=100.0, "-100 to 100")),
        ("tokenizer", "per_item" | "per_call" | "opaque_overhead" | "spread_floor") => {
            Some((0.0..=1e6, "0 to 1,000,000"))
        }
        ("tokenizer", "per_opaque_byte" | "spread" | "agent_bytes") => factor,
        _ => None,
    }
}

/// Removes the rows with numbers that cannot be true from a table. `text` is the table as it is written.
pub(super) fn refuse(table: &mut Table, text: &str) -> Vec<String> {
    let mut refused = Vec::new();
    for list in ["model", "policy", "price", "cache", "trigger"] {
        let Some(Value::Array(rows)) = table.get_mut(list) else {
            continue;
        };
        let mut nth = 0;
        rows.retain(|row| {
            nth += 1;
            let why = odd(list, row);
            refused.extend(why.as_ref().map(|(field, why)| {
                let line = line_of(text, &format!("[[{list}]]"), nth, field);
                message(line, format!("a [[{list}]] is not used: {why}"))
            }));
            why.is_none()
        });
    }
    let mut lost = Vec::new();
    if let Some(Value::Table(tokenizers)) = table.get_mut("tokenizer") {
        tokenizers.retain(|name, row| {
            let why = odd("tokenizer", row);
            refused.extend(why.as_ref().map(|(field, why)| {
                let line = line_of(text, &format!("[tokenizer.{name}]"), 1, field);
                message(line, format!("the tokenizer '{name}' is not used: {why}"))
            }));
            lost.extend(why.is_some().then(|| name.to_owned()));
            why.is_none()
        });
    }
    if let Some(Value::Array(rows)) = table.get_mut("model") {
        rows.retain(|row| {
            let name = row.get("tokenizer").and_then(Value::as_str);
            !lost.iter().any(|lost| Some(lost.as_str()) == name)
        });
    }
    if let Some((value, (_, words))) = table
        .get("summary")
        .and_then(number)
        .zip(allowed("policy", "summary"))
        && !(0.0..=MOST_TOKENS).contains(&value)
    {
        table.remove("summary");
        let line = line_of(text, "", 1, "summary");
        let why = format!("`summary` is not used: it is {words}");
        refused.push(message(line, why));
    }
    refused
}

/// Returns the first number of a row that is out of its range: its field, and a message with the range.
fn odd(list: &str, row: &Value) -> Option<(String, String)> {
    for (field, value) in row.as_table()? {
        if let (Some((range, words)), Some(number)) = (allowed(list, field), number(value))
            && !range.contains(&number)
        {
            return Some((field.clone(), format!("`{field}` is {words}, not {value}")));
        }
    }
    let (table, range, words) = match list {
        "price" => ("surcharges", 0.0..=1_000.0, "0 to 1,000"),
        "tokenizer" => ("per_tool", -1e6..=1e6, "-1,000,000 to 1,000,000"),
        _ => return None,
    };
    let is_odd = |value: &Value| number(value).is_some_and(|n| !range.contains(&n));
    let mut below = row.get(table)?.as_table()?.iter();
    let (name, value) = below.find(|(_, value)| is_odd(value))?;
    let why = format!("`{table}.{name}` is {words}, not {value}");
    Some((table.to_owned(), why))
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Integer(number) => Some(*number as f64),
        Value::Float(number) => Some(*number),
        _ => None,
    }
}

/// Returns the line of a field in the `nth` section with this header or, if the field is not found, of the header.
fn line_of(text: &str, header: &str, nth: usize, field: &str) -> Option<usize> {
    let is_header = |line: &str| line.trim_start().starts_with('[');
    let lines = text.lines().enumerate();
    let mut found = lines.filter(|(_, line)| line.trim_start().starts_with(header));
    let (start, _) = found.nth(nth - 1)?;
    let has_field = |line: &str| {
        let rest = line.trim_start().strip_prefix(field);
        rest.is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
    };
    let skip = start + usize::from(!header.is_empty());
    let rest = text.lines().enumerate().skip(skip);
    let mut own = rest.take_while(|(_, line)| !is_header(line));
    let line = own.find(|(_, line)| has_field(line)).map(|(n, _)| n);
    Some(line.unwrap_or(start) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> (Table, Vec<String>) {
        let mut table: Table = text.parse().unwrap();
        let refused = refuse(&mut table, text);
        (table, refused)
    }

    #[test]
    fn the_built_in_table_has_no_odd_number() {
        let text = assets::MODELS;
        let (table, refused) = refused(text);
        assert_eq!(refused, [""; 0]);
        assert_eq!(table, text.parse().unwrap());
    }

    #[test]
    fn a_row_with_an_odd_number_is_not_used_and_the_others_are() {
        for odd in [
            "0",
            "-5",
            "2_000_000_000",
            "9_223_372_036_854_775_807",
            "inf",
            "nan",
        ] {
            let text = format!(
                "[[model]]\nids = [\"a\"]\nwindow = 100\n\n[[model]]\nids = [\"b\"]\nwindow = {odd}\n"
            );
            let (table, refused) = refused(&text);
            assert_eq!(table["model"].as_array().unwrap().len(), 1, "{odd}");
            let why = &refused[0];
            assert!(why.starts_with("line 7: "), "{why}");
            assert!(why.contains("1 to 1,000,000,000 tokens"), "{why}");
        }
        for (list, field) in [
            ("policy", "share = nan"),
            ("policy", "share = -0.5"),
            ("price", "cached_read = inf"),
        ] {
            let (table, refused) = refused(&format!("[[{list}]]\n{field}"));
            assert!(table[list].as_array().unwrap().is_empty());
            assert!(refused[0].starts_with("line 2: "), "{refused:?}");
        }
    }

    #[test]
    fn the_models_of_a_refused_tokenizer_go_with_it() {
        let text = "summary = -1\n[[model]]\ntokenizer = \"t\"\n[tokenizer.t]\nper_token = 0\n[tokenizer.u]\nper_token = 1\nper_tool = { Read = inf }";
        let (table, refused) = refused(text);
        assert!(table["model"].as_array().unwrap().is_empty());
        assert!(table["tokenizer"].as_table().unwrap().is_empty());
        let lines = refused.iter().map(|why| why.split_once(": ").unwrap().0);
        assert!(lines.eq(["line 5", "line 8", "line 1"]), "{refused:?}");
        assert!(!table.contains_key("summary"));
    }
}
