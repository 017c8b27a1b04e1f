//! What is copied reaches the buffer of tmux where the program runs in tmux, and the terminal's clipboard in any case.

use crate::terminal::Terminal;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

const ID: &str = "5f0cbb1e-7a3d-4c55-9a0e-2f7d1c64b9aa";

/// A home with one session, and a program `tmux` of this script.
fn home(script: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-shop");
    fs::create_dir_all(&folder).unwrap();
    let line = format!(
        r#"{{"type":"user","uuid":"u1","parentUuid":null,"isSidechain":false,"cwd":"/shop","sessionId":"{ID}","version":"2.1.0","timestamp":"2026-03-14T15:00:00Z","message":{{"role":"user","content":"hello"}}}}"#
    );
    fs::write(folder.join(format!("{ID}.jsonl")), line + "\n").unwrap();
    let program = home.path().join("bin/tmux");
    fs::create_dir(program.parent().unwrap()).unwrap();
    fs::write(&program, format!("#!/bin/sh\n{script}")).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    home
}

/// Copies the command that resumes the session. Returns what was written to the terminal.
fn copied(home: &Path, tmux: &str, said: &str) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", home.join("bin").display());
    let environment = [("PATH", path.as_str()), ("TMUX", tmux)];
    let mut terminal = Terminal::open_with(home, &[], (120, 30), &environment);
    terminal.wait_for_text("1 session");
    terminal.press("y");
    terminal.wait_for_text("resume");
    terminal.press("\r");
    terminal.wait_for_notice(said, |screen| screen.contains(said));
    terminal.wait_until_taken();
    terminal.write("q");
    assert!(terminal.wait_for_end().success());
    String::from_utf8_lossy(&terminal.bytes()).into_owned()
}

#[test]
fn tmux_gets_what_is_copied() {
    let home = home("echo noise; echo \"$@\" \"$TMUX\" > \"$HOME/run\"; cat > \"$HOME/taken\"\n");
    let said = format!("copied to tmux's buffer: cd /shop && claude --resume {ID}");
    let bytes = copied(home.path(), "/tmp/tmux-0/default,1,0", &said);
    let read = |name: &str| fs::read_to_string(home.path().join(name)).unwrap();
    assert_eq!(read("run"), "load-buffer -w - /tmp/tmux-0/default,1,0\n");
    assert_eq!(read("taken"), format!("cd /shop && claude --resume {ID}"));
    assert!(bytes.contains("\x1b]52;c;") && !bytes.contains("noise"));
}

#[test]
fn a_tmux_that_fails_is_said() {
    let home = home("exit 1\n");
    // The reason before it is another one on a machine that does not start it within its limit.
    let said = "; sent to the terminal's clipboard: cd /shop";
    let bytes = copied(home.path(), "/tmp/tmux-0/default,1,0", said);
    assert!(bytes.contains("\x1b]52;c;"));
}

#[test]
fn without_tmux_none_is_started() {
    let home = home("touch \"$HOME/run\"\n");
    let bytes = copied(
        home.path(),
        "",
        "sent to the terminal's clipboard: cd /shop",
    );
    assert!(bytes.contains("\x1b]52;c;"));
    assert!(!home.path().join("run").exists());
}
