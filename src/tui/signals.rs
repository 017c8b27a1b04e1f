//! What the system tells the program.

/// A signal that matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// To end: SIGTERM, SIGHUP.
    End,
    /// To end, by the terminal's own key: SIGINT. Meant for whoever has the terminal.
    Interrupt,
    /// The program goes on after it was stopped, by whatever stopped it.
    Continued,
}

#[cfg(unix)]
mod unix {
    use super::Heard;
    use rustix::process::{Signal, kill_current_process_group};
    use std::io;
    use std::time::Duration;
    use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

    /// The signals, from now on.
    #[derive(Debug)]
    pub(in crate::tui) struct Signals {
        terminate: Stream,
        interrupt: Stream,
        hangup: Stream,
        goes_on: Stream,
    }

    impl Signals {
        pub(in crate::tui) fn listen() -> io::Result<Signals> {
            Ok(Signals {
                terminate: signal(SignalKind::terminate())?,
                interrupt: signal(SignalKind::interrupt())?,
                hangup: signal(SignalKind::hangup())?,
                goes_on: signal(SignalKind::from_raw(Signal::CONT.as_raw()))?,
            })
        }

        pub(in crate::tui) async fn next(&mut self) -> Heard {
            tokio::select! {
                _ = self.terminate.recv() => Heard::End,
                _ = self.interrupt.recv() => Heard::Interrupt,
                _ = self.hangup.recv() => Heard::End,
                _ = self.goes_on.recv() => Heard::Continued,
            }
        }
    }

    /// Stops the whole job, so that `cargo run` or a script around it stops too and the shell comes
    /// back. Returns once it goes on.
    pub(in crate::tui) fn stop() {
        if kill_current_process_group(Signal::TSTP).is_ok() {
            // Another thread may be the one that takes the signal: not a step further until it has.
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[cfg(unix)]
pub(super) use unix::{Signals, stop};

#[cfg(not(unix))]
mod other {
    use super::Heard;
    use std::io;

    /// The signals, from now on.
    #[derive(Debug)]
    pub(in crate::tui) struct Signals(());

    impl Signals {
        pub(in crate::tui) fn listen() -> io::Result<Signals> {
            Ok(Signals(()))
        }

        pub(in crate::tui) async fn next(&mut self) -> Heard {
            match tokio::signal::ctrl_c().await {
                Ok(()) => Heard::Interrupt,
                Err(_) => std::future::pending().await,
            }
        }
    }

    /// There is no job control here.
    pub(in crate::tui) fn stop() {}
}

#[cfg(not(unix))]
pub(super) use other::{Signals, stop};
