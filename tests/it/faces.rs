//! `ls`, the report and what the screens show are the same for a log whose size is final.

use crate::monitor::Monitor;
use crate::support::{ctxgauge, manifest_folder};
use ctxgauge::files::paths::User;
use ctxgauge::files::waiting::wait_for;
use ctxgauge::ingest::discover::roots::SearchRoot;
use ctxgauge::ingest::{self, IngestEvent, Options};
use ctxgauge::model::lists::sessions::Sessions;
use ctxgauge::render::number::{percent, short, tokens};
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
        poll: false,
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

/// A share and what is left of it, as a line in words shows them.
struct Shown {
    share: String,
    left: String,
    used: String,
}

impl Shown {
    fn of(line: &str) -> Shown {
        let cells: Vec<&str> = line.split('\t').map(str::trim).collect();
        let [share, left, used] = cells[..] else {
            panic!("{line:?}");
        };
        let owned = |text: &str| text.to_owned();
        Shown {
            share: owned(share),
            left: owned(left),
            used: owned(used),
        }
    }

    /// Compares it with the report on the whole log, which has no signs.
    fn check(&self, percent: u64, left: u64, used: u64, what: &str) {
        let Shown {
            share,
            left: shown,
            used: size,
        } = self;
        let sign = share.trim_end_matches(|c: char| c.is_ascii_digit() || c == '%');
        let number: u64 = share
            .trim_start_matches(sign)
            .trim_end_matches('%')
            .parse()
            .unwrap();
        let is_at_end = shown.starts_with("compacts");
        match sign {
            "" => {
                assert_eq!(number, percent, "{what}");
                let expected = format!("{} left", short(left));
                assert!(
                    is_at_end || *shown == expected,
                    "{what}: {shown}, not {expected}"
                );
            }
            "≥" => {
                assert!(number <= percent, "{what}");
                assert!(is_at_end || shown.starts_with('≤'), "{what}: {shown}");
            }
            "~" => assert!(is_at_end || shown.starts_with('~'), "{what}: {shown}"),
            sign => panic!("{what}: '{sign}'"),
        }
        if !size.starts_with('~') {
            assert_eq!(*size, tokens(used), "{what}");
        }
    }
}

#[test]
fn no_face_shows_a_number_as_sure_that_another_one_does_not() {
    let home = tempfile::tempdir().unwrap();
    let (mut compared, mut exact, mut forecasts) = (0, 0, 0);
    for agent in [
        "claude-code",
        "codex",
        "gemini-cli",
        "mew",
        "pi",
        "qwen-code",
    ] {
        let folder = manifest_folder().join("tests/fixtures").join(agent);
        for case in std::fs::read_dir(folder).unwrap() {
            let log = case.unwrap().path().join("log.jsonl");
            if !log.exists() {
                continue;
            }
            let report = printed(home.path(), &["report", "--json"], &log);
            let (context, limits) = (&report["context"], &report["compaction"]);
            let number = |value: &Value| value.as_u64();
            let used = number(&context["used"]).unwrap();
            let trigger = number(&limits["trigger"]);
            let (Some(id), Some(trigger), false) =
                (report["session"]["id"].as_str(), trigger, used == 0)
            else {
                continue;
            };
            let own = number(&context["own_count"]).unwrap_or(used);
            let share = percent(own, trigger).unwrap();
            let left = trigger.saturating_sub(own);
            let format = "{share}\\t{until:short}\\t{used}";
            let run = |arguments: &[&str]| {
                let output = ctxgauge(home.path()).args(arguments).output();
                String::from_utf8(output.stdout).unwrap()
            };
            let what = |face: &str| format!("{face} of {}", log.display());
            let path = log.to_str().unwrap();
            let config = home.path().join(".config/ctxgauge/config.toml");
            std::fs::create_dir_all(config.parent().unwrap()).unwrap();
            std::fs::write(config, format!("roots = [{path:?}]\n")).unwrap();

            let listed = run(&["ls", "--session", id, "--format", format, path]);
            let shown = Shown::of(listed.trim_end_matches('\n'));
            shown.check(share, left, used, &what("ls"));
            // The table has the signs of the lines.
            let table = run(&["ls", "--session", id, path]);
            assert!(table.contains(&*shown.share), "{}: {table}", what("ls"));

            let format = format.replace("\\t", " \u{2003} ");
            let line = run(&[
                "status",
                "--session",
                id,
                "--color",
                "never",
                "--format",
                &format,
            ]);
            let line = line.replace('\u{2003}', "\t");
            Shown::of(line.trim_end_matches('\n')).check(share, left, used, &what("status"));

            let text = run(&["report", path]);
            assert!(
                text.contains(&format!("· {share}% of ")),
                "{}",
                what("report")
            );
            let headroom = format!("headroom {}", tokens(left));
            assert!(text.contains(&headroom), "{}: {headroom}", what("report"));

            let requests = |face: &[&str]| {
                let format = ["--color", "never", "--format", "{requests}"];
                let format = &format[if face[0] == "ls" { 2.. } else { 0.. }];
                run(&[face, format].concat()).trim().to_owned()
            };
            let forecast = text.split_once("compacts in about ");
            if let Some(forecast) = forecast.and_then(|(_, said)| said.split(", ").next()) {
                let listed = requests(&["ls", "--session", id, path]);
                assert_eq!(listed, forecast, "{}", what("ls"));
                let line = requests(&["status", "--session", id]);
                let is_marked = line.starts_with('~');
                assert!(is_marked || line == forecast, "{}: {line}", what("status"));
                forecasts += 1;
            }

            let checked = run(&["check", "--max-percent", "0", "--session", id, path]);
            let said = checked.split_once("context at ").map(|(_, said)| said);
            if let Some(said) = said {
                let value: f64 = said.split(' ').next().unwrap().parse().unwrap();
                let exactly = own as f64 * 100.0 / trigger as f64;
                assert!(
                    (value - exactly).abs() < 0.051,
                    "{}: {checked}",
                    what("check")
                );
            }
            compared += 1;
            exact += usize::from(shown.share.starts_with(|c: char| c.is_ascii_digit()));
        }
    }
    assert!(compared > 100 && exact > 50, "{compared}, {exact}");
    assert!(forecasts > 50, "{forecasts}");
}
