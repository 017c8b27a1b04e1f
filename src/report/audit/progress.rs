//! The progress of the audit, on standard error.

use std::io::{self, Write};
use std::time::{Duration, Instant};

/// How often the line is redrawn.
const TICK: Duration = Duration::from_millis(100);

/// The line on standard error.
pub(super) struct ProgressLine<'t> {
    /// `None`: it is not shown.
    terminal: Option<&'t mut dyn Write>,
    logs: usize,
    /// How many logs were read.
    pub(super) done: usize,
    drawn: Option<Instant>,
}

impl<'t> ProgressLine<'t> {
    pub(super) fn new(terminal: Option<&'t mut dyn Write>, logs: usize) -> ProgressLine<'t> {
        ProgressLine {
            terminal,
            logs,
            done: 0,
            drawn: None,
        }
    }

    /// Draws it, if that is due.
    pub(super) fn draw(&mut self, requests: usize) -> io::Result<()> {
        let is_due = self.drawn.is_none_or(|drawn| drawn.elapsed() >= TICK);
        let Some(terminal) = self.terminal.as_mut().filter(|_| is_due) else {
            return Ok(());
        };
        self.drawn = Some(Instant::now());
        write!(
            terminal,
            "\rreplayed {} of {} logs, {requests} requests",
            self.done, self.logs
        )?;
        terminal.flush()
    }

    pub(super) fn clear(&mut self) -> io::Result<()> {
        match (self.drawn.take(), &mut self.terminal) {
            (Some(_), Some(terminal)) => write!(terminal, "\r\x1b[K"),
            _ => Ok(()),
        }
    }
}
