//! From an append to the frame that shows it.

use crate::common::home::response;
use crate::common::screen::Screen;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

const PROJECT: &str = ".claude/projects/-home-ada-project-timed";
/// Numbers of responses count from 0 again after so many: what they show does, too.
const AGAIN: usize = 800;

/// Appends to the session of this number until the time is over, never in step with the frames. Returns how long each
/// append took to its frame.
pub fn appends(
    screen: &mut Screen,
    home: &Path,
    session: usize,
    length: Duration,
) -> Vec<Duration> {
    let path = home
        .join(PROJECT)
        .join(format!("{session:08x}-0000-4000-8000-000000000000.jsonl"));
    fs::create_dir_all(home.join(PROJECT)).unwrap();
    let project = format!("project-{session} ");
    let begun = Instant::now();
    let mut took = Vec::new();
    for n in 0.. {
        if begun.elapsed() > length {
            break;
        }
        let line = response(n, session, 300);
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .open(&path)
            .unwrap();
        file.write_all(line.as_bytes()).unwrap();
        let written = Instant::now();
        let known = format!(" {} ", shown(n));
        let at = screen.wait_for(|screen| {
            let contents = screen.contents();
            let mut rows = contents.lines();
            rows.any(|row| row.contains(&project) && row.contains(&known))
        });
        took.push(at - written);
        screen.settle_for(Duration::from_millis(60 + (n as u64 * 7) % 37));
    }
    // A file has to be found first.
    took.remove(0);
    took
}

/// The known tokens after the response of this number, as the screens show them.
pub fn shown(n: usize) -> String {
    format!("{:.1}k", (10_105 + 190 * (n % AGAIN)) as f64 / 1e3)
}
