//! `ls`, the report and what the screens show are the same for a log whose size is final.

use crate::monitor::Monitor;
use crate::support::{ctxgauge, manifest_folder};
use ctxgauge::files::paths::User;
use ctxgauge::files::waiting::wait_for;
use ctxgauge::ingest::discover::roots::SearchRoot;
use ctxgauge::ingest::{self, IngestEvent, Options};
use ctxgauge::model::sessions::Sessions;
use ctxgauge::tokens::Counter;
use ctxgauge::{agents, config};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;

/// Runs the program and reads what it prints.
fn printed(home: &Path, arguments: &[&str], log: &Path) -> Value {
    let mut command = ctxgauge(home);
    let output = command.args(arguments).arg(log).output();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The numbers that all of them have: used, known, percent, own count, trigger, headroom.
fn numbers(context: &Value, limits: &Value) -> Value {
    json!([
        context["used"],
        context["known"],
        context["percent"],
        context["own_count"],
        limits["trigger"],
        limits["headroom"]
    ])
}

/// What the screens are given: by id, used, known and headroom.
fn watched(log: &Path) -> BTreeMap<String, (u64, u64, Option<u64>)> {
    let rules = Arc::new(config::rules().unwrap());
    let (sender, updates) = channel();
    let options = Options {
        formats: agents::ALL.to_vec(),
        roots: vec![SearchRoot::Given(log.to_owned())],
        user: User::default(),
        rules: Arc::clone(&rules),
        counter: Arc::new(Counter::new()),
        cache: None,
    };
    let handle = ingest::start(options, None, move |update| match sender.send(update) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    });
    let handle = handle.unwrap();
    let mut sessions = Sessions::new(rules);
    let is_final = |sessions: &Sessions| {
        let mut gauges = sessions.gauges();
        gauges.all(|(_, gauge)| gauge.is_final)
    };
    while !sessions.caught_up || !is_final(&sessions) {
        if let IngestEvent::Update(update) = wait_for("update", || updates.try_recv()) {
            sessions.apply(update);
        }
    }
    drop(handle);
    let rows = sessions.gauges().map(|(_, gauge)| {
        let (context, headroom) = (&gauge.context, gauge.headroom());
        let id = gauge.meta.id.as_deref().unwrap_or_default().to_owned();
        (id, (context.used, context.known, headroom))
    });
    rows.collect()
}

#[test]
fn the_list_the_report_and_the_screens_show_the_same() {
    let home = tempfile::tempdir().unwrap();
    let folder = manifest_folder().join("tests/fixtures/mew");
    let mut compared = 0;
    for case in std::fs::read_dir(folder).unwrap() {
        // A log that was just written is counted while it is watched.
        let log = home.path().join("log.jsonl");
        let text = std::fs::read(case.unwrap().path().join("log.jsonl")).unwrap();
        std::fs::write(&log, text).unwrap();
        let list = printed(home.path(), &["ls", "--json"], &log);
        let watched = watched(&log);
        for row in list["sessions"].as_array().unwrap() {
            let Some(id) = row["id"].as_str() else {
                continue;
            };
            assert_eq!(row["final"], true, "{log:?} {id}");
            let report = printed(home.path(), &["report", "--json", "--session", id], &log);
            let of_report = numbers(&report["context"], &report["compaction"]);
            assert_eq!(numbers(&row["context"], row), of_report, "{log:?} {id}");
            let (used, known, headroom) = watched[id];
            let shown = json!([used, known, headroom]);
            let listed = json!([
                row["context"]["used"],
                row["context"]["known"],
                row["headroom"]
            ]);
            assert_eq!(shown, listed, "{log:?} {id}");
            compared += 1;
        }
    }
    assert!(compared >= 12, "{compared}");
}

#[test]
fn the_screen_shows_after_each_line_what_a_report_says_then() {
    let home = tempfile::tempdir().unwrap();
    let fixture = "tests/fixtures/claude-code/requests_say_what_they_hold/log.jsonl";
    let text = std::fs::read_to_string(manifest_folder().join(fixture)).unwrap();
    let folder = home.path().join(".claude/projects/-home-dev-shop");
    std::fs::create_dir_all(&folder).unwrap();
    let log = folder.join("5e55.jsonl");
    let mut lines = text.split_inclusive('\n');
    std::fs::write(&log, lines.next().unwrap()).unwrap();
    let mut monitor = Monitor::open(home.path(), &[], (160, 40));
    monitor.wait_for_text("shop");
    monitor.press("⏎");
    for (nth, line) in lines.enumerate() {
        let mut file = File::options().append(true).open(&log).unwrap();
        file.write_all(line.as_bytes()).unwrap();
        let report = ctxgauge(home.path()).arg("report").arg(&log).output();
        let report = String::from_utf8(report.stdout).unwrap();
        let gauge = report.lines().find(|line| line.contains(" known"));
        let gauge = gauge.and_then(|line| line.split(" · ").next()).unwrap();
        let gauge = match gauge.split_once(" + ") {
            Some((known, estimated)) if known.starts_with('—') => estimated,
            _ => gauge,
        };
        monitor.wait_for(&format!("{gauge} after line {}", nth + 2), |screen| {
            screen.contains(gauge)
        });
    }
}
