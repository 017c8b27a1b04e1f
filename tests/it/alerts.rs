//! Alerts, from a configuration and a log that grows to what the user hears of it.

use crate::monitor::Monitor;
use ctxgauge::files::waiting;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// A window and a trigger that no table can change.
const LIMITS: &str = "[[window]]\ntokens = 200_000\n[[policy]]\ntokens = 100_000\n";

/// Appends the facts of an alert to a file in the folder that is its argument.
const COMMAND: &str = "echo \"$CTXGAUGE_ALERT|$CTXGAUGE_MESSAGE|$CTXGAUGE_AGENT|$CTXGAUGE_PROJECT|\
    $CTXGAUGE_MODEL|$CTXGAUGE_SESSION|$CTXGAUGE_LOG|$CTXGAUGE_USED|$CTXGAUGE_KNOWN|$CTXGAUGE_TRIGGER|\
    $CTXGAUGE_WINDOW|$CTXGAUGE_PERCENT|${CTXGAUGE_ITEM_TOKENS-unset}\" >> \"$0/told\"";

/// A home with a session whose context is known, and its log. `HOME` in the alerts is its path.
fn home(alerts: &str) -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join(".config/ctxgauge");
    fs::create_dir_all(&config).unwrap();
    let alerts = alerts.replace("HOME", home.path().to_str().unwrap());
    fs::write(config.join("config.toml"), format!("{LIMITS}{alerts}")).unwrap();
    let folder = home.path().join(".claude/projects/-home-dev-shop");
    fs::create_dir_all(&folder).unwrap();
    let log = folder.join("5e550000-0000-4000-8000-000000000001.jsonl");
    answer(&log, 1, 50_000);
    (home, log)
}

/// Appends a question, and an answer for which this many tokens were sent and none came back.
fn answer(log: &Path, n: usize, tokens: u64) {
    let line = |rest: String| {
        format!(
            "{{\"isSidechain\":false,\"cwd\":\"/home/dev/sh;op$(id)\",\"sessionId\":\"5e55\",\
             \"version\":\"2.1.39\",\"timestamp\":\"2026-03-14T15:0{n}:00Z\",{rest}}}\n"
        )
    };
    let before = match n {
        1 => "null".to_owned(),
        n => format!("\"a{}\"", n - 1),
    };
    let question = line(format!(
        "\"type\":\"user\",\"uuid\":\"u{n}\",\"parentUuid\":{before},\
         \"message\":{{\"role\":\"user\",\"content\":\"go on\"}}"
    ));
    let reply = line(format!(
        "\"type\":\"assistant\",\"uuid\":\"a{n}\",\"parentUuid\":\"u{n}\",\"requestId\":\"r{n}\",\
         \"message\":{{\"id\":\"m{n}\",\"role\":\"assistant\",\"model\":\"claude-opus-4-6\",\
         \"content\":[{{\"type\":\"text\",\"text\":\"yes\"}}],\"stop_reason\":\"end_turn\",\
         \"usage\":{{\"input_tokens\":{tokens},\"output_tokens\":0}}}}"
    ));
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(log)
        .unwrap();
    file.write_all((question + &reply).as_bytes()).unwrap();
}

/// Waits until the command has written this many lines.
fn told(home: &Path, lines: usize) -> Vec<String> {
    waiting::wait_for("line of the command", || {
        let text = fs::read_to_string(home.join("told")).unwrap_or_default();
        if text.lines().count() >= lines && text.ends_with('\n') {
            Ok(text.lines().map(str::to_owned).collect())
        } else {
            Err(text)
        }
    })
}

#[test]
fn a_growing_log_is_told_of_once_by_every_channel() {
    let (home, log) = home(&format!(
        "[alerts]\nshare = [0.8]\nnotify = [\"screen\", \"bell\", \"osc9\"]\n\
         command = [\"/bin/sh\", \"-c\", {COMMAND:?}, \"HOME\"]\n"
    ));
    let mut monitor = Monitor::open(home.path(), &[], (120, 30));
    monitor.wait_for_text("50.0k");
    assert_eq!(monitor.times_written(b"\x07"), 0);
    answer(&log, 2, 85_000);
    monitor.wait_for_text("at 85% of its trigger");
    let lines = told(home.path(), 1);
    let (log_path, id) = (log.to_str().unwrap(), log.file_stem().unwrap());
    let id = id.to_str().unwrap();
    assert_eq!(
        lines,
        [format!(
            "share|sh;op$(id): at 85% of its trigger|claude-code|sh;op$(id)|claude-opus-4-6|{id}|\
             {log_path}|85000|85000|100000|200000|85|unset"
        )]
    );
    // It goes on growing, and falls too little to be told of again.
    for (n, tokens) in [(3, 90_000), (4, 78_000), (5, 84_000)] {
        answer(&log, n, tokens);
        monitor.wait_for_text(&format!("{}.0k", tokens / 1_000));
    }
    answer(&log, 6, 40_000);
    monitor.wait_for_text("40.0k");
    answer(&log, 7, 81_000);
    monitor.wait_for_text("at 81% of its trigger");
    let lines = told(home.path(), 2);
    assert_eq!(lines.len(), 2);
    assert!(lines[1].contains("at 81% of its trigger"), "{lines:?}");
    monitor.press("q");
    monitor.end().unwrap();
    let notification = b"\x1b]9;ctxgauge: sh,op$(id): at 85% of its trigger\x07";
    assert_eq!(monitor.times_written(notification), 1);
    // One bell and one end of a notification each.
    assert_eq!(monitor.times_written(b"\x07"), 4);
}

#[test]
fn a_command_that_is_not_there_is_told_of() {
    let (home, log) =
        home("[alerts]\nshare = [0.6]\nnotify = []\ncommand = [\"no-such-program\"]\n");
    let mut monitor = Monitor::open(home.path(), &[], (120, 30));
    monitor.wait_for_text("50.0k");
    answer(&log, 2, 65_000);
    monitor.wait_for_text("no-such-program: could not be run");
    assert_eq!(monitor.times_written(b"\x07"), 0);
}
