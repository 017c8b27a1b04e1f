//! Systems without signals and job control: a program is only interrupted.

use super::{EndedBy, Signal};
use std::io;

/// An interrupt has the number of SIGINT.
const INTERRUPT: EndedBy = EndedBy(2);

/// A stream of signals.
#[derive(Debug)]
pub(in crate::runtime) struct Signals(());

impl Signals {
    pub(in crate::runtime) fn listen() -> io::Result<Signals> {
        Ok(Signals(()))
    }

    pub(in crate::runtime) async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Interrupt(INTERRUPT),
            Err(_) => std::future::pending().await,
        }
    }

    /// Returns nothing: without job control, nothing comes after a stop.
    pub(in crate::runtime) async fn next_soon(&mut self) -> Option<Signal> {
        None
    }
}

/// Does nothing: a child receives interrupts itself.
pub(in crate::runtime) fn pass_on(_: EndedBy, _: u32) {}

/// Does nothing: there is no job control here.
pub(in crate::runtime) fn block_stops() {}

/// Does nothing: other programs restore the modes of a console here.
pub(in crate::runtime) fn reset_modes() {}

/// Does nothing: there is no job control here.
pub(in crate::runtime) fn ask_to_stop() {}

/// Does nothing: there is no job control here.
pub(in crate::runtime) fn stop() {}

/// Does nothing: there are no signals here.
pub(super) fn act_by_default(_: u8) {}

/// Returns nothing: an interrupt has a name of its own.
pub(super) fn name_of(_: u8) -> Option<String> {
    None
}

/// Calls `act` when the program is interrupted.
///
/// # Errors
///
/// If no thread can be started.
pub fn when_ended(act: impl FnOnce(EndedBy) + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let run = move || {
        if runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
            act(INTERRUPT);
        }
    };
    std::thread::Builder::new().name("ends".into()).spawn(run)?;
    Ok(())
}

/// Does nothing: interrupts are received whatever the screens do.
pub(in crate::runtime) fn exit_when_blocked(
    _: fn() -> bool,
    _: fn() -> u64,
    _: fn(),
) -> io::Result<()> {
    Ok(())
}

/// Returns true: without job control this program always has the terminal.
pub(in crate::runtime) fn has_terminal() -> bool {
    true
}

/// Uses the terminal, without job control.
pub(in crate::runtime) fn with_stops_blocked(work: impl FnOnce()) {
    work();
}
