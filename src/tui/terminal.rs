//! The terminal's modes: set while the screens run, restored however they end.

use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use crossterm::execute;
use crossterm::terminal::{
    EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the modes are set. The panic hook needs it.
static HELD: AtomicBool = AtomicBool::new(false);

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
        HELD.store(true, Ordering::SeqCst);
        // Whoever used it in between may have changed its modes, and these are set only once.
        let _ = disable_raw_mode();
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture, Hide)
    }

    /// Restores the terminal for another program.
    pub(super) fn leave(&self) {
        restore();
    }

    /// Suspends the program as the shell's job control does, and sets the modes when it is resumed.
    pub(super) fn suspend(&self) -> io::Result<()> {
        restore();
        super::signals::stop();
        self.enter()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}

/// Restores the terminal. Errors are ignored: each step is worth trying even if the one before failed.
fn restore() {
    // Leaving twice would move the cursor into what was printed in between: a panic's message.
    if !HELD.swap(false, Ordering::SeqCst) {
        return;
    }
    let _ = execute!(io::stdout(), EndSynchronizedUpdate, DisableMouseCapture);
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}
