//! `ctxgauge setup`, and the status line of another tool beside ours.

use crate::support::claude::{Home, pass};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

impl Home {
    fn setup(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
        let mut command = self.process(&["setup"]);
        let output = command.args(arguments).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        (
            output.status.code(),
            text(&output.stdout),
            text(&output.stderr),
        )
    }

    fn settings(&self) -> PathBuf {
        self.path().join(".claude/settings.json")
    }

    /// The names of the files in Claude Code's folder.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.path().join(".claude")).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

const SETTINGS: &str = "{\n\t\"zebra\": 1,\n\t\"model\": \"opus\"\n}\n";

#[test]
fn a_change_is_shown_made_when_asked_and_taken_back_byte_for_byte() {
    let home = Home::new();
    fs::write(home.settings(), SETTINGS).unwrap();
    let (code, shown, _) = home.setup(&["claude-code", "--statusline", "--hooks"]);
    assert_eq!(code, Some(0));
    assert!(
        shown.contains("--- ~/.claude/settings.json\n+++ ~/.claude/settings.json\n"),
        "{shown}"
    );
    assert!(shown.contains("-    \"model\": \"opus\"\n"), "{shown}");
    assert!(
        shown.contains("ctxgauge statusline\"") && shown.contains("Nothing was written."),
        "{shown}"
    );
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), SETTINGS);
    assert_eq!(home.names(), ["projects", "settings.json"]);

    let (code, written, _) = home.setup(&["claude", "--statusline", "--hooks", "--write"]);
    assert_eq!(code, Some(0));
    assert!(
        written.contains("The original is ~/.claude/settings.json.ctxgauge-"),
        "{written}"
    );
    let text = fs::read_to_string(home.settings()).unwrap();
    assert!(
        text.starts_with("{\n\t\"zebra\": 1,\n\t\"model\": \"opus\",\n\t\"statusLine\""),
        "{text}"
    );
    let (_, again, _) = home.setup(&["claude-code", "--hooks", "--write"]);
    assert_eq!(again, "Everything is set up already.\n");

    let (code, undone, _) = home.setup(&["claude-code", "--undo", "--write"]);
    assert_eq!(code, Some(0), "{undone}");
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), SETTINGS);
    assert_eq!(home.names(), ["projects", "settings.json"]);
    assert_eq!(
        home.setup(&["claude-code", "--undo"]).1,
        "setup has added nothing here.\n"
    );
}

/// What a command in settings prints, as an agent runs it.
fn run(command: &Value, input: &Value, home: &Home) -> String {
    let mut shell = std::process::Command::new("sh");
    let shell = shell.args(["-c", command.as_str().unwrap()]).env_clear();
    let output = pass(shell.env("HOME", home.path()), input.to_string().as_bytes());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn what_was_entered_is_what_the_agent_runs() {
    let home = Home::with_log(166_000);
    home.setup(&["claude-code", "--statusline", "--hooks", "--write"]);
    let settings: Value = serde_json::from_slice(&fs::read(home.settings()).unwrap()).unwrap();
    let line = run(
        &settings["statusLine"]["command"],
        &home.input(json!(166_000)),
        &home,
    );
    assert!(line.contains("166.0k known"), "{line}");
    let hook = &settings["hooks"]["PreCompact"][0]["hooks"][0];
    assert_eq!(hook["type"], "command");
    let event = json!({"session_id": "s", "transcript_path": home.log(), "hook_event_name": "PreCompact", "trigger": "auto"});
    assert_eq!(run(&hook["command"], &event, &home), "");
}

/// What the program entered under another name is run by the agent, and taken out by the program under its own.
#[cfg(unix)]
#[test]
fn a_program_of_another_name_is_found_again() {
    let home = Home::with_log(166_000);
    fs::write(home.settings(), SETTINGS).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let renamed = folder.path().join("gauge 2");
    fs::copy(env!("CARGO_BIN_EXE_ctxgauge"), &renamed).unwrap();
    let mut setup = std::process::Command::new(&renamed);
    setup.args(["setup", "claude-code", "--statusline", "--hooks", "--write"]);
    let output = setup.env_clear().env("HOME", home.path()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = fs::read_to_string(home.settings()).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    let hook = &settings["hooks"]["UserPromptSubmit"][0]["hooks"][0];
    let line = run(
        &settings["statusLine"]["command"],
        &home.input(json!(166_000)),
        &home,
    );
    assert!(line.contains("166.0k known"), "{line}");
    let event =
        json!({"session_id": "s", "transcript_path": home.log(), "hook_event_name": "Stop"});
    assert_eq!(run(&hook["command"], &event, &home), "");
    drop(folder);
    fs::write(home.settings(), text.replace("opus", "haiku")).unwrap();
    home.setup(&["claude-code", "--undo", "--write"]);
    let text = fs::read_to_string(home.settings()).unwrap();
    assert_eq!(text, SETTINGS.replace("opus", "haiku"));
}

#[test]
fn another_status_line_is_run_too() {
    let home = Home::with_log(50_000);
    let theirs = r#"{"statusLine": {"type": "command", "command": "printf 'theirs %s\n\n' \"$(wc -c | tr -d ' ')\"", "padding": 0}}"#;
    fs::write(home.settings(), theirs).unwrap();
    let (code, _, why) = home.setup(&["claude-code", "--write"]);
    assert_eq!(code, Some(1));
    assert!(
        why.contains("another status line is set") && why.contains("--chain"),
        "{why}"
    );
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), theirs);
    home.setup(&["claude-code", "--chain", "--write"]);
    let settings: Value = serde_json::from_slice(&fs::read(home.settings()).unwrap()).unwrap();
    assert_eq!(settings["statusLine"]["padding"], 0);
    let command = settings["statusLine"]["command"]
        .as_str()
        .unwrap()
        .to_owned();
    let input = home.input(json!(50_000)).to_string();
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", &command])
        .env_clear()
        .env("HOME", home.path())
        .env("PATH", std::env::var_os("PATH").unwrap());
    let output = pass(&mut shell, input.as_bytes());
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(lines[0], format!("theirs {}", input.len()));
    assert!(lines[1].contains("50.0k known"), "{lines:?}");
    home.setup(&["claude-code", "--undo", "--write"]);
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), theirs);
}

