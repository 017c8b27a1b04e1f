//! The progress of long work: on a terminal while the work lasts, and nowhere else.

use crate::terminal::Terminal;
use std::fs;
use std::path::Path;

/// More logs than are read in half a second, and than are audited in that time.
const LOGS: usize = 2_000;
const AUDITED: usize = 400;

fn make_logs(home: &Path) {
    let log = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/claude-code/response_in_several_lines/log.jsonl"
    );
    let log = fs::read(log).unwrap();
    for (folder, count) in [("logs", LOGS), ("audited", AUDITED)] {
        let logs = home.join(folder);
        fs::create_dir(&logs).unwrap();
        for ix in 0..count {
            fs::write(logs.join(format!("{ix}.jsonl")), &log).unwrap();
        }
    }
}

#[test]
fn progress_is_shown_until_the_work_is_done_or_ended() {
    let home = tempfile::tempdir().unwrap();
    make_logs(home.path());
    let script = r#"
        "$CTXGAUGE" export "$HOME/logs" --what items -o "$HOME/items.csv"
        echo "ENDED $?"
        read -r line
        "$CTXGAUGE" audit "$HOME/audited" > "$HOME/audit.txt"
        echo "ENDED THEN $?"
        read -r line
        TERM=dumb "$CTXGAUGE" ls --totals "$HOME/logs" > "$HOME/ls.txt"
        echo "ENDED AT LAST $?"
    "#;
    let mut terminal = Terminal::open_shell(home.path(), script, (100, 30));
    terminal.wait_for_text(&format!(" of {LOGS} logs read"));
    terminal.wait_for_text("ENDED 0");
    // It is gone.
    assert!(
        !terminal.text().contains("logs read"),
        "{}",
        terminal.text()
    );
    let before = terminal.bytes().len();
    terminal.write("\n");
    terminal.wait_for("progress", |screen| {
        screen.contains("logs read") || screen.contains("ENDED THEN 0")
    });
    terminal.wait_for_text("ENDED THEN 0");
    let audit = String::from_utf8(terminal.bytes()[before..].to_vec()).unwrap();
    assert!(
        audit.contains(&format!(" of {AUDITED} logs read")),
        "{audit}"
    );
    let before = terminal.bytes().len();
    terminal.write("\n");
    terminal.wait_for_text("ENDED AT LAST 0");
    let ls = String::from_utf8(terminal.bytes()[before..].to_vec()).unwrap();
    assert!(!ls.contains("logs read"), "{ls}");
}

#[test]
fn ctrl_c_ends_long_work_and_the_script_around_it() {
    let home = tempfile::tempdir().unwrap();
    make_logs(home.path());
    let script = r#"
        "$CTXGAUGE" export "$HOME/logs" --what items -o "$HOME/items.csv"
        echo "ENDED $?"
    "#;
    let mut terminal = Terminal::open_shell(home.path(), script, (100, 30));
    terminal.wait_for_text(&format!(" of {LOGS} logs read"));
    terminal.write("\x03");
    assert!(!terminal.wait_for_end().success());
    let text = terminal.text();
    assert!(text.contains("ctxgauge: ended by Ctrl-C: "), "{text}");
    assert!(text.contains("nothing was written"), "{text}");
    assert!(!text.contains("ENDED"), "{text}");
    let left = fs::read_dir(home.path()).unwrap().flatten();
    let mut left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    left.sort();
    assert_eq!(left, ["audited", "logs"]);
}
