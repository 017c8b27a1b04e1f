//! Terminals that cannot show the screens, and locales without UTF-8.

use crate::monitor::Monitor;
use crate::support::{ctxgauge, manifest_folder};
use ctxgauge::report::{self, DOCUMENT_FORMATS, FORMATS};
use std::fs;

#[test]
fn a_dumb_terminal_gets_advice_instead_of_screens() {
    let home = tempfile::tempdir().unwrap();
    for term in ["dumb", ""] {
        let environment = [("TERM", term)];
        let refused = Monitor::try_open(home.path(), &["--demo"], (80, 24), &environment);
        let said = format!("{:#}", refused.err().unwrap());
        assert!(
            said.contains("TERM") && said.contains("ctxgauge ls"),
            "{said}"
        );
    }
}

#[test]
fn a_locale_without_utf_8_gets_ascii() {
    let home = tempfile::tempdir().unwrap();
    let environment = [("LANG", "C")];
    let mut monitor = Monitor::open_with(home.path(), &["--demo"], (120, 30), &environment);
    monitor.wait_for_text("claude");
    monitor.press("??");
    monitor.wait_for_text("keys: sessions");
    monitor.press("qq");
    monitor.end().unwrap();
    assert!(monitor.bytes().is_ascii());
    let log =
        manifest_folder().join("tests/fixtures/claude-code/response_in_several_lines/log.jsonl");
    let printed = |locale: &[(&str, &str)], arguments: &[&str]| {
        let mut command = ctxgauge(home.path());
        command
            .envs(locale.iter().copied())
            .args(arguments)
            .arg(&log);
        let output = command.output();
        [output.stdout, output.stderr].concat()
    };
    assert!(!printed(&[], &["report"]).is_ascii());
    assert!(printed(&environment, &["report"]).is_ascii());
    let named = [("LANG", "C"), ("LC_CTYPE", "en_GB.UTF-8")];
    assert!(!printed(&named, &["report"]).is_ascii());
    assert!(printed(&environment, &["report", "--agent", "é"]).is_ascii());
}

#[test]
fn every_format_is_ascii_if_that_is_asked_for() {
    let home = tempfile::tempdir().unwrap();
    let fixture = "tests/fixtures/claude-code/response_in_several_lines/log.jsonl";
    let text = fs::read_to_string(manifest_folder().join(fixture)).unwrap();
    let log = home.path().join("log.jsonl");
    fs::write(&log, text.replace("shop", "shöp ▘▇0A")).unwrap();
    let log = log.to_str().unwrap();
    let commands: [(&[&str], &[report::OutputFormat]); 7] = [
        (&["report", log], &DOCUMENT_FORMATS),
        (&["diff", log, "--from", "1"], &DOCUMENT_FORMATS),
        (
            &["check", log, "--max-tokens", "1"],
            &report::check::FORMATS,
        ),
        (&["ls", log], &FORMATS),
        (&["ls", "--totals", "--by", "project", log], &FORMATS),
        (&["audit", log], &DOCUMENT_FORMATS),
        (&["search", "sh.p", log], &FORMATS),
    ];
    for (arguments, formats) in commands {
        for format in formats {
            let print = |more: &[&str]| {
                let mut command = ctxgauge(home.path());
                command.args(arguments).args(["--format", format.name]);
                command.args(more).output()
            };
            let what = format!("{arguments:?} as {}", format.name);
            let (all, ascii) = (print(&[]), print(&["--ascii"]));
            assert!(!all.stdout.is_empty(), "{what}: {:?}", all.stderr);
            assert!(ascii.stdout.is_ascii(), "{what}: {:?}", ascii.stdout);
        }
    }
}
