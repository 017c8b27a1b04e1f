//! Sessions of another machine on the screens: a script in the place of `ssh` runs the program in another home.

use crate::terminal::Terminal;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn log(folder: &Path, id: &str, cwd: &str) {
    let folder = folder.join(".claude/projects").join(cwd.replace('/', "-"));
    fs::create_dir_all(&folder).unwrap();
    let line = format!(
        r#"{{"type":"user","uuid":"u1","parentUuid":null,"isSidechain":false,"cwd":"{cwd}","sessionId":"{id}","version":"2.1.0","timestamp":"2026-03-14T15:00:00Z","message":{{"role":"user","content":"hello"}}}}"#
    );
    fs::write(folder.join(format!("{id}.jsonl")), line + "\n").unwrap();
}

/// A home with a session, another machine `build-1` with one, and a script `ssh` that reaches it unless there is a file
/// `down`.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    log(home.path(), "5f0cbb1e-7a3d-4c55-9a0e-2f7d1c64b9aa", "/here");
    log(
        &home.path().join("there"),
        "6f0cbb1e-7a3d-4c55-9a0e-2f7d1c64b9aa",
        "/shop",
    );
    let program = home.path().join("bin/ssh");
    fs::create_dir(program.parent().unwrap()).unwrap();
    let script = format!(
        r#"#!/bin/sh
if test "$1" = -t; then
  echo "screens there: $*"
  read -r line
  exit 0
fi
test -e "$HOME/down" && {{ echo "ssh: no route to build-1" >&2; exit 255; }}
while test "$1" != --; do shift; done
shift 3
home=$HOME
( export HOME="$home/there"; exec "{}" "$@" ) &
while ! test -e "$home/down"; do sleep 0.05; done
kill $!
exit 255
"#,
        env!("CARGO_BIN_EXE_ctxgauge")
    );
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    home
}

#[test]
fn rows_of_another_machine_open_there_and_are_old_when_it_is_away() {
    let home = home();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", home.path().join("bin").display());
    let config = home.path().join(".config/ctxgauge");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("config.toml"), "hosts = [\"build-1\"]\n").unwrap();
    let environment = [("PATH", path.as_str())];
    let mut terminal = Terminal::open_with(home.path(), &[], (120, 30), &environment);
    terminal.wait_for("both sessions", |screen| {
        screen.contains("2 sessions") && screen.contains("build-1:shop") && screen.contains("here")
    });
    for key in ["/", "h", "o", "s", "t", ":", "b", "\r"] {
        terminal.press(key);
    }
    terminal.wait_for("its session alone", |screen| {
        screen.contains("1 of 2 sessions") && screen.contains("build-1:shop")
    });
    // An action that needs its log is refused.
    terminal.press("x");
    terminal.wait_for_notice("a notice", |screen| {
        screen.contains("the log is on build-1")
    });
    terminal.write("\r");
    let shown = terminal.wait_for_text("screens there: -t -- build-1 ctxgauge");
    assert!(
        shown.contains("6f0cbb1e-7a3d-4c55-9a0e-2f7d1c64b9aa.jsonl"),
        "{shown}"
    );
    terminal.write("\r");
    terminal.wait_for_text("1 of 2 sessions");
    fs::write(home.path().join("down"), "").unwrap();
    terminal.wait_for("a machine that is away", |screen| {
        screen.contains("1 host away") && screen.contains(" old, ") && screen.contains('?')
    });
    fs::remove_file(home.path().join("down")).unwrap();
    terminal.wait_for("a machine that is back", |screen| {
        !screen.contains("host away") && screen.contains("build-1:shop")
    });
    terminal.write("q");
    assert!(terminal.wait_for_end().success());
}
