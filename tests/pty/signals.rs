//! Signals from outside, and terminals that go away: the terminal is left as it was.

use crate::terminal::{ESCAPE, Terminal};
use nix::sys::signal::Signal;
use std::fs;
use std::path::Path;
use std::process::Command;
#[cfg(target_os = "linux")]
use {
    crate::program,
    ctxgauge::files::waiting,
    rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    rustix::termios::{Action, LocalModes, Winsize, tcflow, tcgetattr, tcsetwinsize},
    std::ffi::OsStr,
    std::fs::File,
    std::io::Read,
    std::os::unix::ffi::OsStrExt,
    std::os::unix::fs::OpenOptionsExt,
    std::process::{Child, ExitStatus, Stdio},
};

fn send(signal: &str, id: u32) {
    let mut kill = Command::new("kill");
    let status = kill.args(["-s", signal, &id.to_string()]).status();
    assert!(status.unwrap().success());
}

#[test]
fn a_signal_restores_the_terminal_and_is_the_exit_code() {
    let user = Signal::SIGUSR1 as u32;
    for (signal, number) in [
        ("HUP", 1),
        ("INT", 2),
        ("QUIT", 3),
        ("ABRT", 6),
        ("USR1", user),
        ("TERM", 15),
        ("XCPU", 24),
    ] {
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

/// Starts a shell that starts the program as a job and writes its process id to a file, and waits for the screens.
fn job_of(script: &str, home: &Path) -> (Terminal, u32) {
    let terminal = Terminal::open_shell(home, script, (100, 30));
    terminal.wait_for_text("claude");
    terminal.wait_until_taken();
    let id = fs::read_to_string(home.join("id")).unwrap();
    (terminal, id.trim().parse().unwrap())
}

#[test]
fn a_stop_from_outside_or_by_key_leaves_the_screens_and_comes_back() {
    let home = tempfile::tempdir().unwrap();
    let (mut terminal, id) = job_of(JOBS, home.path());
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

/// A shell with job control that ends a job in the background.
const END: &str = r#"
    set -m
    end() {
        kill -TERM %1
        kill -CONT %1
        # 148: the shell has not noticed yet that it was resumed.
        code=148
        while [ $code = 148 ]; do
            sleep 0.1
            wait %1
            code=$?
        done
        echo ENDED $code
    }
"#;

#[test]
fn a_stopped_program_ends_by_term_and_cont() {
    let home = tempfile::tempdir().unwrap();
    let start = r#"
        sh -c 'echo $$ > "$HOME/id"; exec "$CTXGAUGE" --demo'
        end
    "#;
    let (terminal, id) = job_of(&format!("{END}{start}"), home.path());
    send("TSTP", id);
    terminal.wait_for_text("ENDED 143");
    terminal.wait_until_left();
}

#[test]
fn a_program_that_was_started_in_the_background_ends_by_term_and_cont() {
    let home = tempfile::tempdir().unwrap();
    // It stops where it asks for the terminal.
    let start = r#"
        "$CTXGAUGE" --demo &
        until jobs > "$HOME/jobs" && grep -q Stopped "$HOME/jobs"; do
            sleep 0.05
        done
        end
    "#;
    let script = format!("{END}{start}");
    let terminal = Terminal::open_shell(home.path(), &script, (100, 30));
    terminal.wait_for_text("ENDED 143");
    terminal.wait_until_left();
}

/// Both ends of a pseudo-terminal of its own, as portable-pty does not give them: no other process may have the second
/// one, not even for a moment.
#[cfg(target_os = "linux")]
fn pseudo_terminal() -> (File, File) {
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
    let slave = File::options()
        .read(true)
        .write(true)
        .custom_flags(i32::try_from(rustix::fs::OFlags::NOCTTY.bits()).unwrap())
        .open(OsStr::from_bytes(path.to_bytes()))
        .unwrap();
    (File::from(master), slave)
}

/// Starts the demo on a terminal that is not its controlling one, so that it sends no signal, and reads until the screen
/// is there.
#[cfg(target_os = "linux")]
fn demo_on((master, slave): (&mut File, &File)) -> Child {
    let home = tempfile::tempdir().unwrap();
    let end = || Stdio::from(slave.try_clone().unwrap());
    let mut command = program::process(home.path());
    command.arg("--demo").stdin(end()).stdout(end());
    let child = command.stderr(Stdio::null()).spawn().unwrap();
    let mut seen = Vec::new();
    let mut chunk = [0; 4096];
    while !String::from_utf8_lossy(&seen).contains("claude") {
        let read = master.read(&mut chunk).unwrap();
        seen.extend_from_slice(&chunk[..read]);
    }
    child
}

#[cfg(target_os = "linux")]
fn end_of(child: &mut Child) -> ExitStatus {
    waiting::wait_for("end of the program", || {
        child.try_wait().unwrap().ok_or("it still runs")
    })
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_goes_away_ends_the_program() {
    let (mut master, slave) = pseudo_terminal();
    let mut child = demo_on((&mut master, &slave));
    drop((master, slave));
    let status = end_of(&mut child);
    // A frame that is being written fails before the end is noticed.
    assert!(matches!(status.code(), Some(129 | 1)), "{status:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_terminal_that_takes_no_output_does_not_keep_the_program() {
    let (mut master, slave) = pseudo_terminal();
    let mut child = demo_on((&mut master, &slave));
    let is_cooked = || {
        let modes = tcgetattr(&slave).unwrap().local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO)
    };
    assert!(!is_cooked());
    tcflow(&slave, Action::OOff).unwrap();
    send("TERM", child.id());
    assert_eq!(end_of(&mut child).code(), Some(143));
    assert!(is_cooked());
}
