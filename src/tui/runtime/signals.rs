//! Signals of the system: what the screens have that depends on the platform.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use other as here;
#[cfg(unix)]
use unix as here;

pub use here::when_ended;
pub(super) use here::{
    Signals, ask_to_stop, block_stops, exit_when_blocked, has_terminal, pass_on, reset_modes, stop,
    with_stops_blocked,
};

/// A signal that the program handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// End the program: SIGTERM, SIGHUP, what else ends a program that does not handle it, or the terminal is gone.
    End(EndedBy),
    /// End the program that has the terminal: SIGINT, SIGQUIT.
    Interrupt(EndedBy),
    /// Stop the program until it is resumed: SIGTSTP.
    Stop,
    /// The program was resumed.
    Continued,
}

/// A signal ended the screens. The terminal is restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("ended by signal {0}")]
pub struct EndedBy(u8);

impl EndedBy {
    /// The terminal is gone: SIGHUP, whether it was sent or not.
    pub(super) const HANGUP: EndedBy = EndedBy(1);

    /// Returns the exit code that shells give a program that this signal ended.
    pub fn exit_code(self) -> u8 {
        self.0.saturating_add(128)
    }

    /// Returns the name of the signal: `Ctrl-C`, `SIGTERM`.
    pub fn name(self) -> String {
        match self.0 {
            2 => "Ctrl-C".to_owned(),
            number => here::name_of(number).unwrap_or_else(|| format!("signal {number}")),
        }
    }

    /// Ends the program by this signal: a shell that runs a script then ends the script too.
    pub fn end_program(self) -> ! {
        here::act_by_default(self.0);
        std::process::exit(self.exit_code().into())
    }
}