#[test]
fn a_chained_status_line_that_fails_costs_its_lines_alone() {
    let home = Home::with_log(50_000);
    let input = home.input(json!(50_000)).to_string();
    for chained in ["exit 7", "nonexistent-program 2>/dev/null", "kill -9 $$"] {
        let mut command = home.program(&["statusline", "--chain", chained]);
        let output = command.input(input.as_str()).output();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let lines = String::from_utf8(output.stdout).unwrap();
        assert_eq!(lines.lines().count(), 1, "{lines}");
        assert!(lines.contains("50.0k known"));
    }
}

#[test]
fn what_cannot_be_set_up_is_said() {
    let home = Home::new();
    for (arguments, why) in [
        (&["claud"][..], "did you mean 'claude-code'?"),
        (
            &["aider"],
            "there is nothing to set up for 'aider'; there is for claude-code, codex",
        ),
        (
            &["codex", "--statusline"],
            "codex has no status line that can be set in a file; it has --hooks and --mcp",
        ),
        (
            &["pi", "--hooks"],
            "pi has no hooks that can be set in a file",
        ),
    ] {
        let (code, out, err) = home.setup(arguments);
        assert_eq!((code, out.as_str()), (Some(1), ""), "{arguments:?}");
        assert!(err.contains(why), "{arguments:?}: {err}");
    }
    fs::write(home.settings(), "{\"hooks\": ").unwrap();
    let (code, _, err) = home.setup(&["claude-code", "--hooks", "--write"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("not valid JSON"), "{err}");
    let (_, out, _) = home.setup(&["codex", "--hooks"]);
    assert!(
        out.contains("+++ ~/.codex/hooks.json") && out.contains("enter /hooks in Codex"),
        "{out}"
    );
    assert!(!home.path().join(".codex").exists());
}

#[test]
fn all_agents_are_listed_with_what_they_can_have() {
    let home = Home::new();
    let (code, before, _) = home.setup(&[]);
    assert_eq!(code, Some(0));
    let line = |list: &str, agent: &str| {
        let mut lines = list.lines();
        lines
            .find(|line| line.starts_with(agent))
            .unwrap()
            .to_owned()
    };
    assert_eq!(line(&before, "codex"), "codex        --hooks  --mcp");
    home.setup(&["codex", "--mcp", "--write"]);
    let (_, after, _) = home.setup(&[]);
    assert_eq!(
        line(&after, "codex"),
        "codex        --hooks  --mcp (set up)"
    );
    fs::write(home.settings(), "{\"statusLine\": {\"command\": \"x\"}}").unwrap();
    let (_, after, _) = home.setup(&[]);
    let expected =
        "claude-code  --statusline (another one is set)  --hooks  --mod  --mcp (by hand)";
    assert_eq!(line(&after, "claude-code"), expected);
}

/// The first that an agent has is meant if nothing is named; what is done by hand is said beside the rest.
#[test]
fn what_can_be_done_is_done_and_the_rest_is_said() {
    let home = Home::new();
    let (code, out, _) = home.setup(&["gemini-cli"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("\"BeforeAgent\""), "{out}");
    let (code, out, _) = home.setup(&["claude-code", "--hooks", "--mcp", "--write"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("Written: ~/.claude/settings.json."), "{out}");
    let program = env!("CARGO_BIN_EXE_ctxgauge");
    let by_hand = format!("`claude mcp add --scope user ctxgauge -- {program} mcp`");
    assert!(out.contains(&by_hand), "{out}");
    let (code, out, _) = home.setup(&["claude-code", "--mcp"]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("Claude Code keeps its servers"), "{out}");
    let (code, out, _) = home.setup(&["codex", "--statusline", "--mcp"]);
    assert_eq!(code, Some(0));
    assert!(out.contains("codex has no status line"), "{out}");
}

/// A client that another shell starts may have another `PATH`.
#[test]
fn the_program_is_entered_by_its_path_unless_its_name_is_asked_for() {
    let home = Home::new();
    let program = env!("CARGO_BIN_EXE_ctxgauge");
    let (_, out, _) = home.setup(&["claude-code"]);
    assert!(out.contains(&format!("\"{program} statusline\"")), "{out}");
    let (_, out, _) = home.setup(&["claude-code", "--by-name"]);
    assert!(out.contains("\"ctxgauge statusline\""), "{out}");
}

#[test]
fn taking_back_is_shown_first_and_says_what_it_leaves() {
    let home = Home::new();
    home.setup(&["claude-code", "--hooks", "--write"]);
    let text = fs::read_to_string(home.settings()).unwrap();
    let (_, shown, _) = home.setup(&["claude-code", "--undo"]);
    assert!(
        shown.contains("Nothing was written. The same with --write removes it."),
        "{shown}"
    );
    assert_eq!(fs::read_to_string(home.settings()).unwrap(), text);
    let mixed = text.replacen("ctxgauge hook\"", "ctxgauge hook; date\"", 1);
    fs::write(home.settings(), mixed).unwrap();
    let (_, undone, _) = home.setup(&["claude-code", "--undo", "--write"]);
    let left: Vec<&str> = undone
        .lines()
        .filter(|line| line.starts_with("Left in "))
        .collect();
    assert_eq!(left.len(), 1, "{undone}");
    assert!(left[0].contains("ctxgauge hook; date"), "{undone}");
    assert_eq!(
        home.names(),
        ["projects", "settings.json"],
        "no original is left"
    );
}

#[test]
fn escapes_in_settings_are_made_visible() {
    let home = Home::new();
    fs::write(home.settings(), "{\n  \"a\": \"\u{202e}b\u{9b}2J\"\n}\n").unwrap();
    let (_, shown, _) = home.setup(&["claude-code"]);
    assert!(
        shown.contains("\"a\": ") && !shown.contains(['\u{9b}', '\u{202e}']),
        "{shown}"
    );
    fs::write(
        home.settings(),
        "{\"statusLine\": {\"command\": \"x\u{9b}2J\"}}",
    )
    .unwrap();
    let (_, _, why) = home.setup(&["claude-code"]);
    assert!(!why.contains('\u{9b}'), "{why}");
}

#[cfg(unix)]
#[test]
fn a_file_that_is_none_and_a_folder_that_cannot_be_written_are_said() {
    let home = Home::new();
    nix::unistd::mkfifo(&home.settings(), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let (code, _, err) = home.setup(&["claude-code", "--write"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("named pipe"), "{err}");
    let home = Home::new();
    // A file in the place of the folder: this holds for every user.
    fs::write(home.path().join(".qwen"), "").unwrap();
    let (code, _, err) = home.setup(&["qwen-code", "--write"]);
    assert_eq!(code, Some(1));
    assert!(err.contains("cannot"), "{err}");
}
