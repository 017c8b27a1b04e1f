//! The monitor in a terminal of its own, as a user runs it, watched from outside.

use super::measure::{bytes_read, peak_memory, processor_time};
use super::screen::Screen;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long nothing may happen until a monitor counts as settled.
const QUIET: Duration = Duration::from_millis(1_500);
/// No monitor works longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running monitor.
pub struct Monitor {
    screen: Screen,
}

/// What a monitor has used so far.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    pub cpu: Duration,
    /// Bytes read.
    pub read: u64,
    /// Bytes written to the terminal.
    pub drawn: u64,
    /// Most bytes of memory that were resident.
    pub peak: u64,
}

impl Monitor {
    /// Opens it on a home, with its caches and state in another folder.
    pub fn open(home: &Path, own: &Path) -> Monitor {
        let screen = Screen::start_with(env!("CARGO_BIN_EXE_ctxgauge"), &[], home, own);
        Monitor { screen }
    }

    /// Waits until it has read what it wants to. Returns what it had used when the quiet began.
    pub fn settle(&mut self) -> Used {
        let begun = Instant::now();
        let mut last = (Instant::now(), self.used());
        while last.0.elapsed() < QUIET {
            assert!(begun.elapsed() < PATIENCE, "the monitor does not settle");
            std::thread::sleep(Duration::from_millis(50));
            let now = self.used();
            // Each walk has some notices of the folders that it opens.
            let reads = now.read > last.1.read + 1_000;
            if now.cpu > last.1.cpu + Duration::from_millis(2) || reads {
                last = (Instant::now(), now);
            }
        }
        last.1
    }

    /// What it has used until now.
    pub fn used(&mut self) -> Used {
        let process = self.screen.process();
        self.screen.settle(Duration::ZERO);
        Used {
            cpu: processor_time(&process),
            read: bytes_read(&process),
            drawn: self.screen.written as u64,
            peak: peak_memory(&process),
        }
    }

    /// Waits until the screen satisfies a test at the end of a frame. Returns when that had come.
    pub fn wait_for(&mut self, test: impl Fn(&str) -> bool) -> Instant {
        self.screen.wait_for(|screen| test(&screen.contents()))
    }

    /// Quits as a user does.
    pub fn quit(self) {
        self.screen.quit();
    }
}
