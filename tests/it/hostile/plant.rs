//! Every agent's fixtures, with a hostile text in every string of theirs.

use super::bytes::HOSTILE;
use crate::support::manifest_folder;
use rusqlite::types::Value as Cell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Keys whose strings decide how a record is read, or when it was written. Each is planted by itself, in a copy
/// of a log of each agent that has it: planted together they would leave nothing to show.
const DECIDING: [&str; 28] = [
    "type",
    "role",
    "kind",
    "event",
    "status",
    "source",
    "method",
    "direction",
    "protocol",
    "object",
    "subtype",
    "key",
    "family",
    "say",
    "ask",
    "timestamp",
    "ts",
    "time",
    "createdAt",
    "created_at",
    "updated_at",
    "startTimeUnixNano",
    "endTimeUnixNano",
    "timeUnixNano",
    "format",
    "sessionUpdate",
    "originator",
    "version",
];

/// Which strings are planted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Keys<'k> {
    /// All but the deciding ones; and every object gets a hostile key.
    Telling,
    /// Those of one key.
    One(&'k str),
    /// All.
    All,
}

impl Keys<'_> {
    fn takes(self, key: &str) -> bool {
        match self {
            Keys::Telling => !DECIDING.contains(&key),
            Keys::One(one) => key == one,
            Keys::All => true,
        }
    }
}

/// Plants every fixture below a folder, whose path is hostile from there on. Returns the agents.
pub fn fixtures(root: &Path) -> BTreeSet<String> {
    let folder = manifest_folder().join("tests/fixtures");
    let mut agents = BTreeSet::new();
    for agent in entries(&folder) {
        let name = agent.file_name().unwrap().to_str().unwrap().to_owned();
        let into = root.join(format!("{name} {HOSTILE}"));
        let mut planted = BTreeSet::new();
        for (n, case) in entries(&agent).iter().enumerate() {
            let mut keys = BTreeSet::new();
            collect_keys(case, &mut keys);
            let new: Vec<String> = keys.difference(&planted).cloned().collect();
            // Another case with the same fields shows nothing new.
            if new.is_empty() {
                continue;
            }
            copy(case, &into.join(format!("{n}")), Keys::Telling);
            for key in new.iter().filter(|key| DECIDING.contains(&key.as_str())) {
                copy(case, &into.join(format!("{n} {key}")), Keys::One(key));
            }
            if planted.is_empty() {
                copy(case, &into.join("all"), Keys::All);
            }
            planted.extend(new);
        }
        agents.insert(name);
    }
    agents
}

/// Makes all files below a folder as if they were written then: their order does not depend on how fast they were.
pub fn date(folder: &Path, then: SystemTime) {
    for path in entries(folder) {
        if path.is_dir() {
            date(&path, then)
        } else {
            let file = fs::File::options().write(true).open(&path).unwrap();
            file.set_modified(then).unwrap();
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap();
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn is_expectation(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "snap")
}

/// The keys of a case: of JSON, of YAML, and the columns of tables.
fn collect_keys(path: &Path, into: &mut BTreeSet<String>) {
    if path.is_dir() {
        entries(path)
            .iter()
            .for_each(|entry| collect_keys(entry, into));
    } else if !is_expectation(path) {
        let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        for (at, _) in text.match_indices(':') {
            let before = text[..at].trim_end().trim_end_matches(['"', '\\']);
            let from = before.rfind(|c| !is_name(c)).map_or(0, |at| at + 1);
            into.extend(
                before
                    .get(from..)
                    .filter(|key| !key.is_empty())
                    .map(str::to_owned),
            );
        }
    }
}

fn copy(from: &Path, to: &Path, keys: Keys<'_>) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in entries(from) {
            let name = entry.file_name().unwrap().to_str().unwrap();
            // Other names are those by which an agent's files are found.
            let name = match name.strip_prefix("log.") {
                Some(ending) if name != "log.sql" => format!("log {HOSTILE}.{ending}"),
                _ => name.to_owned(),
            };
            copy(&entry, &to.join(name), keys);
        }
        return;
    }
    if is_expectation(from) {
        return;
    }
    let bytes = fs::read(from).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let ending = from.extension().and_then(|ending| ending.to_str());
    match ending {
        Some("sql") => database(&text, &to.with_extension("db"), keys),
        Some("json") => fs::write(to, document(&text, keys)).unwrap(),
        Some("jsonl") => {
            let lines: Vec<String> = text.lines().map(|line| document(line, keys)).collect();
            fs::write(to, lines.join("\n") + "\n").unwrap();
        }
        Some("yaml") => fs::write(to, yaml(&text, keys)).unwrap(),
        _ => fs::write(to, format!("{text}{HOSTILE}\r\n")).unwrap(),
    }
}

