//! Signals from outside, and terminals that go away: the terminal is left as it was.

use crate::program;
use crate::terminal::{ESCAPE, Terminal};
use crate::waiting;
use std::fs;
use std::process::Command;

fn send(signal: &str, id: u32) {
    let mut kill = Command::new("kill");
    let status = kill.args(["-s", signal, &id.to_string()]).status();
    assert!(status.unwrap().success());
}

#[test]
fn a_signal_restores_the_terminal_and_is_the_exit_code() {
    for (signal, number) in [("HUP", 1), ("INT", 2), ("QUIT", 3), ("TERM", 15)] {
        // Without logs: the demo.
        let home = tempfile::tempdir().unwrap();
        let mut terminal = Terminal::open_shell(home.path(), "exec \"$CTXGAUGE\"", (100, 30));
        terminal.wait_for("the demo", |s| {
            s.contains("this is a demo") && s.contains("codex")
        });
        terminal.wait_until_taken();
        send(signal, terminal.process_id());
        let code = terminal.wait_for_end().exit_code();
        assert_eq!(code, 128 + number, "{signal}");
        terminal.wait_until_left();
    }
}

/// A shell with job control: the program is a job of its own, which may be stopped.
const JOBS: &str = r#"
    set -m
    sh -c 'echo $$ > "$HOME/id"; exec "$CTXGAUGE" --demo'
    for round in 1 2; do
        echo STOPPED $round
        read -r line
        fg
    done
    echo ENDED $?
"#;

#[test]
fn a_stop_from_outside_or_by_key_leaves_the_screens_and_comes_back() {
    let home = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::open_shell(home.path(), JOBS, (100, 30));
    terminal.wait_for_text("claude");
    terminal.wait_until_taken();
    let id = fs::read_to_string(home.path().join("id")).unwrap();
    let id: u32 = id.trim().parse().unwrap();
    for round in 1..=2 {
        match round {
            1 => send("TSTP", id),
            _ => terminal.write("\x1a"),
        }
        terminal.wait_for_text(&format!("STOPPED {round}"));
        terminal.wait_until_left();
        terminal.write("\n");
        terminal.wait_for_text("claude");
        terminal.wait_until_taken();
    }
    terminal.write("q");
    terminal.wait_for_text("ENDED 0");
    drop(terminal);

    // The terminal's first program: no shell could resume it, so it goes on.
    let mut terminal = Terminal::open(home.path(), &["--demo"], (100, 30));
    terminal.wait_for_text("claude");
    send("TSTP", terminal.process_id());
    terminal.press("?");
    terminal.press("\x1a");
    terminal.wait_until_taken();
    terminal.press(ESCAPE);
    terminal.write("q");
    assert!(terminal.wait_for_end().success());
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_goes_away_ends_the_program() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{Winsize, tcsetwinsize};
    use std::ffi::OsStr;
    use std::io::Read;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::OpenOptionsExt;
    use std::process::Stdio;

    // Not portable-pty's: no other process may have this end, not even for a moment.
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let size = Winsize {
        ws_row: 30,
        ws_col: 100,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(&master, size).unwrap();
    let path = ptsname(&master, Vec::new()).unwrap();
    let slave = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(i32::try_from(rustix::fs::OFlags::NOCTTY.bits()).unwrap())
        .open(OsStr::from_bytes(path.to_bytes()))
        .unwrap();
    let home = tempfile::tempdir().unwrap();
    let end = || Stdio::from(slave.try_clone().unwrap());
    let mut command = program::ctxgauge(home.path());
    // It is not the program's controlling terminal: no signal is sent.
    command
        .arg("--demo")
        .stdin(end())
        .stdout(end())
        .stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    drop((command, slave));
    let mut master = fs::File::from(master);
    let mut seen = Vec::new();
    let mut chunk = [0; 4096];
    while !String::from_utf8_lossy(&seen).contains("claude") {
        let read = master.read(&mut chunk).unwrap();
        seen.extend_from_slice(&chunk[..read]);
    }
    drop(master);
    let status = waiting::wait_for("end of the program", || {
        child.try_wait().unwrap().ok_or("it still runs")
    });
    // A frame that is being written fails before the end is noticed.
    assert!(matches!(status.code(), Some(129 | 1)), "{status:?}");
}
