//! The program as a process, away from this machine's own logs and settings.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The project's folder.
pub fn manifest_folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The program as a process in an empty home, for tests of what only a process has: streams, signals, limits, a working
/// directory. `house::processes` lists them.
pub fn process(home: &Path) -> Command {
    #[cfg(unix)]
    restore_signals();
    let mut command = Command::new(env!("CARGO_BIN_EXE_ctxgauge"));
    command.env_clear().envs(environment(home));
    command
}

/// The variables of an empty home: none of ours, and a clock that is the same on every machine.
pub fn environment(home: &Path) -> HashMap<String, OsString> {
    HashMap::from([
        ("HOME".to_owned(), home.into()),
        ("TERM".to_owned(), "xterm-256color".into()),
        ("TZ".to_owned(), "UTC".into()),
    ])
}

/// Gives back their effect to signals that the tests were started to ignore, as a shell starts what it runs in the
/// background, and `nohup` what it runs: the programs that they start would ignore them too. A signal that is handled
/// here is not ignored there.
#[cfg(unix)]
fn restore_signals() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT};
    static RESTORED: std::sync::Once = std::sync::Once::new();
    RESTORED.call_once(|| {
        let ignored = ctxgauge::files::ignored_signals();
        for signal in [SIGHUP, SIGINT, SIGQUIT] {
            if ignored & (1 << (signal - 1)) != 0 {
                signal_hook::flag::register(signal, Default::default()).unwrap();
            }
        }
    });
}
