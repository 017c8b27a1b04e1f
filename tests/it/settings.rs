//! What the user sets, by file, flag and key, and what is remembered of it.

use crate::monitor::Monitor;
use crate::support::ctxgauge;
use crossterm::event::KeyCode;
use std::fs;
use std::path::{Path, PathBuf};

const LOG: &str = "{\"type\":\"user\",\"uuid\":\"u1\",\"parentUuid\":null,\"sessionId\":\"s1\",\
    \"cwd\":\"/home/dev/shop\",\"version\":\"2.1.39\",\"timestamp\":\"2026-03-14T15:00:00Z\",\
    \"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n";

/// A home with a session.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".claude/projects/-home-dev-shop");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join("5e550000-0000-4000-8000-000000000001.jsonl"),
        LOG,
    )
    .unwrap();
    home
}

fn configure(home: &Path, text: &str) {
    let folder = home.join(".config/ctxgauge");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), text).unwrap();
}

fn state(home: &Path) -> PathBuf {
    home.join(".local/state/ctxgauge/state.toml")
}

#[test]
fn a_session_of_a_newer_version_is_marked_until_the_user_names_that_version() {
    let home = home();
    let log = home
        .path()
        .join(".claude/projects/-home-dev-shop/5e550000-0000-4000-8000-000000000001.jsonl");
    fs::write(&log, LOG.replace("2.1.39", "999.1.0")).unwrap();
    let report = || {
        let output = ctxgauge(home.path()).arg("report").arg(&log).output();
        String::from_utf8(output.stdout).unwrap()
    };
    let marked = report();
    let mark = "written by 999.1.0; rules as of ";
    assert!(marked.contains(mark), "{marked}");
    let mut monitor = open(home.path(), &[]);
    monitor.press_key(KeyCode::Enter);
    monitor.wait_for_text("999.1.0 (rules as of ");
    configure(home.path(), "");
    let own = home.path().join(".config/ctxgauge/models.toml");
    fs::write(own, "[proven.claude-code]\nversion = \"999.1.0\"\n").unwrap();
    let unmarked = report();
    assert!(
        unmarked.contains("hello") && !unmarked.contains("rules as of"),
        "{unmarked}"
    );
}

fn open(home: &Path, arguments: &[&str]) -> Monitor {
    let mut monitor = Monitor::open(home, arguments, (120, 30));
    monitor.wait_for_text("shop");
    monitor
}

fn quit(mut monitor: Monitor, keys: &str) {
    monitor.press(keys);
    monitor.end().unwrap();
}

#[test]
fn what_was_set_on_screen_is_there_the_next_time() {
    let home = home();
    let mut monitor = open(home.path(), &[]);
    monitor.press("ss⏎");
    monitor.wait_for_text("sort needs you");
    quit(monitor, "q");
    open(home.path(), &[]).wait_for_text("sort needs you");
    open(home.path(), &["--fresh"]).wait_for_text("sort recent");
}

#[test]
fn the_session_that_was_open_last_is_one_key_away() {
    let home = home();
    let mut monitor = open(home.path(), &[]);
    monitor.press("⏎");
    monitor.wait_for_text("hello");
    monitor.wait_for("the session alone", |screen| !screen.contains("1 session"));
    quit(monitor, "q");
    // The list opens, and one key leads there.
    let mut monitor = open(home.path(), &[]);
    monitor.wait_for_text("1 session");
    monitor.press("⇥");
    monitor.wait_for("the session alone", |screen| {
        screen.contains("hello") && !screen.contains("1 session")
    });
}

#[test]
fn a_look_around_leaves_no_trace() {
    let home = home();
    quit(open(home.path(), &[]), "?qq");
    quit(open(home.path(), &["--fresh"]), "ss⏎q");
    assert!(!state(home.path()).exists());
}

#[test]
fn a_broken_memory_is_told_of_and_mended() {
    let home = home();
    let path = state(home.path());
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "sessions = [").unwrap();
    let mut monitor = open(home.path(), &[]);
    monitor.wait_for_text("state.toml");
    quit(monitor, "ss⏎q");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains("needs you"), "{text}");
}

