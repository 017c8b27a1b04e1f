//! `ctxgauge export`: the tables are those that are documented, in each format, and nothing is left of half a file.

use crate::support::{ctxgauge, documentation, manifest_folder, schema};
#[cfg(unix)]
use crate::support::{in_a_shell, process};
use ctxgauge::report::export::{Table, schema::json_schema};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// The names of the formats that this program writes.
const FORMATS: &[&str] = &["ndjson", "csv"];

fn fixtures() -> PathBuf {
    manifest_folder().join("tests/fixtures")
}

fn export(arguments: &[&str], paths: &[&Path]) -> Output {
    let home = std::env::temp_dir().join("no such home");
    let mut command = ctxgauge(&home);
    command.arg("export").args(arguments).args(paths).output()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn rows(table: Table, arguments: &[&str], path: &Path) -> Vec<Value> {
    let arguments = [&["--what", table.name()], arguments].concat();
    let output = export(&arguments, &[path]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The documentation's table of a table's columns.
fn columns(table: Table) -> String {
    let mut rows = "| column | type | |\n|---|---|---|\n".to_owned();
    for column in table.columns() {
        let (name, kind) = (column.name, column.kind.name());
        writeln!(rows, "| `{name}` | {kind} | {} |", column.about).unwrap();
    }
    rows
}

#[test]
fn the_columns_are_documented() {
    for &table in Table::ALL {
        let columns = columns(table);
        let name = table.schema();
        assert!(
            documentation("assets/docs/export.md", &name) == columns,
            "put this between the markers of {name} in assets/docs/export.md:\n\n{columns}"
        );
    }
}

#[test]
fn a_file_called_minus_is_standard_output() {
    let log = fixtures().join("codex/usage-record");
    let export = |arguments: &[&str]| export(arguments, &[&log]);
    let printed = export(&["-o", "-"]);
    assert!(!printed.stdout.is_empty());
    assert_eq!(printed.stdout, export(&[]).stdout);
    let refused = export(&["-o", "-", "--partition", "agent"]);
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn the_schemas_are_those_of_the_program_and_of_its_rows() {
    for &table in Table::ALL {
        let file = format!("{}-1.json", table.name());
        let schema = json_schema(table);
        let kept = fs::read_to_string(manifest_folder().join("assets/schemas").join(&file));
        let kept: Option<Value> = kept.ok().and_then(|text| serde_json::from_str(&text).ok());
        assert!(
            kept.as_ref() == Some(&schema),
            "put this into assets/schemas/{file}:\n\n{schema:#}"
        );
        let printed = export(&["--schema", "--what", table.name()], &[]);
        assert_eq!(
            serde_json::from_slice::<Value>(&printed.stdout).unwrap(),
            schema
        );
        let rows = rows(table, &[], &fixtures());
        assert!(rows.len() > 20, "{}", table.name());
        rows.iter().for_each(|row| schema::check(&file, row));
    }
}

#[test]
fn rows_of_all_tables_are_joined_by_their_session() {
    let fixtures = fixtures();
    let sessions = rows(Table::Sessions, &[], &fixtures);
    let keys: BTreeSet<&str> = sessions
        .iter()
        .map(|row| row["session"].as_str().unwrap())
        .collect();
    assert_eq!(keys.len(), sessions.len(), "a session has one row");
    for (table, count) in [
        (Table::Items, "items"),
        (Table::Requests, "requests"),
        (Table::Compactions, "compactions"),
    ] {
        let mut by_session: BTreeMap<String, u64> = BTreeMap::new();
        for row in rows(table, &[], &fixtures) {
            let is_counted = match table {
                Table::Requests => row["kind"] == "request",
                Table::Compactions => row["kind"] == "compaction",
                _ => true,
            };
            let session = row["session"].as_str().unwrap().to_owned();
            assert!(keys.contains(session.as_str()));
            *by_session.entry(session).or_default() += u64::from(is_counted);
        }
        for session in &sessions {
            let key = session["session"].as_str().unwrap();
            let rows = by_session.get(key).copied().unwrap_or(0);
            assert_eq!(session[count].as_u64(), Some(rows), "{count} of {session}");
        }
    }
}

#[test]
fn rows_that_are_no_repeats_add_up_to_the_totals() {
    let home = tempfile::tempdir().unwrap();
    let mut list = ctxgauge(home.path());
    list.args(["ls", "--totals", "--by", "agent", "--json"])
        .arg(fixtures());
    let list: Value = serde_json::from_slice(&list.output().stdout).unwrap();
    let rows = rows(Table::Requests, &[], &fixtures());
    assert!(rows.iter().any(|row| row["repeated"] == true));
    let parts = ["input", "cache_read", "cache_write", "output"];
    let mut totals: BTreeMap<&str, [u64; 5]> = BTreeMap::new();
    for row in rows
        .iter()
        .filter(|row| row["repeated"] == false && !row["input"].is_null())
    {
        let total = totals.entry(row["agent"].as_str().unwrap()).or_default();
        // A sum is no response.
        total[0] += u64::from(row["kind"] != "sum");
        for (sum, part) in total[1..].iter_mut().zip(parts) {
            *sum += row[part].as_u64().unwrap();
        }
    }
    let groups = list["groups"]["of"].as_array().unwrap();
    assert!(groups.len() > 15);
    for group in groups {
        let keys = ["responses", "input", "cache_read", "cache_write", "output"];
        let expected = keys.map(|key| group[key].as_u64().unwrap());
        let agent = group["name"].as_str().unwrap();
        assert_eq!(totals.remove(agent), Some(expected), "{agent}");
    }
    assert!(totals.is_empty(), "{totals:?}");
}

#[test]
fn the_same_logs_are_the_same_bytes_in_every_format() {
    let dir = tempfile::tempdir().unwrap();
    for format in FORMATS {
        let files = [0, 1].map(|nth| {
            let file = dir.path().join(format!("{nth}.{format}"));
            let path = file.to_str().unwrap();
            let output = export(&["--what", "items", "-o", path], &[&fixtures()]);
            assert!(output.status.success(), "{}", text(&output.stderr));
            fs::read(file).unwrap()
        });
        assert!(!files[0].is_empty() && files[0] == files[1], "{format}");
    }
    let csv = text(&fs::read(dir.path().join("0.csv")).unwrap());
    let names: Vec<&str> = Table::Items
        .columns()
        .iter()
        .map(|column| column.name)
        .collect();
    assert_eq!(csv.lines().next().unwrap(), names.join(","));
    let ndjson = text(&fs::read(dir.path().join("0.ndjson")).unwrap());
    assert_eq!(csv.lines().count(), ndjson.lines().count() + 1);
    let printed = export(&["--what", "items"], &[&fixtures()]);
    assert_eq!(text(&printed.stdout), ndjson);
}

/// All files below a folder, by their names from there on.
fn files(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else {
                let below = path.strip_prefix(folder).unwrap();
                found.push(below.to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn tables_are_divided_by_agent_and_day() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("out");
    let path = folder.to_str().unwrap();
    let arguments = [
        "--what",
        "items,requests",
        "-o",
        path,
        "--partition",
        "agent,date",
    ];
    let output = export(&arguments, &[&fixtures()]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let names = files(&folder);
    assert!(
        names
            .contains(&"items/agent=swe-agent/date=__HIVE_DEFAULT_PARTITION__/0.ndjson".to_owned()),
        "{names:?}"
    );
    let mut parts: Vec<String> = Vec::new();
    for name in names.iter().filter(|name| name.starts_with("items/")) {
        let mut of = name
            .split('/')
            .skip(1)
            .map(|part| part.split_once('=').map_or(part, |(_, it)| it));
        let (agent, date) = (of.next().unwrap(), of.next().unwrap());
        for line in text(&fs::read(folder.join(name)).unwrap()).lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            assert_eq!(row["agent"], agent);
            let day = row["time"]
                .as_str()
                .map_or("__HIVE_DEFAULT_PARTITION__", |time| &time[..10]);
            assert_eq!(day, date, "{name}");
            parts.push(line.to_owned());
        }
    }
    let whole = text(&export(&["--what", "items"], &[&fixtures()]).stdout);
    let mut whole: Vec<String> = whole.lines().map(str::to_owned).collect();
    parts.sort();
    whole.sort();
    assert!(parts == whole, "each row is in one part");
    // It is replaced as a whole, and only if that is asked for.
    let again = export(&arguments, &[&fixtures()]);
    assert_eq!(again.status.code(), Some(1));
    assert!(
        text(&again.stderr).contains("--force"),
        "{}",
        text(&again.stderr)
    );
    let forced = [&arguments[..], &["--force"]].concat();
    let one = fixtures().join("pi");
    assert!(export(&forced, &[&one]).status.success());
    assert!(files(&folder).iter().all(|name| name.contains("agent=pi")));
    // What is not of an export is not removed with it.
    fs::write(folder.join("items/notes.txt"), "mine").unwrap();
    assert_eq!(export(&forced, &[&one]).status.code(), Some(1));
    assert!(folder.join("items/notes.txt").exists());
}

#[test]
fn nothing_is_left_of_a_file_that_cannot_be_written() {
    let dir = tempfile::tempdir().unwrap();
    let kept = dir.path().join("kept.csv");
    fs::write(&kept, "mine").unwrap();
    let path = kept.to_str().unwrap();
    let output = export(&["-o", path], &[&fixtures()]);
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr);
    assert!(message.contains("exists already; --force"), "{message}");
    assert_eq!(fs::read(&kept).unwrap(), b"mine");
    assert!(
        export(&["-o", path, "--force"], &[&fixtures()])
            .status
            .success()
    );
    assert!(fs::read(&kept).unwrap().starts_with(b"session,"));

    let missing = dir.path().join("no\nsuch/folder.csv");
    let output = export(&["-o", missing.to_str().unwrap()], &[&fixtures()]);
    assert_eq!(output.status.code(), Some(1));
    let message = text(&output.stderr);
    assert_eq!(message.matches("ctxgauge:").count(), 1, "{message}");
    // Two tables do not fit into standard output.
    let output = export(&["--what", "items,requests"], &[&fixtures()]);
    assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0));
    assert_eq!(files(dir.path()), ["kept.csv"]);
}

#[test]
fn a_log_is_not_its_own_export() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log.jsonl");
    fs::copy(
        fixtures().join("claude-code/response_in_several_lines/log.jsonl"),
        &log,
    )
    .unwrap();
    let before = fs::read(&log).unwrap();
    let path = log.to_str().unwrap();
    let output = export(&["--what", "items", "--force", "-o", path], &[&log]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("never written to"));
    assert_eq!(fs::read(&log).unwrap(), before);
}

#[cfg(unix)]
#[test]
fn a_disk_that_is_full_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    for format in FORMATS {
        let file = dir.path().join(format!("out.{format}"));
        let mut export = process(dir.path());
        export
            .args(["export", "--what", "items", "-o"])
            .arg(&file)
            .arg(fixtures());
        // 64 blocks of 512 or 1,024 bytes are less than all items.
        let mut limited = in_a_shell("ulimit -f 64; exec \"$0\" \"$@\"", &export);
        let output = limited.output().unwrap();
        assert_eq!(
            output.status.code(),
            Some(1),
            "{format}: {}",
            text(&output.stderr)
        );
        let said = text(&output.stderr);
        assert!(
            said.contains(&format!("ctxgauge: cannot write '{}': ", file.display())),
            "{said}"
        );
        assert_eq!(files(dir.path()), Vec::<String>::new(), "{format}");
    }
}

/// A log whose texts imitate what exports are made of.
#[test]
fn texts_that_imitate_a_format_stay_texts() {
    let dir = tempfile::tempdir().unwrap();
    let hostile = [
        "=cmd()|' /C calc'!A0",
        "a\",\"b\n{\"agent\":\"x\"}",
        "x\r\n,,,\u{1b}[31m\u{202e}",
    ];
    let lines: Vec<String> = hostile
        .iter()
        .enumerate()
        .map(|(ix, text)| {
            serde_json::json!({
                "type": "user", "uuid": format!("u{ix}"), "parentUuid": null, "sessionId": "s", "version": "2.1.330",
                "cwd": text, "timestamp": "2026-11-22T10:00:00Z", "message": { "role": "user", "content": text },
            })
            .to_string()
        })
        .collect();
    let log = dir.path().join("log.jsonl");
    fs::write(&log, lines.join("\n")).unwrap();
    for what in ["items", "sessions"] {
        let mut tables = Table::ALL.iter().copied();
        let table = tables.find(|table| table.name() == what).unwrap();
        let columns = table.columns().len();
        let csv = text(&export(&["--what", what, "--format", "csv"], &[&log]).stdout);
        assert!(!csv.contains(['\u{1b}', '\u{202e}', '\r']), "{csv:?}");
        assert!(!csv.contains(",=") && !csv.contains("\n="), "{csv}");
        for line in csv.lines() {
            let mut quoted = false;
            let commas = line.chars().filter(|c| {
                quoted ^= *c == '"';
                *c == ',' && !quoted
            });
            assert_eq!(commas.count() + 1, columns, "{line}");
        }
        for row in rows(table, &[], &log) {
            schema::check(&format!("{what}-1.json"), &row);
        }
    }
}

#[test]
fn sizes_by_length_are_of_the_same_items() {
    let path = fixtures().join("claude-code");
    let counted = rows(Table::Items, &[], &path);
    let guessed = rows(Table::Items, &["--by-length"], &path);
    assert_eq!(counted.len(), guessed.len());
    assert_ne!(counted, guessed);
    let of_requests = |arguments: &[&str]| -> Vec<Value> {
        let rows = rows(Table::Requests, arguments, &path);
        rows.into_iter().map(|row| row["prompt"].clone()).collect()
    };
    assert_eq!(of_requests(&[]), of_requests(&["--by-length"]));
}
