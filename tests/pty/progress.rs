//! The progress of long work: on a terminal while the work lasts, and nowhere else.

use crate::terminal::Terminal;
use ctxgauge::files::waiting::wait_for;
use std::fs::{self, File};
use std::path::Path;

const LOGS: usize = 30;
/// The size of a log that no machine reads before this is cut away again. Nothing of it is on the disk.
const ENDLESS: u64 = 1 << 40;

/// Makes logs of which one has no end yet.
fn make_logs(home: &Path) -> Endless {
    let log = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/claude-code/response_in_several_lines/log.jsonl"
    );
    let logs = home.join("logs");
    fs::create_dir(&logs).unwrap();
    for ix in 0..LOGS {
        fs::copy(log, logs.join(format!("{ix}.jsonl"))).unwrap();
    }
    let file = File::options().append(true).open(logs.join("0.jsonl"));
    let endless = Endless {
        file: file.unwrap(),
        end: fs::metadata(log).unwrap().len(),
    };
    endless.begin();
    endless
}

struct Endless {
    file: File,
    end: u64,
}

impl Endless {
    fn begin(&self) {
        self.file.set_len(ENDLESS).unwrap();
    }

    /// Has whoever reads it come to its end.
    fn end(&self) {
        self.file.set_len(self.end).unwrap();
    }
}

#[test]
fn progress_is_shown_until_the_work_is_done() {
    let home = tempfile::tempdir().unwrap();
    let endless = make_logs(home.path());
    let script = r#"
        "$CTXGAUGE" export "$HOME/logs" --what items -o "$HOME/items.csv"
        echo "ENDED $?"
        read -r line
        "$CTXGAUGE" audit "$HOME/logs" > "$HOME/audit.txt"
        echo "ENDED THEN $?"
    "#;
    let mut terminal = Terminal::open_shell(home.path(), script, (100, 30));
    let progress = format!(" of {LOGS} logs read");
    terminal.wait_for_text(&progress);
    endless.end();
    let text = terminal.wait_for_text("ENDED 0");
    assert!(!text.contains("logs read"), "{text}");
    endless.begin();
    terminal.write("\n");
    terminal.wait_for_text(&progress);
    endless.end();
    let text = terminal.wait_for_text("ENDED THEN 0");
    assert!(!text.contains("logs read"), "{text}");
}

#[test]
fn a_terminal_that_cannot_move_its_cursor_gets_no_progress() {
    let home = tempfile::tempdir().unwrap();
    let endless = make_logs(home.path());
    // Longer than it takes until progress is shown elsewhere.
    let script = r#"
        (sleep 1; echo > "$HOME/late") &
        TERM=dumb "$CTXGAUGE" export "$HOME/logs" --what items -o "$HOME/items.csv"
        echo "ENDED $?"
    "#;
    let terminal = Terminal::open_shell(home.path(), script, (100, 30));
    let late = home.path().join("late");
    wait_for("a second", || late.exists().then_some(()).ok_or("early"));
    endless.end();
    terminal.wait_for_text("ENDED 0");
    let shown = String::from_utf8_lossy(&terminal.bytes()).into_owned();
    assert!(!shown.contains("logs read"), "{shown}");
}

#[test]
fn ctrl_c_ends_long_work_and_the_script_around_it() {
    let home = tempfile::tempdir().unwrap();
    let _endless = make_logs(home.path());
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
    assert_eq!(left, ["logs"]);
}
