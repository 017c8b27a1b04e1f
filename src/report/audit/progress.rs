//! The progress of the audit, on standard error.

use std::io::{self, Write};
use std::time::{Duration, Instant};

/// How often the line is redrawn.
const TICK: Duration = Duration::from_millis(100);

/// Whether standard error shows the progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// Standard error is no terminal.
    Hidden,
    /// Standard error is a terminal.
    Shown,
}

/// The line on standard error.
pub(super) struct ProgressLine {
    progress: Progress,
    logs: usize,
    done: usize,
    drawn: Option<Instant>,
}

impl ProgressLine {
    pub(super) fn new(progress: Progress, logs: usize) -> ProgressLine {
        ProgressLine {
            progress,
            logs,
            done: 0,
            drawn: None,
        }
    }

    pub(super) fn step(&mut self, err: &mut dyn Write, requests: usize) -> io::Result<()> {
        self.done += 1;
        let is_due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= TICK);
        if self.progress == Progress::Hidden || !is_due {
            return Ok(());
        }
        self.drawn = Some(Instant::now());
        write!(
            err,
            "\r{} of {} logs, {requests} requests",
            self.done, self.logs
        )?;
        err.flush()
    }

    pub(super) fn clear(&mut self, err: &mut dyn Write) -> io::Result<()> {
        match self.drawn.take() {
            Some(_) => write!(err, "\r\x1b[K"),
            None => Ok(()),
        }
    }
}
