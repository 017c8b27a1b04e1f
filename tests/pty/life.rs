//! From the first frame to the last: start and end, another size, a pager, a full disk.

use crate::program::manifest_folder;
use crate::terminal::{ESCAPE, Terminal};
use ctxgauge::files::waiting;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

/// A home with a session of Claude Code.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-home-dev-shop");
    fs::create_dir_all(&folder).unwrap();
    let case = "tests/fixtures/claude-code/response_in_several_lines/log.jsonl";
    let log = folder.join("5e550000-0000-4000-8000-000000000001.jsonl");
    fs::copy(manifest_folder().join(case), log).unwrap();
    home
}

/// Checks that every file and folder below this one is the user's alone. Returns the number of files.
fn private_files(folder: &Path) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let meta = entry.metadata().unwrap();
        let mode = meta.permissions().mode() & 0o777;
        let expected = if meta.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, expected, "{}", entry.path().display());
        files += if meta.is_dir() {
            private_files(&entry.path())
        } else {
            1
        };
    }
    files
}

#[test]
fn the_terminal_is_left_as_it_was_and_what_is_written_is_the_users_alone() {
    let home = home();
    // The user's mask lets others read.
    let script = "umask 022; \"$CTXGAUGE\" ls; \"$CTXGAUGE\"; echo ended $?";
    let mut terminal = Terminal::open_shell(home.path(), script, (140, 40));
    terminal.wait_for("the screens", |screen| {
        screen.contains("1 session") && screen.contains("21.6k")
    });
    terminal.wait_until_taken();
    for key in ["s", "s", "\r"] {
        terminal.press(key);
    }
    terminal.write("q");
    terminal.wait_for_text("ended 0");
    terminal.wait_until_left();
    for folder in [".local/state", ".cache"] {
        assert!(private_files(&home.path().join(folder)) > 0, "{folder}");
    }
    let mut names: Vec<_> = fs::read_dir(home.path()).unwrap().flatten().collect();
    names.retain(|entry| {
        let name = entry.file_name();
        ![".claude", ".local", ".cache"]
            .iter()
            .any(|own| name == *own)
    });
    assert!(names.is_empty(), "{names:?}");
}

