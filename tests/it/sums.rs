//! Totals of fixtures: what only sums have, and what is left of a report with an impossible number.

use crate::support::{ctxgauge, manifest_folder};
use serde_json::{Value, json};
use std::fs;

/// The totals of a fixture's agent, and the part of them that is sums.
fn totals(fixture: &str) -> (Value, Value) {
    let agent = fixture.split('/').next().unwrap();
    let list = list(fixture, &[]);
    let sums = list["totals_lack"][agent]["only_as_sums"].clone();
    (list["totals"][agent].clone(), sums)
}

/// What `ls --totals` lists for a fixture.
fn list(fixture: &str, more: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let source = manifest_folder().join("tests/fixtures").join(fixture);
    let log = folder.path().join("logs/log.db");
    if source.join("log.sql").exists() {
        let sql = fs::read_to_string(source.join("log.sql")).unwrap();
        fs::create_dir_all(log.parent().unwrap()).unwrap();
        rusqlite::Connection::open(&log)
            .unwrap()
            .execute_batch(&sql)
            .unwrap();
    } else {
        let text = fs::read_to_string(source.join("log.jsonl")).unwrap();
        fs::create_dir_all(log.parent().unwrap()).unwrap();
        fs::write(log.with_extension("jsonl"), text).unwrap();
    }
    let output = ctxgauge(folder.path())
        .args(["ls", "--totals", "--json"])
        .args(more)
        .arg(log.parent().unwrap())
        .output();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_response_and_its_row_of_a_ledger_are_one_of_the_rows_day() {
    let list = list("goose/compaction_by_the_ledger", &["--by", "day"]);
    let days = list["groups"]["of"].as_array().unwrap();
    assert_eq!(days.len(), 1, "{days:?}");
    assert_eq!(
        (&days[0]["name"], &days[0]["responses"]),
        (&json!("2026-08-10"), &json!(6))
    );
}

#[test]
fn what_only_sums_have_is_in_totals_and_said_to_be_sums() {
    let (hermes, sums) = totals("hermes/sums_of_many_requests");
    assert_eq!(
        (&hermes["input"], &hermes["output"]),
        (&json!(52_000), &json!(4_100))
    );
    assert_eq!(
        (&hermes["cache_read"], &hermes["cache_write"]),
        (&json!(910_000), &json!(3_000))
    );
    assert_eq!(sums["output"], 4_100, "{sums}");
    let (goose, sums) = totals("goose/sums_before_the_ledger");
    assert_eq!(
        (&goose["input"], &goose["output"]),
        (&json!(69_000), &json!(1_400))
    );
    assert_eq!(
        (&goose["cache_read"], &goose["cache_write"]),
        (&json!(61_000), &json!(4_000))
    );
    assert_eq!(
        (&sums["input"], &sums["output"]),
        (&json!(60_000), &json!(1_280))
    );
    let (crush, sums) = totals("crush/cached_tokens_as_output");
    assert_eq!(
        (&crush["input"], &crush["output"]),
        (&json!(22_410), &json!(0))
    );
    assert_eq!(sums["input"], 22_410);
    let (copilot, sums) = totals("copilot-cli/sums_begin_again_with_each_run");
    // 19,000 and 2,500 of the first run, 19,100 of the second.
    assert_eq!(
        (&copilot["input"], &copilot["output"]),
        (&json!(40_600), &json!(155))
    );
    assert_eq!(
        (&sums["input"], &sums["output"]),
        (&json!(40_600), &json!(80))
    );
}

#[test]
fn an_impossible_number_costs_itself_alone_in_totals() {
    let (openclaw, _) = totals("openclaw/impossible_number_costs_itself");
    // 18,000, nothing, an unknown number, 60; the second read 18,112 of the 18,432 that it is said to have read.
    assert_eq!(openclaw["input"], 18_060);
    assert_eq!(openclaw["cache_read"], 18_112 + 18_176 + 18_176);
    // The last output is what the total leaves.
    assert_eq!(openclaw["output"], 30 + 25 + 9 + 7);
    let (claude, _) = totals("claude-code/impossible_number_costs_itself");
    assert_eq!(
        (&claude["input"], &claude["output"]),
        (&json!(10), &json!(38))
    );
    assert_eq!(claude["cache_read"], 16_384 + 16_000);
}
