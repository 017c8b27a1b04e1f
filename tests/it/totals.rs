//! `ctxgauge ls --totals`: each response is counted once, whatever its ids are and however many logs have it.

use crate::support::{ctxgauge, manifest_folder};
use rusqlite::Connection;
use serde_json::Value;
use std::fs;
use std::time::{Duration, SystemTime};

const ID: &str = "5e550000-0000-4000-8000-00000000000";

/// The log of a fixture of Claude Code.
fn fixture(case: &str) -> String {
    let folder = manifest_folder().join("tests/fixtures/claude-code");
    fs::read_to_string(folder.join(case).join("log.jsonl")).unwrap()
}

/// What `ls --totals` lists for these logs.
fn list(logs: &[String]) -> Value {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("logs");
    fs::create_dir(&folder).unwrap();
    for (n, log) in logs.iter().enumerate() {
        fs::write(folder.join(format!("{ID}{n}.jsonl")), log).unwrap();
    }
    let mut command = ctxgauge(home.path());
    let output = command
        .args(["ls", "--totals", "--json"])
        .arg(&folder)
        .output();
    assert!(output.status.success());
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Input that no cache had, input of caches, and output.
fn totals(logs: &[String]) -> [u64; 3] {
    let list = list(logs);
    let of = |term: &str| list["totals"]["claude-code"][term].as_u64().unwrap();
    let cached = of("cache_creation") + of("cache_read");
    [of("input"), cached, of("output")]
}

#[test]
fn a_relays_id_is_of_no_response_in_particular() {
    let log = fixture("relay_gives_all_responses_one_id");
    let all = [18_000 + 19_200 + 19_260, 0, 70 + 40 + 25];
    assert_eq!(totals(std::slice::from_ref(&log)), all);
    assert_eq!(totals(&[log.clone(), log.clone()]), all, "a copy");
    let ids = ["u1", "u2", "u3", "a1", "a2", "a3", "a4"];
    let other = ids.iter().fold(log.clone(), |log, id| {
        log.replace(&format!("\"{id}\""), &format!("\"other-{id}\""))
    });
    assert_eq!(totals(&[log, other]), all.map(|n| 2 * n), "another session");
}

#[test]
fn a_copy_with_other_record_ids_is_a_copy() {
    let log = fixture("import_writes_record_ids");
    let all = [4, 20_000 + 20_420, 9 + 18];
    assert_eq!(totals(std::slice::from_ref(&log)), all);
    let copy = log.replace("5a1e0000", "6b2f0000");
    assert_eq!(totals(&[log, copy]), all);
}

#[test]
fn the_last_line_of_a_response_has_its_prompt() {
    let log = include_str!("totals/estimated_at_first.jsonl").to_owned();
    let all = [7_000 + 7_045 + 7_100, 0, 30 + 35 + 12];
    assert_eq!(totals(std::slice::from_ref(&log)), all);
    let lines: Vec<&str> = log.lines().collect();
    let copy = lines[..2].join("\n") + "\n";
    assert_eq!(
        totals(&[log.clone(), copy.clone()]),
        all,
        "a copy that ends midway"
    );
    assert_eq!(totals(&[copy, log]), all, "whichever is first");
}

#[test]
fn what_is_counted_is_kept_whether_or_not_the_log_was_listed_before() {
    let case = "tests/fixtures/codex/manual-compaction";
    let log = manifest_folder().join(case).join("log.jsonl");
    for lists in [1, 0] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("rollout-a.jsonl");
        fs::copy(&log, &path).unwrap();
        // Only what nobody writes to is kept.
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_790_000_000))
            .unwrap();
        let run = |arguments: &[&str]| {
            let output = ctxgauge(home.path()).args(arguments).arg(&path).output();
            assert!(output.status.success());
            output.stdout
        };
        (0..lists).for_each(|_| drop(run(&["ls", "--json"])));
        let totals = &["ls", "--totals", "--json"];
        let first = run(totals);
        let index = home.path().join(".cache/ctxgauge/index.sqlite");
        let index = Connection::open(index).unwrap();
        let count = "SELECT count(*) FROM responses";
        let kept: i64 = index.query_row(count, (), |row| row.get(0)).unwrap();
        assert_eq!(kept, 1, "after {lists} lists");
        assert_eq!(run(totals), first);
    }
}

#[test]
fn iterations_by_other_models_are_paid_for_and_attempts_are_not() {
    let log = fixture("advisor_is_billed_apart");
    let own = [3 + 4 + 5, 24_000 + 48_730 + 24_730, 30 + 150 + 20];
    assert_eq!(totals(&[log]), [own[0] + 24_500, own[1], own[2] + 800]);
}

#[test]
fn copies_of_a_compaction_lack_one_request() {
    let log = fixture("compact_keeps_a_segment");
    let compactions = |logs: &[String]| {
        let lacks = &list(logs)["totals_lack"]["claude-code"];
        lacks["compactions"].as_u64().unwrap()
    };
    let one = compactions(std::slice::from_ref(&log));
    assert!(one > 0);
    assert_eq!(compactions(&[log.clone(), log.clone(), log]), one);
}

#[test]
fn a_price_has_the_surcharges_of_its_model_and_says_which_it_lacks() {
    let list = list(&[fixture("speed_and_searches_change_the_price")]);
    let usage = &list["sessions"][0]["usage"];
    let fast = 2.0 * (1_000.0 * 5.0 + 19_000.0 * 0.5 + 100.0 * 25.0);
    let usual = 1_100.0 * 5.0 + 19_000.0 * 0.5 + 200.0 * 25.0;
    let usd = usage["cost_usd"].as_f64().unwrap();
    assert!((usd - (fast + usual) / 1e6).abs() < 1e-6, "{usd}");
    assert_eq!(usage["cost_lacks"], serde_json::json!(["web_search"]));
}

/// What `ls --totals` lists for the session of a fixture.
fn usage_of(fixture: &str) -> Value {
    let home = tempfile::tempdir().unwrap();
    let mut command = ctxgauge(home.path());
    let folder = manifest_folder().join("tests/fixtures").join(fixture);
    let output = command
        .args(["ls", "--totals", "--json"])
        .arg(folder)
        .output();
    let mut list: Value = serde_json::from_slice(&output.stdout).unwrap();
    list["sessions"][0]["usage"].take()
}

#[test]
fn what_the_agent_counts_is_beside_the_list_price() {
    let log = fixture("cost_state_shows_the_long_window");
    let own = |logs: &[String]| list(logs)["sessions"][0]["usage"]["own_cost_usd"].clone();
    assert_eq!(own(std::slice::from_ref(&log)), 0.58);
    let counts = log.lines().filter(|line| line.contains("cost-state"));
    let later = |total: &str| counts.clone().next_back().unwrap().replace("0.58", total);
    let resumed = format!("{log}{}\n{}\n", later("0.9"), later("0.25"));
    assert_eq!(own(&[resumed]), 1.15, "a count that began again");
    let odd = format!("{log}{}\n{}\n", later("-1"), later("\"much\""));
    assert_eq!(own(&[odd]), 0.58);
    assert_eq!(own(&[fixture("compact_keeps_a_segment")]), Value::Null);
    // By responses: those of copies and of hidden messages are counted as their usage is.
    for (fixture, usd) in [
        ("opencode/an_export", 0.05),
        ("pi/usage", 0.0),
        ("roo-code/condensed_into_a_fresh_start", 0.06),
    ] {
        assert_eq!(usage_of(fixture)["own_cost_usd"], usd, "{fixture}");
    }
}