#[test]
fn files_of_a_session_are_written_where_the_program_runs_and_none_is_overwritten() {
    let home = home();
    let script = "mkdir work; cd work; \"$CTXGAUGE\"; echo ended $?";
    let script = format!("cd '{}'; {script}", home.path().display());
    let mut terminal = Terminal::open_shell(home.path(), &script, (140, 40));
    // The name of a file has the day of the session, which is known once its log was read.
    terminal.wait_for_text("opus-4-8");
    let written = || {
        let folder = fs::read_dir(home.path().join("work"));
        let names = folder.into_iter().flatten().flatten();
        let names = names.map(|entry| entry.file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    for (key, end) in [
        ("h", ".html in"),
        ("h", "-2.html in"),
        ("m", ".md in"),
        ("c", ".csv in"),
    ] {
        terminal.press("x");
        terminal.press(key);
        terminal.wait_for_notice(end, |screen| {
            screen.contains("wrote ") && screen.contains(end)
        });
    }
    let names = written();
    let ends = ["-2.html", ".csv", ".html", ".md"];
    for end in ends {
        assert!(
            names.iter().any(|name| name.ends_with(end)),
            "{end}: {names:?}"
        );
    }
    assert_eq!(names.len(), ends.len(), "{names:?}");
    terminal.write("q");
    terminal.wait_for_text("ended 0");
}

#[test]
fn a_terminal_that_is_resized_all_the_time_is_drawn() {
    const SIZES: [(u16, u16); 8] = [
        (1, 1),
        (500, 200),
        (2, 2),
        (200, 2),
        (3, 50),
        (39, 11),
        (40, 12),
        (200, 60),
    ];
    let home = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::open(home.path(), &["--demo"], (100, 30));
    terminal.wait_for_text("claude");
    let keys = [
        "?", ESCAPE, "!", ESCAPE, "\r", "2", "3", "4", "6", "1", "r", "l", "\r",
    ];
    for key in keys {
        for size in SIZES {
            terminal.announce_size(size);
        }
        terminal.press(key);
    }
    terminal.resize((100, 30));
    terminal.wait_for("a frame of that size", |text| {
        text.lines().count() == 30 && text.contains("copy")
    });
    terminal.write("q");
    assert!(terminal.wait_for_end().success());
}

#[test]
fn a_pager_has_the_terminal_and_ends_with_the_program() {
    let home = home();
    let script = home.path().join("pager");
    fs::write(&script, "echo reading on\nexec sleep 600\n").unwrap();
    let pager = format!("/bin/sh {}", script.display());
    let path = std::env::var("PATH").unwrap();
    let environment = [("PAGER", pager.as_str()), ("PATH", path.as_str())];
    let mut terminal = Terminal::open_with(home.path(), &[], (120, 40), &environment);
    terminal.wait_for_text("21.6k");
    terminal.press("\r");
    terminal.wait_for_text("in context");
    terminal.press("\r");
    terminal.wait_for_text("copy");
    terminal.write("o");
    terminal.wait_for_text("reading on");
    terminal.wait_until_left();
    let id = Pid::from_raw(terminal.process_id().cast_signed());
    kill(id, Signal::SIGTERM).unwrap();
    assert_eq!(terminal.wait_for_end().exit_code(), 128 + 15);
    terminal.wait_until_left();
}

#[test]
fn the_editor_opens_the_log_and_the_screens_come_back() {
    let home = home();
    let script = home.path().join("editor");
    fs::write(&script, "echo edits $1\nread line\n").unwrap();
    let editor = format!("/bin/sh {}", script.display());
    let path = std::env::var("PATH").unwrap();
    let environment = [("EDITOR", editor.as_str()), ("PATH", path.as_str())];
    let mut terminal = Terminal::open_with(home.path(), &[], (200, 40), &environment);
    terminal.wait_for_text("21.6k");
    terminal.write("e");
    terminal.wait_for("the editor", |screen| {
        screen.contains("edits ") && screen.contains("5e550000-0000-4000-8000-000000000001.jsonl")
    });
    terminal.write("done\r");
    terminal.wait_for_text("21.6k");
    terminal.write("q");
    assert_eq!(terminal.wait_for_end().exit_code(), 0);
}

/// An editor that is killed, or `ssh -t` whose connection breaks.
#[test]
fn a_program_that_leaves_the_terminal_raw_costs_nothing() {
    for (key, variable) in [("e", "EDITOR"), ("o", "PAGER")] {
        let home = home();
        let (script, began) = (home.path().join("other"), home.path().join("began"));
        let raw = format!("stty raw -echo\ntouch {}\n", began.display());
        // The pager ends with the screens.
        let end = if key == "e" {
            "kill -9 $$"
        } else {
            "exec sleep 600"
        };
        fs::write(&script, raw + end).unwrap();
        let other = format!("/bin/sh {}", script.display());
        let path = std::env::var("PATH").unwrap();
        let environment = [(variable, other.as_str()), ("PATH", path.as_str())];
        let mut terminal = Terminal::open_with(home.path(), &[], (200, 40), &environment);
        terminal.wait_for_text("21.6k");
        if key == "o" {
            terminal.press("\r");
            terminal.wait_for_text("in context");
            terminal.press("\r");
            terminal.wait_for_text("copy");
        }
        terminal.write(key);
        waiting::wait_for("the other program", || {
            began.exists().then_some(()).ok_or_else(|| terminal.text())
        });
        if key == "e" {
            terminal.wait_until_taken();
            terminal.write("q");
        } else {
            let id = Pid::from_raw(terminal.process_id().cast_signed());
            kill(id, Signal::SIGTERM).unwrap();
        }
        terminal.wait_for_end();
        terminal.wait_until_left();
    }
}

#[test]
fn a_full_disk_costs_the_saved_state_and_says_so_on_the_screen() {
    let home = home();
    let config = home.path().join(".config/ctxgauge");
    fs::create_dir_all(&config).unwrap();
    // The cache's problem is another test's.
    fs::write(config.join("config.toml"), "cache = false\n").unwrap();
    let begin = |script: &str| {
        let terminal = Terminal::open_shell(home.path(), script, (100, 30));
        terminal.wait_for_text("claude");
        terminal
    };
    let state = home.path().join(".local/state/ctxgauge/state.toml");
    let mut terminal = begin("exec \"$CTXGAUGE\"");
    terminal.press("T");
    terminal.write("q");
    assert!(terminal.wait_for_end().success());
    let before = fs::read_to_string(&state).unwrap();
    assert!(before.contains("dark"), "{before}");
    drop(terminal);

    let mut terminal = begin("trap '' XFSZ; ulimit -f 0; exec \"$CTXGAUGE\"");
    terminal.press("T");
    // The list of problems shows it, whatever notice came since.
    terminal.press("!");
    terminal.wait_for_text("could not save the screen settings");
    terminal.press(ESCAPE);
    terminal.write("q");
    terminal.wait_for_end();
    assert_eq!(fs::read_to_string(&state).unwrap(), before, "as it was");
    let beside = fs::read_dir(state.parent().unwrap()).unwrap();
    assert_eq!(beside.count(), 1, "no half of a file is left");
}

#[test]
fn hundreds_of_bad_pieces_of_configuration_do_not_keep_the_screens_from_opening() {
    let home = home();
    let config = home.path().join(".config/ctxgauge");
    for (folder, pieces) in [("themes", 200), ("agents", 200)] {
        let folder = config.join(folder);
        fs::create_dir_all(&folder).unwrap();
        for n in 0..pieces {
            fs::write(folder.join(format!("bad{n}.toml")), "no = such").unwrap();
        }
    }
    let mut terminal = Terminal::open_shell(home.path(), "exec \"$CTXGAUGE\"", (100, 30));
    terminal.wait_for_text("21.6k");
    terminal.press("!");
    terminal.wait_for_text("it is left out");
    terminal.press(ESCAPE);
    terminal.write("q");
    assert!(terminal.wait_for_end().success());
}

/// The line of a response in a log of Claude Code.
fn response(id: &str, parent: &str, prompt: u64) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"{id}","parentUuid":"{parent}","sessionId":"5e55","timestamp":"2026-11-02T10:00:00Z","cwd":"/home/dev/shop","version":"2.1.330","requestId":"{id}","message":{{"role":"assistant","id":"{id}","model":"claude-opus-4-8","stop_reason":"end_turn","content":[{{"type":"text","text":"Yes."}}],"usage":{{"input_tokens":{prompt},"output_tokens":10}}}}}}"#
    )
}

