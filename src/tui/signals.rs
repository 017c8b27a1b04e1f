//! Signals of the system.

/// A signal that the program handles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// End the program: SIGTERM, SIGHUP, or the terminal is gone.
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
    const INTERRUPT: EndedBy = EndedBy(2);

    /// The exit code that shells give a program that this signal ended.
    pub fn exit_code(self) -> u8 {
        self.0.saturating_add(128)
    }
}

#[cfg(unix)]
mod unix {
    use super::{EndedBy, Signal};
    use nix::sys::signal::{SigSet, Signal as Number, raise};
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::io::Errno;
    use rustix::process::{self, kill_current_process_group};
    use std::io;
    use std::thread;
    use tokio::signal::unix::{Signal as Stream, SignalKind, signal};
    use tokio::sync::mpsc::{Receiver, Sender, channel};

    /// SIGTSTP. It is blocked and waited for instead of handled: its default action, which stops the program
    /// unless nobody could resume it, is then still there for [`stop`].
    fn stops() -> SigSet {
        let mut set = SigSet::empty();
        set.add(Number::SIGTSTP);
        set
    }

    /// Keeps SIGTSTP from stopping the program before the terminal is restored: [`Signals`] receives it. Threads
    /// inherit this, so it is called before any is started. Child processes begin without it.
    pub(in crate::tui) fn hold_stops() {
        // It fails for an unknown number only.
        let _ = stops().thread_block();
    }

    /// A stream of signals.
    #[derive(Debug)]
    pub(in crate::tui) struct Signals {
        terminate: Stream,
        interrupt: Stream,
        quit: Stream,
        hangup: Stream,
        resume: Stream,
        stop: Receiver<()>,
        gone: Receiver<()>,
    }

    impl Signals {
        /// Starts to receive signals. Needs a runtime.
        pub(in crate::tui) fn listen() -> io::Result<Signals> {
            hold_stops();
            Ok(Signals {
                terminate: signal(SignalKind::terminate())?,
                interrupt: signal(SignalKind::interrupt())?,
                quit: signal(SignalKind::quit())?,
                hangup: signal(SignalKind::hangup())?,
                resume: signal(SignalKind::from_raw(process::Signal::CONT.as_raw()))?,
                stop: on_thread("stops", wait_for_stops)?,
                gone: on_thread("terminal", wait_until_gone)?,
            })
        }

        pub(in crate::tui) async fn next(&mut self) -> Signal {
            let ended_by =
                |number: process::Signal| EndedBy(u8::try_from(number.as_raw()).unwrap_or(u8::MAX));
            tokio::select! {
                _ = self.terminate.recv() => Signal::End(ended_by(process::Signal::TERM)),
                _ = self.hangup.recv() => Signal::End(EndedBy::HANGUP),
                Some(()) = self.gone.recv() => Signal::End(EndedBy::HANGUP),
                _ = self.interrupt.recv() => Signal::Interrupt(EndedBy::INTERRUPT),
                _ = self.quit.recv() => Signal::Interrupt(ended_by(process::Signal::QUIT)),
                Some(()) = self.stop.recv() => Signal::Stop,
                _ = self.resume.recv() => Signal::Continued,
            }
        }
    }

    /// What a thread reports; one report may wait.
    fn on_thread(name: &str, work: fn(&Sender<()>)) -> io::Result<Receiver<()>> {
        let (sender, reports) = channel(1);
        let run = move || work(&sender);
        thread::Builder::new().name(name.into()).spawn(run)?;
        Ok(reports)
    }

    fn wait_for_stops(report: &Sender<()>) {
        while stops().wait().is_ok() && !report.is_closed() {
            // One that waits is enough.
            let _ = report.try_send(());
        }
    }

    /// Waits until standard output has no terminal at its other end. The thread that reads keys cannot report
    /// that: it reads again and again, until the program ends.
    fn wait_until_gone(report: &Sender<()>) {
        let out = io::stdout();
        let mut terminal = [PollFd::new(&out, PollFlags::empty())];
        loop {
            match poll(&mut terminal, None) {
                Ok(_) => break,
                Err(Errno::INTR) => {}
                Err(_) => return,
            }
        }
        // Systems that cannot poll a terminal answer something else, at once.
        let gone = PollFlags::HUP | PollFlags::ERR;
        if terminal[0].revents().intersects(gone) {
            let _ = report.blocking_send(());
        }
    }

    /// Sends the signal that is to end this program to a child that is not waited for to its end yet; 0: there is none.
    pub(in crate::tui) fn pass_on(by: EndedBy, child: u32) {
        let child = i32::try_from(child).ok().and_then(process::Pid::from_raw);
        let signal = process::Signal::from_named_raw(i32::from(by.0));
        if let (Some(child), Some(signal)) = (child, signal) {
            // It may have ended.
            let _ = process::kill_process(child, signal);
        }
    }

    /// Requests that the whole job stops, so that a script around it stops too. [`Signal::Stop`] comes of it.
    pub(in crate::tui) fn ask_to_stop() {
        let _ = kill_current_process_group(process::Signal::TSTP);
    }

    /// Stops the program. Returns when it is resumed; at once if nobody could resume it.
    pub(in crate::tui) fn stop() {
        let held = stops();
        if held.thread_unblock().is_ok() {
            let _ = raise(Number::SIGTSTP);
        }
        hold_stops();
    }
}

#[cfg(unix)]
pub(super) use unix::{Signals, ask_to_stop, hold_stops, pass_on, stop};

#[cfg(not(unix))]
mod other {
    use super::{EndedBy, Signal};
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
                Ok(()) => Signal::Interrupt(EndedBy::INTERRUPT),
                Err(_) => std::future::pending().await,
            }
        }
    }

    /// Nothing ends the program but interrupts, which the child receives itself.
    pub(in crate::tui) fn pass_on(_: EndedBy, _: u32) {}

    /// There is no job control here.
    pub(in crate::tui) fn hold_stops() {}

    /// There is no job control here.
    pub(in crate::tui) fn ask_to_stop() {}

    /// There is no job control here.
    pub(in crate::tui) fn stop() {}
}

#[cfg(not(unix))]
pub(super) use other::{Signals, ask_to_stop, hold_stops, pass_on, stop};
