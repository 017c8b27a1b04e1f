//! Every hand-written log, read whole and reported: `tests/fixtures/<agent>/<case>/log.json[l]`, the file
//! of an agent that finds others by its name, or the folder `<case>` itself where `base_state.json` or
//! `meta.json` is in it, with the report expected of it beside it. A case is one trap of one format, by name. A database is
//! written as SQL, `log.sql`: its newest session is reported.

use crate::support::{is_beside_a_log, json_report, manifest_folder};
use insta::{Settings, assert_json_snapshot, glob};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

#[test]
fn every_fixture_reports_as_expected() {
    each_case(check);
}

/// Has every case checked: its log, and the file of it that stands in the folder of the case.
pub fn each_case(mut check: impl FnMut(&Path, &Path)) {
    glob!("../fixtures", "*/*/log.{json,jsonl,yaml}", |path| {
        if !is_beside_a_log(path) {
            check(path, path);
        }
    });
    glob!(
        "../fixtures",
        "*/*/{*.messages,api_conversation_history}.json",
        |path| check(path, path)
    );
    glob!("../fixtures", "*/*/{base_state,meta}.json", |path| {
        check(path.parent().unwrap(), path);
    });
    glob!("../fixtures", "*/*/log.sql", |path| {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("log.db");
        let connection = rusqlite::Connection::open(&database).unwrap();
        // Waiting for the disk at each statement takes ten times as long as everything else.
        connection
            .pragma_update(None, "synchronous", "off")
            .unwrap();
        let sql = fs::read_to_string(path).unwrap();
        connection.execute_batch(&sql).unwrap();
        check(&database, path);
    });
}

/// Checks the report of a log. `file` stands in the folder of its case.
fn check(log: &Path, file: &Path) {
    let mut report = json_report(log);
    report["session"]["path"] = json!("[path]");
    without_prices(&mut report);
    own_rows_alone(&mut report["what_if"]);
    lines_on_one(&mut report["what_if"]);
    lines_on_one(&mut report["jumps"]);
    lines_on_one(&mut report["messages"]);
    lines_on_one(&mut report["calls"]);
    for key in ["requests_left", "turns_left", "minutes_left"] {
        let band = report["compaction"][key].take();
        assert!(band.is_null() || is_ordered(&band), "{key}: {band}");
    }
    let mut settings = Settings::clone_current();
    settings.set_snapshot_path(file.parent().unwrap());
    settings.set_prepend_module_to_snapshot(false);
    settings.set_snapshot_suffix("");
    settings.set_omit_expression(true);
    settings.set_input_file(file.strip_prefix(manifest_folder()).unwrap());
    settings.bind(|| assert_json_snapshot!("report", report));
}

/// Whether a forecast's band is one. Its numbers are tested where they are made: here they would
/// change with every constant, and the minutes with the clock.
fn is_ordered(band: &Value) -> bool {
    let [low, middle, high] = ["p10", "p50", "p90"].map(|key| band[key].as_f64().unwrap());
    0.0 <= low && low <= middle && middle <= high
}

/// Takes out what would change with every price list.
fn without_prices(report: &mut Value) {
    for list in ["messages", "tools"] {
        for element in report[list].as_array_mut().into_iter().flatten() {
            element.as_object_mut().unwrap().remove("carried_usd");
        }
    }
}

/// Leaves of the rules side by side what took place and the session's own: the others' would change
/// with the table.
fn own_rows_alone(rows: &mut Value) {
    let rows = rows.as_array_mut().unwrap();
    rows.retain(|row| row["whose"] == "real" || row["whose"] == "own");
}

/// Puts each element of a list on a line of its own, so that a snapshot reads like a table.
fn lines_on_one(list: &mut Value) {
    for element in list.as_array_mut().into_iter().flatten() {
        let line = element
            .as_object()
            .unwrap()
            .iter()
            .map(|(key, value)| match value {
                Value::Null => format!("{key}=–"),
                Value::String(text) => format!("{key}={text}"),
                other => format!("{key}={other}"),
            });
        *element = Value::String(line.collect::<Vec<_>>().join(" "));
    }
}