#[test]
fn a_list_shows_what_the_monitor_has_read_whole() {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-home-dev-shop");
    fs::create_dir_all(&folder).unwrap();
    let boundary = r#"{"type":"system","subtype":"compact_boundary","uuid":"c1","parentUuid":null,"sessionId":"5e55","timestamp":"2026-11-02T10:00:00Z","content":"Conversation compacted","compactMetadata":{"trigger":"auto","preTokens":167766}}"#;
    let text = "a row of the table, ".repeat(30_000);
    let said = |id: &str, parent: &str, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"{id}","parentUuid":"{parent}","sessionId":"5e55","timestamp":"2026-11-02T10:00:00Z","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    // The compaction is so far back that a list does not read it.
    let lines = [
        response("a1", "u0", 160_000),
        boundary.to_owned(),
        response("a2", "c1", 20_000),
        said("u1", "a2", &text),
        response("a3", "u1", 110_000),
        said("u2", "a3", "Go on."),
        response("a4", "u2", 110_100),
    ];
    let log = folder.join("5e550000-0000-4000-8000-000000000001.jsonl");
    fs::write(&log, lines.join("\n") + "\n").unwrap();
    // Nothing is kept of a log that may still be written to.
    let hour_ago = SystemTime::now() - Duration::from_secs(3_600);
    let file = fs::File::options().append(true).open(log).unwrap();
    file.set_modified(hour_ago).unwrap();
    let list = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ctxgauge"));
        command.env_clear().env("HOME", home.path());
        let output = command.args(["ls", "--json"]).output().unwrap();
        let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let session = &list["sessions"][0];
        (session["trigger"].as_u64(), session["final"] == true)
    };
    let (trigger, is_final) = list();
    assert!(trigger != Some(167_766) && !is_final, "{trigger:?}");
    let mut terminal = Terminal::open(home.path(), &[], (140, 40));
    terminal.wait_for("the trigger of the whole log", |screen| {
        screen.contains(" 66%")
    });
    terminal.write("q");
    assert_eq!(terminal.wait_for_end().exit_code(), 0);
    assert_eq!(list(), (Some(167_766), true));
}
