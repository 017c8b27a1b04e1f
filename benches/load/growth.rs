//! A log that grows by megabytes at once while its session is on the screen, as when an agent copies its history.

use crate::common::home::{Home, response};
use crate::common::rows::time;
use crate::common::screen::{Screen, tab};
use crate::frames::shown;
use crate::row_of;
use std::fs::OpenOptions;
use std::io::Write;
use std::time::{Duration, Instant};

const LOGS: usize = 50;
const BYTES: usize = 18_000_000;
/// So often, each time by as much.
const TIMES: usize = 3;
/// After it is shown, keys are pressed for so long: what is found out about it takes longer.
const AFTERWARDS: Duration = Duration::from_secs(1);
const PATIENCE: Duration = Duration::from_secs(20);

/// Prints how long keys take meanwhile.
pub fn measure() {
    let home = Home::new(LOGS, 60_000, Duration::ZERO);
    let mut screen = Screen::start(env!("CARGO_BIN_EXE_ctxgauge"), &["--fresh"], home.path());
    screen.wait_for(|screen| screen.contents().contains("project-0 "));
    screen.settle(Duration::from_secs(1));
    for key in ["/", "project-0", "\r", "\r"] {
        screen.press(key);
        screen.settle(Duration::from_millis(300));
    }
    screen.settle(Duration::from_secs(1));
    let (mut keys, mut frames) = (Vec::new(), Vec::new());
    for round in 0..TIMES {
        let first = 800 * 10 * (1 + round);
        let (lines, last) = lines(first);
        let known = shown(last);
        let mut file = OpenOptions::new().append(true).open(&home.logs[0]).unwrap();
        file.write_all(lines.as_bytes()).unwrap();
        let written = Instant::now();
        let mut seen: Option<Instant> = None;
        while seen.is_none_or(|seen| seen.elapsed() < AFTERWARDS) {
            assert!(
                written.elapsed() < PATIENCE,
                "{known} is never shown:\n{}",
                screen.parser.screen().contents()
            );
            keys.push(screen.try_key("\t", PATIENCE, tab).unwrap());
            if seen.is_none() && screen.parser.screen().contents().contains(&known) {
                seen = Some(Instant::now());
                frames.push(written.elapsed());
            }
        }
    }
    screen.quit();
    let frames: Vec<String> = frames.into_iter().map(time).collect();
    println!(
        "{BYTES} bytes at once to their frame: {}",
        frames.join(", ")
    );
    let megabytes = BYTES / 1_000_000;
    row_of(
        &format!("a key while the log on the screen grows by {megabytes} MB at once"),
        "≤ 50 ms",
        keys,
    );
}

/// Responses of these numbers, and the last of them.
fn lines(first: usize) -> (String, usize) {
    let (mut lines, mut n) = (String::new(), first);
    while lines.len() < BYTES {
        lines += &response(n, 0, 3_000);
        n += 1;
    }
    (lines, n - 1)
}
