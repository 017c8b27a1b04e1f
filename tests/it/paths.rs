//! The folders of the user, as the environment names them.

use crate::support::process;
use std::fs;

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
