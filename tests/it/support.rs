//! What the tests share: the binary, run away from this machine's own logs and settings.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The project's folder.
pub fn manifest_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The program in an empty home: no logs, no configuration, no variable of ours.
pub fn ctxgauge(home: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctxgauge"));
    command
        .env_clear()
        .env("HOME", home)
        .env("TERM", "xterm-256color");
    command
}

/// A file's report, read by the program.
pub fn json_report(path: &Path) -> Value {
    let home = tempfile::tempdir().unwrap();
    let output = ctxgauge(home.path())
        .args(["report", "--json"])
        .arg(path)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}: {}",
        path.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}
