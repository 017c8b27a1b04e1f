//! Terminals of any size, resized all the time, on every screen.

use super::screen::Screen;
use crate::support::manifest_folder;
use crate::terminal::Terminal;
use ctxgauge::ingest::discover::Scanner;
use ctxgauge::ingest::reader::read_whole;
use ctxgauge::ingest::roots::SearchRoot;
use ctxgauge::tokens::Counter;
use ctxgauge::tui::app::Msg;
use ctxgauge::{agents, config};
use std::sync::Arc;
use std::time::Duration;

const SIZES: [(u16, u16); 14] = [
    (1, 1),
    (500, 200),
    (0, 0),
    (2, 2),
    (1, 200),
    (500, 1),
    (3, 7),
    (9, 4),
    (20, 10),
    (40, 12),
    (79, 23),
    (120, 5),
    (7, 60),
    (200, 60),
];

/// Keys that lead to each screen from the list, and back.
const SCREENS: [(&str, &str); 13] = [
    ("", ""),
    ("?", "⎋"),
    ("!", "⎋"),
    ("p", "pp"),
    ("/ab", "⎋⎋"),
    ("w1", "⎋"),
    ("⏎", "⎋"),
    ("⏎2", "⎋"),
    ("⏎3", "⎋"),
    ("⏎4", "⎋"),
    ("⏎6", "⎋"),
    ("⏎1⏎", "⎋⎋"),
    ("⏎r..", "⎋⎋"),
];

#[test]
fn every_screen_can_be_drawn_at_every_size() {
    let rules = Arc::new(config::rules().unwrap());
    let mut screen = Screen::new(&rules);
    for case in ["claude-code/compact_keeps_a_segment", "codex/sub-agent"] {
        let folder = manifest_folder().join("tests/fixtures").join(case);
        let roots = vec![SearchRoot::Given(folder)];
        let found = Scanner::new(roots, agents::ALL.to_vec(), |_| None).look();
        let log = &found.files[0];
        let sessions = read_whole(log, &Counter::new(), &rules).unwrap();
        screen.add(log, sessions);
    }
    for (there, back) in SCREENS {
        screen.app.update(Msg::Resize(100, 30));
        screen.press("the way there", there);
        for (columns, rows) in SIZES {
            screen.app.update(Msg::Resize(columns, rows));
            screen.frame(&format!("{there} at {columns}×{rows}"));
        }
        screen.press("the way back", back);
    }
}

/// Escape as terminals send it that do not leave it ambiguous: a lone byte that is read together with the next key,
/// as on a loaded machine, is Alt with that key.
const ESCAPE: &str = "\x1b[27u";

#[test]
fn a_terminal_that_is_resized_all_the_time_is_drawn_on_every_screen() {
    let home = tempfile::tempdir().unwrap();
    let mut terminal = Terminal::open(home.path(), &["--demo"], (100, 30));
    terminal.wait_for_text("claude");
    for keys in [
        "?", ESCAPE, "!", ESCAPE, "\r", "2", "3", "4", "6", "1", "r", "l", "\r",
    ] {
        terminal.press(keys);
        for size in SIZES.into_iter().filter(|size| *size != (0, 0)) {
            terminal.announce_size(size);
        }
    }
    terminal.resize((100, 30));
    terminal.press(ESCAPE);
    // Whatever screen the keys have led to, its last line names the keys.
    terminal.wait_for("a frame of that size", |text| text.contains("help"));
    // A key in a storm of sizes may close what is open on the screen instead, so it is pressed again.
    for _ in 0..20 {
        terminal.press("q");
        if terminal.ends_within(Duration::from_secs(1)) {
            break;
        }
    }
    assert!(terminal.wait_for_end().success());
}
