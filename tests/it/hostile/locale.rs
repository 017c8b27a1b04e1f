//! Terminals that cannot show the screens, and locales without UTF-8.

use crate::support::{ctxgauge, manifest_folder};
use crate::terminal::Terminal;

#[cfg(unix)]
#[test]
fn a_dumb_terminal_gets_advice_instead_of_screens() {
    let home = tempfile::tempdir().unwrap();
    for term in ["dumb", ""] {
        let mut terminal =
            Terminal::open_with(home.path(), &["--demo"], (80, 24), &[("TERM", term)]);
        assert_eq!(terminal.wait_for_end().exit_code(), 1);
        let text = terminal.text().replace('\n', " ");
        assert!(
            text.contains("TERM") && text.contains("ctxgauge ls"),
            "{text}"
        );
        assert!(!terminal.bytes().contains(&0x1b), "{text}");
    }
}

#[cfg(unix)]
#[test]
fn a_locale_without_utf_8_gets_ascii() {
    let home = tempfile::tempdir().unwrap();
    let environment = [("LANG", "C")];
    let mut terminal = Terminal::open_with(home.path(), &["--demo"], (120, 30), &environment);
    terminal.wait_for_text("claude");
    terminal.press("?");
    terminal.wait_for_text("keys: sessions");
    terminal.press("qq");
    terminal.wait_for_end();
    assert!(terminal.bytes().is_ascii());
    let log =
        manifest_folder().join("tests/fixtures/claude-code/response_in_several_lines/log.jsonl");
    let printed = |locale: &[(&str, &str)], arguments: &[&str]| {
        let mut command = ctxgauge(home.path());
        command
            .envs(locale.iter().copied())
            .args(arguments)
            .arg(&log);
        let output = command.output().unwrap();
        [output.stdout, output.stderr].concat()
    };
    assert!(!printed(&[], &["report"]).is_ascii());
    assert!(printed(&environment, &["report"]).is_ascii());
    let named = [("LANG", "C"), ("LC_CTYPE", "en_GB.UTF-8")];
    assert!(!printed(&named, &["report"]).is_ascii());
    assert!(printed(&environment, &["report", "--agent", "é"]).is_ascii());
}
