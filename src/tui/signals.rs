//! Signals of the system.

/// A signal that the program handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Signal {
    /// End the program: SIGTERM, SIGHUP.
    End,
    /// End the program that has the terminal: SIGINT.
    Interrupt,
    /// The program was resumed.
    Continued,
}

#[cfg(unix)]
mod unix {
    use super::Signal;
    use rustix::process::{self, kill_current_process_group};
    use std::io;
    use std::time::Duration;
    use tokio::signal::unix::{Signal as Stream, SignalKind, signal};

    /// A stream of signals.
    #[derive(Debug)]
    pub(in crate::tui) struct Signals {
        terminate: Stream,
        interrupt: Stream,
        hangup: Stream,
        resume: Stream,
    }

    impl Signals {
        pub(in crate::tui) fn listen() -> io::Result<Signals> {
            Ok(Signals {
                terminate: signal(SignalKind::terminate())?,
                interrupt: signal(SignalKind::interrupt())?,
                hangup: signal(SignalKind::hangup())?,
                resume: signal(SignalKind::from_raw(process::Signal::CONT.as_raw()))?,
            })
        }

        pub(in crate::tui) async fn next(&mut self) -> Signal {
            tokio::select! {
                _ = self.terminate.recv() => Signal::End,
                _ = self.interrupt.recv() => Signal::Interrupt,
                _ = self.hangup.recv() => Signal::End,
                _ = self.resume.recv() => Signal::Continued,
            }
        }
    }

    /// Stops the whole job, so that a script around it stops too. Returns when it is resumed.
    pub(in crate::tui) fn stop() {
        if kill_current_process_group(process::Signal::TSTP).is_ok() {
            // Another thread may handle the signal: wait until it has.
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[cfg(unix)]
pub(super) use unix::{Signals, stop};

#[cfg(not(unix))]
mod other {
    use super::Signal;
    use std::io;

    /// A stream of signals.
    #[derive(Debug)]
    pub(in crate::tui) struct Signals(());

    impl Signals {
        pub(in crate::tui) fn listen() -> io::Result<Signals> {
            Ok(Signals(()))
        }

        pub(in crate::tui) async fn next(&mut self) -> Signal {
            match tokio::signal::ctrl_c().await {
                Ok(()) => Signal::Interrupt,
                Err(_) => std::future::pending().await,
            }
        }
    }

    /// There is no job control here.
    pub(in crate::tui) fn stop() {}
}

#[cfg(not(unix))]
pub(super) use other::{Signals, stop};
