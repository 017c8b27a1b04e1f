//! The terminal's modes: set while the screens run, restored however they end.

use super::signals::{self, has_terminal, reset_modes, with_stops_blocked};
use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use crossterm::execute;
use crossterm::terminal::{
    EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use std::io::{self, Write};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// The modes of the terminal: one of the three constants below. The panic hook and the thread of the signals read it.
static MODES: AtomicU8 = AtomicU8::new(USUAL);
/// The terminal has the modes that it had before the screens.
const USUAL: u8 = 0;
/// The terminal has the modes of the screens.
const SET: u8 = 1;
/// The earlier modes are being restored.
const LEAVING: u8 = 2;

/// A number that changes with each write to the terminal, and is odd during one.
static WRITES: AtomicU64 = AtomicU64::new(0);

/// Standard output. [`WRITES`] shows whether a write is going on.
#[derive(Debug)]
pub(super) struct Output;

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        WRITES.fetch_add(1, Ordering::SeqCst);
        let written = io::stdout().write(bytes);
        WRITES.fetch_add(1, Ordering::SeqCst);
        written
    }

    fn flush(&mut self) -> io::Result<()> {
        WRITES.fetch_add(1, Ordering::SeqCst);
        let flushed = io::stdout().flush();
        WRITES.fetch_add(1, Ordering::SeqCst);
        flushed
    }
}

/// Ends the program when a signal is to end it and the terminal takes no output.
///
/// # Errors
///
/// If no thread can be started for it.
pub(super) fn exit_when_blocked() -> io::Result<()> {
    signals::exit_when_blocked(
        || MODES.load(Ordering::SeqCst) != USUAL,
        || WRITES.load(Ordering::SeqCst),
        restore_modes,
    )
}

/// The terminal in the modes of the screens; restores it on drop.
#[derive(Debug)]
pub(super) struct Terminal(());

impl Terminal {
    /// Sets the modes. A panic restores the terminal before it is reported.
    pub(super) fn open() -> io::Result<Terminal> {
        let held = Terminal(());
        held.enter()?;
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            restore();
            report(info);
        }));
        Ok(held)
    }

    /// Sets the modes again, after another program used the terminal.
    pub(super) fn enter(&self) -> io::Result<()> {
        MODES.store(SET, Ordering::SeqCst);
        // Another program may have changed the modes, and crossterm sets them only once. It saves those that it finds.
        let _ = disable_raw_mode();
        reset_modes();
        enable_raw_mode()?;
        execute!(Output, EnterAlternateScreen, EnableMouseCapture, Hide)
    }

    /// Restores the terminal for another program.
    pub(super) fn leave(&self) {
        restore();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
        // The screens may end while another program has the terminal, which ends with them. A shell keeps its own.
        if has_terminal() {
            with_stops_blocked(reset_modes);
        }
    }
}

/// Restores the terminal. Errors are ignored: each step is worth trying even if the one before failed.
fn restore() {
    // Leaving twice would move the cursor into what was printed in between: a panic's message.
    let left = MODES.compare_exchange(SET, LEAVING, Ordering::SeqCst, Ordering::SeqCst);
    if left.is_err() {
        return;
    }
    // A program that was stopped and then ended is in the background.
    with_stops_blocked(|| {
        let _ = execute!(Output, EndSynchronizedUpdate, DisableMouseCapture);
        let _ = execute!(Output, LeaveAlternateScreen, Show);
    });
    restore_modes();
    MODES.store(USUAL, Ordering::SeqCst);
}

/// Restores the modes that need no write.
fn restore_modes() {
    with_stops_blocked(|| {
        let _ = disable_raw_mode();
    });
}
