//! Windows and triggers as agents' settings and the user's configuration change them, through the whole
//! program.

use crate::monitor::Monitor;
use crate::support::{ctxgauge, manifest_folder};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// A home with one Claude Code session, of a model with a window of a million;
/// the settings have it compact in one of 460,000.
fn home() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-home-dev-shop");
    fs::create_dir_all(&folder).unwrap();
    let log = folder.join("5e550000-0000-4000-8000-000000000001.jsonl");
    let fixture = "tests/fixtures/claude-code/response_in_several_lines/log.jsonl";
    fs::copy(manifest_folder().join(fixture), &log).unwrap();
    let settings = r#"{"autoCompactWindow":460000}"#;
    fs::write(home.path().join(".claude/settings.json"), settings).unwrap();
    (home, log)
}

fn json(home: &Path, args: &[&str]) -> Value {
    let output = ctxgauge(home).args(args).output();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {error}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn configure(home: &Path, text: &str) {
    let folder = home.join(".config/ctxgauge");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), text).unwrap();
}

#[test]
fn settings_of_the_agent_are_told_everywhere_but_for_copies() {
    let (home, log) = home();
    let report = |path: &Path| {
        let report = json(home.path(), &["report", "--json", path.to_str().unwrap()]);
        report["compaction"].clone()
    };
    let compaction = report(&log);
    assert_eq!(compaction["trigger"], 427_000);
    assert_eq!(compaction["trigger_source"], "settings");
    let list = json(home.path(), &["ls", "--json"]);
    assert_eq!(list["sessions"][0]["trigger"], 427_000);
    let copy = home.path().join("copy.jsonl");
    fs::copy(&log, &copy).unwrap();
    let compaction = report(&copy);
    assert_eq!(compaction["trigger"], Value::Null);
    assert_eq!(compaction["headroom"], Value::Null);
    assert_eq!(compaction["trigger_source"], "when refused");
    let mut monitor = Monitor::open(home.path(), &[], (120, 40));
    monitor.wait_for_text("compacts at 427k (settings)");
    // A change of them shows at once.
    let settings = home.path().join(".claude/settings.json");
    fs::write(settings, r#"{"autoCompactEnabled":false}"#).unwrap();
    monitor.wait_for_text("compaction is off (settings)");
}

/// Where nothing fires at a size, nothing counts down to one, and a share is of the window.
#[test]
fn an_agent_that_waits_for_a_refusal_is_said_to() {
    let (home, log) = home();
    fs::remove_file(home.path().join(".claude/settings.json")).unwrap();
    let text = |args: &[&str]| {
        let output = ctxgauge(home.path()).args(args).output();
        String::from_utf8(output.stdout).unwrap()
    };
    let report = text(&["report", log.to_str().unwrap()]);
    let state = "window 1.0M (model table) · compacts when a prompt is refused";
    assert!(report.contains(state), "{report}");
    assert!(report.contains(", headroom about "), "{report}");
    assert!(!report.contains("requests left"));
    let list = json(home.path(), &["ls", "--json"]);
    let listed = &list["sessions"][0];
    assert_eq!(listed["trigger_source"], "when refused");
    assert_eq!(listed["trigger_percent"], Value::Null);
    assert!(text(&["ls"]).contains("does not compact at a size"));
    let mut monitor = Monitor::open(home.path(), &[], (120, 40));
    monitor.wait_for_text("compacts when a prompt is refused");
}

/// Codex may compact when a turn is over, from a share of the window on.
#[test]
fn a_trigger_at_the_end_of_a_turn_is_said_to_be_one() {
    let home = tempfile::tempdir().unwrap();
    let codex = home.path().join(".codex");
    let folder = codex.join("sessions/2026/11/24");
    fs::create_dir_all(&folder).unwrap();
    let log = folder.join("rollout-2026-11-24T10-00-00-01a20b96-07e5-75c0-bfe9-ed06757aa083.jsonl");
    let fixture = "tests/fixtures/codex/usage-record/log.jsonl";
    fs::copy(manifest_folder().join(fixture), &log).unwrap();
    let settings = "model_post_turn_compact_threshold_percent = 50\n";
    fs::write(codex.join("config.toml"), settings).unwrap();
    let report = json(home.path(), &["report", "--json", log.to_str().unwrap()]);
    let (context, compaction) = (&report["context"], &report["compaction"]);
    let half = context["window"].as_u64().unwrap() / 2;
    assert!(compaction["trigger"].as_u64().unwrap() > half);
    assert_eq!(compaction["at_turn_end"], true);
    let next = compaction["next"].as_array().unwrap();
    let ends = next.iter().find(|next| next["kind"] == "turn-end").unwrap();
    assert_eq!(ends["tokens"], half);
    assert!(next.iter().any(|next| next["kind"] == "size"), "{next:?}");
    let output = ctxgauge(home.path()).arg("report").arg(&log).output();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains(" at the end of a turn (settings, config.toml)"),
        "{text}"
    );
}

#[test]
fn the_users_rows_stand_before_all_else() {
    let (home, log) = home();
    let report = || json(home.path(), &["report", "--json", log.to_str().unwrap()]);
    configure(
        home.path(),
        "[[window]]\nmodel = \"claude-*\"\ntokens = 400_000\n\n[[policy]]\nagent = \"claude-code\"\nshare = 0.95\n",
    );
    let told = report();
    assert_eq!(told["context"]["window"], 400_000);
    assert_eq!(told["context"]["window_source"], "config");
    assert_eq!(told["compaction"]["trigger"], 380_000);
    assert_eq!(told["compaction"]["trigger_source"], "config");
    assert_eq!(told["compaction"]["policy"], "0.95 of the window");

    configure(
        home.path(),
        "[[policy]]\nsession = \"5e55*\"\nmessages = { keep = 20, over = 5 }\n",
    );
    let told = report();
    assert_eq!(told["compaction"]["trigger"], Value::Null);
    assert_eq!(
        told["compaction"]["policy"],
        "at more than 25 messages, keeps 20"
    );
}

#[test]
fn a_row_for_no_agent_is_told() {
    let (home, _) = home();
    configure(home.path(), "[[window]]\nagent = \"clade\"\ntokens = 9\n");
    let output = ctxgauge(home.path()).arg("ls").output();
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("'clade'; did you mean 'claude'?"), "{error}");
}
