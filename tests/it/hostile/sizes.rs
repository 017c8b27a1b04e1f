//! Terminals of any size, resized all the time, on every screen.

use super::screen::Screen;
use crate::support::manifest_folder;
use ctxgauge::ingest::discover::Scanner;
use ctxgauge::ingest::discover::roots::SearchRoot;
use ctxgauge::ingest::log::reader::read_whole;
use ctxgauge::tokens::Counter;
use ctxgauge::tui::app::Msg;
use ctxgauge::{agents, config};
use std::sync::Arc;

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
    ("pp⏎", "ppp⏎"),
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
