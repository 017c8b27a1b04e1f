//! The progress of long work: shown on standard error while the work lasts, and said when a signal ends it.

use super::Charset;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use ingest::log::LogFile;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Work that is done before shows nothing.
const DELAY: Duration = Duration::from_millis(500);
/// The time between two drawings, also while nothing is done.
const TICK: Duration = Duration::from_millis(250);
/// A bar by the bytes of the logs, how many of these are read, and the time that is left.
const TEMPLATE: &str = "{bar:24} {logs}{left}";

/// The progress of a command's work. Its threads share it.
#[derive(Clone)]
pub struct Progress {
    /// Bytes of logs.
    bar: ProgressBar,
    logs: Arc<Logs>,
}

/// The number of logs, and the number of those that were read.
#[derive(Default)]
struct Logs {
    all: AtomicUsize,
    read: AtomicUsize,
}

impl Default for Progress {
    /// Creates a progress that is not shown.
    fn default() -> Progress {
        Progress {
            bar: ProgressBar::hidden(),
            logs: Arc::default(),
        }
    }
}

impl Progress {
    /// Progress that is shown on standard error, which is a terminal, if the work takes long.
    pub fn on_terminal(charset: Charset) -> Progress {
        let progress = Progress::default();
        progress.bar.set_style(style(charset, &progress.logs));
        let shown = progress.clone();
        let show = move || {
            thread::sleep(DELAY);
            shown.bar.set_draw_target(ProgressDrawTarget::stderr());
            loop {
                shown.draw();
                thread::sleep(TICK);
            }
        };
        // Without a thread nothing is shown.
        drop(thread::Builder::new().name("progress".into()).spawn(show));
        progress
    }

    /// Begins to read these logs.
    pub(crate) fn begin(&self, logs: &[LogFile]) -> Reading<'_> {
        self.logs.all.store(logs.len(), Ordering::Relaxed);
        self.logs.read.store(0, Ordering::Relaxed);
        self.bar.set_length(logs.iter().map(weight).sum());
        self.bar.reset();
        Reading(self)
    }

    fn draw(&self) {
        if self.logs.all.load(Ordering::Relaxed) > 0 && !self.bar.is_finished() {
            self.bar.tick();
        }
    }

    /// Removes what is shown.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl fmt::Display for Progress {
    /// Shows the number of logs, and nothing if no logs are read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.logs.fmt(f)
    }
}

impl fmt::Display for Logs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.all.load(Ordering::Relaxed) {
            0 => Ok(()),
            all => write!(
                f,
                "{} of {all} logs read",
                self.read.load(Ordering::Relaxed)
            ),
        }
    }
}

/// Logs that are being read. What is shown of that is removed at the end.
pub(crate) struct Reading<'p>(&'p Progress);

impl Reading<'_> {
    /// Reads one of the logs.
    pub(crate) fn log<T>(&self, log: &LogFile, read: impl FnOnce() -> T) -> T {
        let read = read();
        self.0.logs.read.fetch_add(1, Ordering::Relaxed);
        self.0.bar.inc(weight(log));
        read
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

fn style(charset: Charset, logs: &Arc<Logs>) -> ProgressStyle {
    let logs = Arc::clone(logs);
    let chars = match charset {
        Charset::Unicode => "━╸ ",
        Charset::Ascii => "=> ",
    };
    let left = |state: &ProgressState, out: &mut dyn fmt::Write| {
        if let Some(left) = left(state.fraction(), state.elapsed()) {
            let _ = write!(out, ", about {:#} left", HumanDuration(left));
        }
    };
    ProgressStyle::with_template(TEMPLATE)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars(chars)
        .with_key(
            "logs",
            move |_: &ProgressState, out: &mut dyn fmt::Write| {
                let _ = write!(out, "{logs}");
            },
        )
        .with_key("left", left)
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
}
