//! The terminal's modes: set while the screens run, restored however they end.

use super::signals::{has_terminal, reset_modes, with_stops_blocked};
use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use crossterm::execute;
use crossterm::terminal::{
    EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// True while the terminal has the modes of the screens. The panic hook reads it.
static HAS_OUR_MODES: AtomicBool = AtomicBool::new(false);

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
        HAS_OUR_MODES.store(true, Ordering::SeqCst);
        // Another program may have changed the modes, and crossterm sets them only once. It saves those that it finds.
        let _ = disable_raw_mode();
        reset_modes();
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture, Hide)
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
    if !HAS_OUR_MODES.swap(false, Ordering::SeqCst) {
        return;
    }
    // A program that was stopped and then ended is in the background.
    with_stops_blocked(|| {
        let _ = execute!(io::stdout(), EndSynchronizedUpdate, DisableMouseCapture);
        let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    });
}
