//! The folders of the user, as the environment names them.

use crate::support::process;
use serde_json::Value;
use std::fs;
use std::path::Path;

#[test]
fn the_configuration_is_found_by_the_xdg_specification() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".config/ctxgauge");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), "no such key = 1").unwrap();
    let is_read = |xdg: &str| {
        let mut command = process(home.path());
        command.args(["ls"]).env("XDG_CONFIG_HOME", xdg);
        let output = command.output().unwrap();
        String::from_utf8_lossy(&output.stderr).contains("config.toml")
    };
    assert!(is_read(""), "the default");
    assert!(is_read("not/absolute"), "a relative path is ignored");
    assert!(!is_read("/nonexistent"));
}

#[test]
fn a_home_that_is_no_folder_is_an_empty_one() {
    let output = process(std::path::Path::new("/dev/null"))
        .args(["ls"])
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(message.starts_with("no sessions found"), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(output.status.success());
}

#[test]
fn the_settings_of_a_log_are_found_from_the_folder_it_is_in_too() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-home-dev-shop");
    fs::create_dir_all(&folder).unwrap();
    let name = "5e550000-0000-4000-8000-000000000001.jsonl";
    let line = "{\"type\":\"user\",\"uuid\":\"u1\",\"parentUuid\":null,\"sessionId\":\"s1\",\
        \"cwd\":\"/home/dev/shop\",\"version\":\"2.1.39\",\"timestamp\":\"2026-03-14T15:00:00Z\",\
        \"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n";
    fs::write(folder.join(name), line).unwrap();
    let settings = "{\"env\":{\"DISABLE_AUTO_COMPACT\":\"1\"}}";
    fs::write(home.path().join(".claude/settings.json"), settings).unwrap();
    let mut command = process(home.path());
    command.args(["report", name, "--json"]);
    let output = command.current_dir(&folder).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["compaction"]["trigger_source"], "settings");
    let path = report["session"]["path"].as_str().map(Path::new);
    assert_eq!(path, Some(&*folder.join(name)));
}
