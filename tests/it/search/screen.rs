//! A search of the texts of all sessions on the screens, and a report in the clipboard.

use crate::monitor::Monitor;
use crate::support::manifest_folder;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use crossterm::event::KeyCode;
use std::fs;

/// A home with a session of Claude Code and one of Codex.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for (folder, name, case) in [
        (
            ".claude/projects/-home-dev-shop",
            "5e550000-0000-4000-8000-000000000001.jsonl",
            "claude-code/response_in_several_lines",
        ),
        (
            ".codex/sessions/2026/11/20",
            "rollout-2026-11-20T10-00-00-77777777-7777-7777-8777-777777777777.jsonl",
            "codex/usage-record",
        ),
    ] {
        let folder = home.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let log = manifest_folder()
            .join("tests/fixtures")
            .join(case)
            .join("log.jsonl");
        fs::copy(log, folder.join(name)).unwrap();
    }
    home
}

#[test]
fn texts_of_all_sessions_are_searched_and_opened_at_the_match() {
    let home = home();
    let mut monitor = Monitor::open(home.path(), &[], (120, 30));
    monitor.wait_for_text("2 sessions");
    monitor.press("fconnect(⏎");
    monitor.wait_for_text("unclosed group");
    monitor.press("\"⏎");
    monitor.wait_for_text("unclosed group");
    // As a text.
    monitor.press_key(KeyCode::Tab);
    monitor.press("⏎");
    monitor.wait_for("the results", |screen| {
        screen.contains("1 item") && screen.contains("searched 2 of 2 sessions")
    });
    monitor.press("⏎");
    monitor.wait_for("the text", |screen| {
        screen.contains("'connect(\"' 1 of ") && screen.contains("serve(pool)")
    });
    monitor.press("⏎");
    monitor.wait_for("its session", |screen| {
        let mut rows = screen.lines();
        rows.any(|row| row.starts_with('▌') && row.contains("T Read"))
    });
    monitor.press("⎋");
    monitor.wait_for_text("searched 2 of 2 sessions");
    monitor.press("⎋");
    monitor.wait_for_text("HEADROOM");

    // Only what the list shows is searched.
    monitor.press("/agent:codex⏎f");
    monitor.press_key(KeyCode::Tab);
    monitor.press(".⏎");
    monitor.wait_for("the results", |screen| {
        screen.contains("searched 1 of 1 session")
            && screen.contains("1 session of the list: agent:codex")
    });
    monitor.press("q");
    monitor.end().unwrap();
}

#[test]
fn a_report_is_copied_with_the_window_that_was_set() {
    let home = home();
    let mut monitor = Monitor::open(home.path(), &[], (120, 30));
    monitor.wait_for_text("2 sessions");
    monitor.press("/agent:claude⏎w777k⏎xy");
    monitor.wait_for_text("sent to the terminal's clipboard: # A session of `claude`");
    monitor.press("q");
    monitor.end().unwrap();
    let bytes = String::from_utf8(monitor.bytes()).unwrap();
    let (_, copied) = bytes.split_once("\x1b]52;c;").unwrap();
    let (copied, _) = copied.split_once('\x07').unwrap();
    let copied = String::from_utf8(STANDARD.decode(copied).unwrap()).unwrap();
    assert!(copied.starts_with("# A session of `claude`"), "{copied}");
    assert!(copied.contains("Window 777.0k (set here)"), "{copied}");
    let texts = ["where is the pool made?", "/home/dev/shop"];
    assert!(!texts.iter().any(|text| copied.contains(text)), "{copied}");
}
