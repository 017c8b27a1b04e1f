//! The terminal's own state: taken over while the screens run, given back however they end.

use crossterm::cursor::{Hide, Show};
use crossterm::event::{DisableMouseCapture, EnableMouseCapture};
use crossterm::execute;
use crossterm::terminal::{
    EndSynchronizedUpdate, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode,
    enable_raw_mode,
};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the terminal is taken over. The panic hook outlives all else and has to know.
static HELD: AtomicBool = AtomicBool::new(false);

/// Holds the terminal; gives it back when dropped.
#[derive(Debug)]
pub(super) struct Terminal(());

impl Terminal {
    /// Takes the terminal over. A panic will give it back before it is reported.
    pub(super) fn take() -> io::Result<Terminal> {
        let held = Terminal(());
        held.enter()?;
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            give_back();
            report(info);
        }));
        Ok(held)
    }

    /// Takes it over again, after something else had it.
    pub(super) fn enter(&self) -> io::Result<()> {
        HELD.store(true, Ordering::SeqCst);
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, EnableMouseCapture, Hide)
    }

    /// Gives it back for a while, to something else that needs it.
    pub(super) fn leave(&self) {
        give_back();
    }

    /// Stops the program as the shell's job control does, and takes the terminal back once it goes on.
    pub(super) fn suspend(&self) -> io::Result<()> {
        give_back();
        super::signals::stop();
        self.enter()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        give_back();
    }
}

/// Leaves the terminal as it was. Errors are passed over: there is no one left to tell, and each step
/// is worth trying whatever became of the one before.
fn give_back() {
    // Leaving twice would put the cursor back into what was printed in between: a panic's message.
    if !HELD.swap(false, Ordering::SeqCst) {
        return;
    }
    let _ = execute!(io::stdout(), EndSynchronizedUpdate, DisableMouseCapture);
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
    let _ = disable_raw_mode();
}
