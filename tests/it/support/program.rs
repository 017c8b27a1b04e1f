//! The program as a process, away from this machine's own logs and settings.

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
