//! A disk that does not answer keeps nobody waiting. A pipe that stays open and empty is in its place.
#![cfg(unix)]

use crate::support::claude::{Home, pass};
use ctxgauge::files::waiting;
use serde_json::json;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::process::{Command, Output};
use std::thread;

/// Makes a pipe that somebody may write to, as long as what is returned is there.
fn silent(path: &Path) -> File {
    nix::unistd::mkfifo(path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    let both = OpenOptions::new().read(true).write(true).open(path);
    both.unwrap()
}

/// Runs a command that must end by itself.
fn ended(mut command: Command, input: String) -> Output {
    let described = format!("{command:?}");
    let running = thread::spawn(move || pass(&mut command, input.as_bytes()));
    waiting::wait_for("end of the command", || {
        let has_ended = running.is_finished().then_some(());
        has_ended.ok_or(&described)
    });
    running.join().unwrap()
}

#[test]
fn a_time_zone_without_end_is_none() {
    let home = Home::with_log(50_000);
    let pipe = home.path().join("zone");
    let _writer = silent(&pipe);
    for zone in [pipe.to_str().unwrap(), "/dev/zero"] {
        let zone = format!(":{zone}");
        let line = home.input(json!(50_000)).to_string();
        for (command, input) in [("ls", String::new()), ("statusline", line)] {
            let mut program = home.process(&[command]);
            program.env("TZ", &zone);
            let output = ended(program, input);
            let shown = String::from_utf8_lossy(&output.stdout);
            assert!(shown.contains("50.0k"), "{zone} {command}: {output:?}");
            assert!(output.stderr.is_empty(), "{zone} {command}: {output:?}");
        }
    }
}

#[test]
fn settings_that_are_never_read_keep_nobody_waiting() {
    let home = Home::with_log(50_000);
    let settings = home.path().join("settings.toml");
    let _writer = silent(&settings);
    let line = home.input(json!(50_000)).to_string();
    let prompt = json!({"session_id": "s", "transcript_path": home.log(), "cwd": "/shop",
        "hook_event_name": "UserPromptSubmit", "prompt": "Go on."});
    let run = |command: &str, input: String| {
        let arguments = [command, "--within", "1"];
        let mut program = home.process(&["--config", settings.to_str().unwrap()]);
        program.args(arguments);
        let output = ended(program, input);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert_eq!(run("hook", prompt.to_string()), "");
    let shown = run("statusline", line);
    assert!(
        shown.contains("too slow") && shown.contains("50.0k known"),
        "{shown}"
    );
    assert_eq!(run("status", String::new()), "too slow\n");
    let server = home.process(&[
        "--config",
        settings.to_str().unwrap(),
        "mcp",
        "--within",
        "1",
    ]);
    let output = ended(server, String::new());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("could not be read within"), "{output:?}");
}
