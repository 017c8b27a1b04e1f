//! The progress of long work: shown on standard error while the work lasts, and said when a signal ends it.

use crate::Charset;
use ingest::bytes::sync::lock;
use ingest::log::LogFile;
use render::number::age;
use std::fmt;
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Work that is done before shows nothing.
const DELAY: Duration = Duration::from_millis(500);
/// The time between two drawings, also while nothing is done.
const TICK: Duration = Duration::from_millis(250);
/// The columns of the bar.
const BAR_COLUMNS: usize = 24;

/// How much of the work of a command is done. Its threads share it.
#[derive(Clone, Default)]
pub struct Progress(Arc<Work>);

/// How many logs there are, and how many of them were read; the same in bytes.
#[derive(Default)]
struct Work {
    logs: AtomicUsize,
    read: AtomicUsize,
    bytes: AtomicU64,
    read_bytes: AtomicU64,
    /// Locked while the terminal is written to, which may take any time: whoever reads logs does not need it.
    shown: Mutex<Shown>,
}

#[derive(Default)]
struct Shown {
    /// When logs began to be read; `None`: none are.
    since: Option<Instant>,
    is_drawn: bool,
}

impl Progress {
    /// Progress that is shown on standard error, which is a terminal, if the work takes long.
    pub fn on_terminal(charset: Charset) -> Progress {
        let progress = Progress::default();
        let shown = progress.clone();
        let show = move || {
            thread::sleep(DELAY);
            loop {
                shown.draw(charset);
                thread::sleep(TICK);
            }
        };
        // Without a thread nothing is shown.
        drop(thread::Builder::new().name("progress".into()).spawn(show));
        progress
    }

    /// Begins to read these logs.
    pub(crate) fn begin(&self, logs: &[LogFile]) -> Reading<'_> {
        let work = &self.0;
        work.logs.store(logs.len(), Ordering::Relaxed);
        work.read.store(0, Ordering::Relaxed);
        let bytes = logs.iter().map(weight).sum();
        work.bytes.store(bytes, Ordering::Relaxed);
        work.read_bytes.store(0, Ordering::Relaxed);
        lock(&work.shown).since = Some(Instant::now());
        Reading(self)
    }

    fn draw(&self, charset: Charset) {
        let mut shown = lock(&self.0.shown);
        if let Some(since) = shown.since {
            shown.is_drawn = true;
            let line = self.line(charset, since.elapsed());
            // A line that is too long for the terminal is cut, not wrapped.
            let _ = write!(io::stderr(), "\r\x1b[?7l{line}\x1b[K\x1b[?7h");
        }
    }

    /// A bar by the bytes of the logs, how many of these are read, and the time that is left.
    fn line(&self, charset: Charset, elapsed: Duration) -> String {
        let bytes = self.0.bytes.load(Ordering::Relaxed).max(1);
        let share = self.0.read_bytes.load(Ordering::Relaxed) as f32 / bytes as f32;
        let (full, end) = match charset {
            Charset::Unicode => ("━", "╸"),
            Charset::Ascii => ("=", ">"),
        };
        let mut bar = full.repeat((share * BAR_COLUMNS as f32) as usize);
        if share < 1.0 {
            bar.push_str(end);
        }
        let left = left(share, elapsed).map_or_else(String::new, |left| {
            format!(", about {} left", age(left.as_secs().cast_signed()))
        });
        format!("{bar:BAR_COLUMNS$} {self}{left}")
    }

    /// Removes what is shown.
    pub fn clear(&self) {
        let mut shown = lock(&self.0.shown);
        shown.since = None;
        if std::mem::take(&mut shown.is_drawn) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

impl fmt::Display for Progress {
    /// Shows the number of logs, and nothing if no logs are read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let read = self.0.read.load(Ordering::Relaxed);
        match self.0.logs.load(Ordering::Relaxed) {
            0 => Ok(()),
            all => write!(f, "{read} of {all} logs read"),
        }
    }
}

/// Logs that are being read. What is shown of that is removed at the end.
pub(crate) struct Reading<'p>(&'p Progress);

impl Reading<'_> {
    /// Reads one of the logs.
    pub(crate) fn log<T>(&self, log: &LogFile, read: impl FnOnce() -> T) -> T {
        let result = read();
        let work = &self.0.0;
        work.read.fetch_add(1, Ordering::Relaxed);
        work.read_bytes.fetch_add(weight(log), Ordering::Relaxed);
        result
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.clear();
    }
}

/// Returns the work that reading a log takes, relative to other logs.
fn weight(log: &LogFile) -> u64 {
    log.facts.len.max(1)
}

/// Returns the time that is left, at the speed so far; `None`: too little was done. The first logs are no measure,
/// because logs differ in size by a factor of thousands.
fn left(share: f32, elapsed: Duration) -> Option<Duration> {
    (0.05..1.0)
        .contains(&share)
        .then(|| elapsed.mul_f32((1.0 - share) / share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_that_is_left_is_known_after_a_part() {
        let elapsed = Duration::from_secs(10);
        assert_eq!(left(0.0, elapsed), None);
        assert_eq!(left(0.04, elapsed), None);
        assert_eq!(left(0.25, elapsed), Some(Duration::from_secs(30)));
        assert_eq!(left(1.0, elapsed), None);
    }

    #[test]
    fn the_bar_grows_with_the_bytes_that_are_read() {
        let progress = Progress::default();
        let line = |read: u64| {
            let work = &progress.0;
            work.logs.store(3, Ordering::Relaxed);
            work.bytes.store(100, Ordering::Relaxed);
            work.read_bytes.store(read, Ordering::Relaxed);
            progress.line(Charset::Ascii, Duration::from_secs(120))
        };
        let rest = "0 of 3 logs read";
        assert_eq!(line(0), format!("{:24} {rest}", ">"));
        let half = format!("{:24} {rest}, about 2m left", "============>");
        assert_eq!(line(50), half);
        assert_eq!(line(100), format!("{} {rest}", "=".repeat(24)));
    }
}