#[test]
fn keys_of_ones_own_hold_in_footer_and_help() {
    let home = home();
    configure(
        home.path(),
        "[keys]\nsort = \"f5\"\nquit = [\"Q\", \"ctrl-c\"]\n",
    );
    let mut monitor = open(home.path(), &[]);
    monitor.wait_for_text("F5 sort");
    monitor.press_key(KeyCode::F(5));
    monitor.wait_for_text("kept for the next run");
    monitor.press_key(KeyCode::F(5));
    monitor.press("⏎");
    monitor.wait_for_text("sort needs you");
    quit(monitor, "Q");
}

#[test]
fn what_cannot_be_is_an_error_at_the_start() {
    for (text, why) in [
        ("[keys]\noverview.sort = \"?\"\n", "'?' is bound to both"),
        (
            "theme = \"drak\"\n",
            "unknown theme 'drak'; choose one of: terminal",
        ),
        ("[alerts]\nshare = [80]\n", "up to 1"),
        ("oversized = \"4 %%\"\n", "share of the window"),
    ] {
        let home = home();
        configure(home.path(), text);
        let output = ctxgauge(home.path()).output();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            !output.status.success() && said.contains(why),
            "{text}: {said}"
        );
    }
}

#[test]
fn a_theme_goes_as_far_as_the_terminal_and_the_user_let_it() {
    let home = home();
    let own = home.path().join(".config/ctxgauge/themes");
    fs::create_dir_all(&own).unwrap();
    fs::write(own.join("mine.toml"), "[styles]\ntext = \"on #ff0000\"\n").unwrap();
    configure(home.path(), "theme = \"dark\"\n");
    let background = |arguments: &[&str]| {
        let monitor = open(home.path(), arguments);
        monitor.background((0, 0))
    };
    // The environment names no 24 bits.
    assert_eq!(background(&[]), vt100::Color::Idx(234));
    assert_eq!(background(&["--theme", "mine"]), vt100::Color::Idx(196));
    assert_eq!(
        background(&["--theme", "monochrome"]),
        vt100::Color::Default
    );
}

#[test]
fn shells_complete_what_there_is() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let home = tempfile::tempdir().unwrap();
        let output = ctxgauge(home.path()).args(["completions", shell]).output();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && script.contains("audit"),
            "{shell}"
        );
    }
}

#[cfg(unix)]
/// A home with two sessions of pi, one of them of an id that a shell would run.
fn home_with_odd_ids() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join(".pi/agent/sessions/--w--");
    fs::create_dir_all(&folder).unwrap();
    for (name, id) in [("one", "5e55"), ("two", "$(touch ran) `touch ran`")] {
        let log = format!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"2026-06-02T06:00:00Z","cwd":"/w"}}
{{"type":"message","id":"a","parentId":null,"timestamp":"2026-06-02T06:00:01Z","message":{{"role":"user","content":"Go."}}}}
"#
        );
        fs::write(folder.join(name).with_extension("jsonl"), log).unwrap();
    }
    home
}

#[cfg(unix)]
#[test]
fn a_shell_completes_sessions_and_runs_nothing_in_their_ids() {
    let home = home_with_odd_ids();
    let complete = |word: &str| {
        let line = format!(
            "bash -c 'source <(ctxgauge completions bash); COMP_WORDS=(ctxgauge report --session \"{word}\"); COMP_CWORD=3; \
             _ctxgauge ctxgauge \"{word}\" --session; printf \"%s\\n\" \"${{COMPREPLY[@]}}\"'"
        );
        crate::transcripts::run(&line, home.path())
    };
    assert_eq!(complete("5"), "5e55\n");
    let odd = r"\$\(touch\ ran\)\ \`touch\ ran\`";
    assert_eq!(complete(""), format!("{odd}\n5e55\n"));
    assert!(!home.path().join("ran").exists());
    for (shell, list) in [
        (
            "zsh",
            r#":SESSION:{compadd -- ${(fu)"$(ctxgauge ls --format "{id}" 2>/dev/null)"}}'"#,
        ),
        (
            "fish",
            r#" -r -f -a '(ctxgauge ls --format "{id}" 2>/dev/null)'"#,
        ),
    ] {
        let script = crate::transcripts::run(&format!("ctxgauge completions {shell}"), home.path());
        assert!(script.contains(list), "{shell}");
    }
}
