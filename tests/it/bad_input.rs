//! The commands that agents and bars run, with what must not harm them: input that is cut, a full disk, logs that are none.

use crate::support::claude::{Home, ID, pass};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A hook that has the time it needs, on any machine.
const HOOK: [&str; 3] = ["hook", "--within", "600000"];

fn prompt(home: &Home) -> Value {
    json!({"session_id": ID, "transcript_path": home.log(), "cwd": "/shop", "hook_event_name": "UserPromptSubmit",
        "prompt": "Go on."})
}

/// The commands, what each is passed, and a part of what it prints then.
fn all(home: &Home) -> [(Vec<&'static str>, String, &'static str); 3] {
    [
        (
            vec!["statusline"],
            home.input(json!(166_000)).to_string(),
            "166.0k known",
        ),
        (
            vec!["status", "--session", ID],
            String::new(),
            "166.0k known",
        ),
        (HOOK.to_vec(), prompt(home).to_string(), "of 167k trigger"),
    ]
}

/// Every file below a folder, with its content.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(self::files(&path));
        } else {
            let content = fs::read(&path).unwrap();
            files.insert(path, content);
        }
    }
    files
}

/// Their decoders are tried with a cut at each byte.
#[test]
fn input_that_is_cut_costs_a_sentence_and_leaves_nothing() {
    let home = Home::with_log(166_000);
    let before = files(home.path());
    for (command, input, _) in all(&home) {
        for end in (0..input.len()).step_by(29) {
            let part = input.as_bytes().get(..end).unwrap();
            let output = home.program(&command).input(part).output();
            let lines = |bytes: &[u8]| String::from_utf8_lossy(bytes).lines().count();
            let printed = usize::from(command[0] == "statusline");
            assert_eq!(output.status.code(), Some(0), "{command:?} {end}");
            assert_eq!(
                (lines(&output.stdout), lines(&output.stderr)),
                (printed, 1),
                "{command:?} {end}: {output:?}"
            );
        }
    }
    assert_eq!(files(home.path()), before);
}

#[test]
fn nothing_is_written_but_our_own_state() {
    let home = Home::with_log(166_000);
    let before = files(home.path());
    for (command, input, expected) in all(&home) {
        let output = home.program(&command).input(input).output();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(printed.contains(expected), "{command:?}: {output:?}");
    }
    let state = home.path().join(".local/state/ctxgauge");
    let (ours, others): (BTreeMap<_, _>, BTreeMap<_, _>) = files(home.path())
        .into_iter()
        .partition(|(path, _)| path.starts_with(&state));
    assert_eq!(others, before);
    assert_eq!(ours.len(), 2, "of the client and of the hook: {ours:?}");
}

/// No file can be longer than nothing.
#[cfg(unix)]
#[test]
fn a_full_disk_costs_a_sentence_and_leaves_nothing_unfinished() {
    let home = Home::with_log(166_000);
    let full = "ulimit -f 0; exec \"$0\" \"$@\"";
    for (command, input, expected) in all(&home) {
        let mut shell = crate::support::in_a_shell(full, &home.process(&command));
        let output = pass(&mut shell, input.as_bytes());
        assert_eq!(output.status.code(), Some(0), "{command:?}: {output:?}");
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(printed.contains(expected), "{command:?}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        // `status` keeps nothing.
        let sentences = usize::from(command[0] != "status");
        assert_eq!(said.lines().count(), sentences, "{command:?}: {said}");
        assert!(said.lines().all(|line| line.contains("could")), "{said}");
    }
    let state = home.path().join(".local");
    let left = if state.exists() {
        files(&state)
    } else {
        BTreeMap::new()
    };
    assert_eq!(left, BTreeMap::new());
}

#[cfg(unix)]
#[test]
fn what_is_no_log_and_no_id_is_no_session_of_a_bar() {
    use crate::support::claude::log;
    let home = Home::new();
    let status = |arguments: &[&str]| {
        let output = home.program(&["status", "-v"]).args(arguments).output();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {output:?}");
        assert_eq!(output.stdout, b"\n", "{arguments:?}");
        String::from_utf8(output.stderr).unwrap()
    };
    fs::write(home.path().join("elsewhere.jsonl"), log(120_000)).unwrap();
    for id in ["", "../../../elsewhere", "/etc/passwd", "\u{1b}[2J"] {
        let how = status(&["--session", id]);
        assert_eq!(how.lines().count(), 1, "{id:?}: {how}");
        assert!(!how.contains('\u{1b}'), "{how:?}");
    }
    nix::unistd::mkfifo(&home.log(), nix::sys::stat::Mode::S_IRWXU).unwrap();
    status(&["--session", ID]);
    status(&["--cwd", "/shop"]);
}