/// JSON, planted where it stands: the order of the keys decides how some logs are recognised.
fn document(text: &str, keys: Keys<'_>) -> String {
    let hostile = serde_json::to_string(&format!("{HOSTILE}\r\n")).unwrap();
    let inner = &hostile[1..hostile.len() - 1];
    let mut out = String::with_capacity(text.len() * 2);
    let mut outer: Vec<&str> = Vec::new();
    let mut key = "";
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let mut end = c.len_utf8();
        match c {
            '"' => {
                let Some(inside) = inside(&rest[1..]) else {
                    break;
                };
                end = inside.len() + 2;
                let is_key = rest
                    .get(end..)
                    .is_some_and(|after| after.trim_start().starts_with(':'));
                if is_key {
                    key = inside;
                } else if keys.takes(key) {
                    out.push_str(&rest[..end - 1]);
                    out.push_str(inner);
                    out.push('"');
                    rest = &rest[end..];
                    continue;
                }
            }
            '{' | '[' => outer.push(key),
            '}' | ']' => {
                if c == '}' && !out.trim_end().ends_with('{') && !matches!(keys, Keys::One(_)) {
                    out.push_str(&format!(",{hostile}:{hostile}"));
                }
                key = outer.pop().unwrap_or_default();
            }
            _ => {}
        }
        out.push_str(&rest[..end]);
        rest = &rest[end..];
    }
    out + rest
}

/// The inside of a JSON string that was begun; `None`: it does not end.
fn inside(text: &str) -> Option<&str> {
    let mut is_escaped = false;
    let end = text.find(|c| {
        let ends = c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        ends
    });
    text.get(..end?)
}

/// A YAML document in which every plain value of a line is planted.
fn yaml(text: &str, keys: Keys<'_>) -> String {
    let mut out = String::new();
    for line in text.lines() {
        match line.split_once(": ") {
            Some((before, value))
                if keys.takes(before.trim_start_matches(['-', ' ']))
                    && value.starts_with(|c: char| c.is_ascii_alphabetic()) =>
            {
                let planted = serde_json::to_string(&format!("{value}{HOSTILE}\r\n")).unwrap();
                out.push_str(&format!("{before}: {planted}\n"));
            }
            _ => out.push_str(&format!("{line}\n")),
        }
    }
    out
}

/// A database in which every text is planted, and every JSON document in a text or in bytes.
fn database(sql: &str, path: &Path, keys: Keys<'_>) {
    let connection = rusqlite::Connection::open(path).unwrap();
    // Nobody needs it after a loss of power.
    connection
        .execute_batch("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;")
        .unwrap();
    connection.execute_batch(sql).unwrap();
    connection.execute_batch("BEGIN").unwrap();
    let named = |sql: &str, column: &str| -> Vec<String> {
        let mut rows = connection.prepare(sql).unwrap();
        let names = rows.query_map([], |row| row.get(column)).unwrap();
        names.map(Result::unwrap).collect()
    };
    let tables = named(
        "SELECT name FROM sqlite_master WHERE type = 'table'",
        "name",
    );
    for table in tables {
        for column in named(&format!("PRAGMA table_info(\"{table}\")"), "name") {
            let select = format!("SELECT DISTINCT \"{column}\" FROM \"{table}\"");
            let mut rows = connection.prepare(&select).unwrap();
            let cells = rows.query_map([], |row| row.get::<_, Cell>(0)).unwrap();
            let cells: Vec<Cell> = cells.map(Result::unwrap).collect();
            for cell in cells {
                let planted = match &cell {
                    Cell::Text(text) if text.starts_with(['{', '[']) => {
                        Cell::Text(document(text, keys))
                    }
                    Cell::Text(text) if keys.takes(&column) => {
                        Cell::Text(format!("{text}{HOSTILE}"))
                    }
                    Cell::Blob(bytes) if bytes.starts_with(b"{") => {
                        let text = String::from_utf8_lossy(bytes);
                        Cell::Blob(document(&text, keys).into_bytes())
                    }
                    _ => continue,
                };
                let update = format!(
                    "UPDATE OR IGNORE \"{table}\" SET \"{column}\" = ?1 WHERE \"{column}\" = ?2"
                );
                // A trigger or a check may refuse it.
                let _ = connection.execute(&update, (planted, cell));
            }
        }
    }
    connection.execute_batch("COMMIT").unwrap();
}
