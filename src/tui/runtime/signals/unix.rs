//! The signals of Unix, and job control.

use super::{EndedBy, Signal};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{SigSet, SigmaskHow, Signal as Number, kill, killpg, raise};
use nix::sys::termios::{SetArg, Termios, tcgetattr, tcsetattr};
use nix::unistd::{Pid, getpgrp, tcgetpgrp};
use std::future::poll_fn;
use std::io;
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;
use tokio::signal::unix::{Signal as Stream, SignalKind, signal};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::{sleep, timeout};

/// After a resume, the signals that came with SIGCONT arrive within this time, also on a busy machine: other threads
/// may have to receive them.
const RESUME_TIME: Duration = Duration::from_millis(500);
/// A write that takes this long is taken for one that never ends.
const BLOCKED_WRITE: Duration = Duration::from_millis(500);

/// Returns SIGTSTP. It is blocked and waited for instead of handled: its default action, which stops the program unless
/// nobody could resume it, is then still there for [`stop`].
fn stops() -> SigSet {
    Number::SIGTSTP.into()
}

/// Keeps SIGTSTP from stopping the program before the terminal is restored: [`Signals`] receives it. Threads
/// inherit this, so it is called before any is started. Child processes begin without it.
pub(in crate::runtime) fn block_stops() {
    // It fails only for an unknown number.
    let _ = stops().thread_block();
}

/// The signals that end a program.
#[derive(Debug)]
struct EndSignals(Vec<(Stream, Number)>);

const ENDS: [Number; 9] = [
    Number::SIGTERM,
    Number::SIGHUP,
    Number::SIGINT,
    Number::SIGQUIT,
    Number::SIGUSR1,
    Number::SIGUSR2,
    Number::SIGALRM,
    Number::SIGABRT,
    Number::SIGXCPU,
];

impl EndSignals {
    /// Starts to receive them. Needs a runtime; any number of receivers get each signal.
    fn listen(signals: impl IntoIterator<Item = Number>) -> io::Result<EndSignals> {
        let listen = |number| Ok((stream(number)?, number));
        let streams: io::Result<Vec<_>> = signals.into_iter().map(listen).collect();
        Ok(EndSignals(streams?))
    }

    /// Returns the next one.
    async fn next(&mut self) -> EndedBy {
        let next = |cx: &mut Context<'_>| {
            let received = self.0.iter_mut().find_map(|(stream, number)| {
                let received = matches!(stream.poll_recv(cx), Poll::Ready(Some(())));
                received.then_some(*number)
            });
            received.map_or(Poll::Pending, Poll::Ready)
        };
        let number = poll_fn(next).await;
        EndedBy(u8::try_from(number as i32).unwrap_or(u8::MAX))
    }
}

fn stream(number: Number) -> io::Result<Stream> {
    signal(SignalKind::from_raw(number as i32))
}

/// A stream of signals.
#[derive(Debug)]
pub(in crate::runtime) struct Signals {
    ends: EndSignals,
    resume: Stream,
    stop: Receiver<()>,
    gone: Receiver<()>,
}

impl Signals {
    /// Starts to receive signals. Needs a runtime.
    pub(in crate::runtime) fn listen() -> io::Result<Signals> {
        block_stops();
        Ok(Signals {
            ends: EndSignals::listen(ENDS)?,
            resume: stream(Number::SIGCONT)?,
            stop: on_thread("stops", wait_for_stops)?,
            gone: on_thread("terminal", wait_until_gone)?,
        })
    }

    /// Returns the next signal, if one comes within [`RESUME_TIME`]. After a stop, `None` means that the program was
    /// not stopped, since nobody could resume it.
    pub(in crate::runtime) async fn next_soon(&mut self) -> Option<Signal> {
        timeout(RESUME_TIME, self.next()).await.ok()
    }

    /// Returns the next one; of several, one that ends the program comes first.
    pub(in crate::runtime) async fn next(&mut self) -> Signal {
        tokio::select! {
            biased;
            by = self.ends.next() => match Number::try_from(i32::from(by.0)) {
                Ok(Number::SIGINT | Number::SIGQUIT) => Signal::Interrupt(by),
                _ => Signal::End(by),
            },
            Some(()) = self.gone.recv() => Signal::End(EndedBy::HANGUP),
            Some(()) = self.stop.recv() => Signal::Stop,
            _ = self.resume.recv() => Signal::Continued,
        }
    }
}

/// Ends the program where the screens cannot: a terminal that takes no output (Ctrl-S, or nobody reads it) blocks
/// their thread, which then receives no signal and restores nothing.
///
/// `is_held` says whether the screens have the terminal; `writes` is a number that changes with each write to it, and
/// is odd during one; `restore` restores the modes that can be restored without a write.
///
/// # Errors
///
/// If the thread cannot be started.
pub(in crate::runtime) fn exit_when_blocked(
    is_held: fn() -> bool,
    writes: fn() -> u64,
    restore: fn(),
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let watch = async move {
        let mut ends = EndSignals::listen(ENDS)?;
        loop {
            let by = ends.next().await;
            while is_held() {
                let before = writes();
                sleep(BLOCKED_WRITE).await;
                if before % 2 == 1 && before == writes() {
                    restore();
                    std::process::exit(by.exit_code().into());
                }
            }
        }
    };
    let run = move || {
        let _: io::Result<()> = runtime.block_on(watch);
    };
    thread::Builder::new().name("ends".into()).spawn(run)?;
    Ok(())
}

/// Calls `act` when a signal ends the program, which then has no other effect. What the program was started to ignore,
/// as by `nohup`, does not end it.
///
/// # Errors
///
/// If the signals cannot be received, or no thread can be started.
pub fn when_ended(act: impl FnOnce(EndedBy) + Send + 'static) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let ignored = files::ignored_signals();
    let is_ignored = |signal: &Number| ignored & (1 << (*signal as i32 - 1)) != 0;
    let heard = ENDS.into_iter().filter(|signal| !is_ignored(signal));
    let mut ends = runtime.block_on(async { EndSignals::listen(heard) })?;
    let run = move || act(runtime.block_on(ends.next()));
    thread::Builder::new().name("ends".into()).spawn(run)?;
    Ok(())
}

/// Does what a signal does to a program that does not handle it.
pub(super) fn act_by_default(number: u8) {
    let _ = signal_hook::low_level::emulate_default_handler(number.into());
}

/// Returns the name of a signal, such as `SIGTERM`.
pub(super) fn name_of(number: u8) -> Option<String> {
    let signal = Number::try_from(i32::from(number)).ok()?;
    Some(signal.as_str().to_owned())
}

/// Starts a thread and returns its reports; one report may wait.
fn on_thread(name: &str, work: fn(&Sender<()>)) -> io::Result<Receiver<()>> {
    let (sender, reports) = channel(1);
    let run = move || work(&sender);
    thread::Builder::new().name(name.into()).spawn(run)?;
    Ok(reports)
}

fn wait_for_stops(report: &Sender<()>) {
    while stops().wait().is_ok() && !report.is_closed() {
        // One report that waits is enough.
        let _ = report.try_send(());
    }
}

/// Waits until standard output has no terminal at its other end. The thread that reads keys cannot report
/// that: it reads again and again, until the program ends.
fn wait_until_gone(report: &Sender<()>) {
    let out = io::stdout();
    let mut terminal = [PollFd::new(out.as_fd(), PollFlags::empty())];
    loop {
        match poll(&mut terminal, PollTimeout::NONE) {
            Ok(_) => break,
            Err(Errno::EINTR) => {}
            Err(_) => return,
        }
    }
    // Systems that cannot poll a terminal answer something else, at once.
    let gone = PollFlags::POLLHUP | PollFlags::POLLERR;
    if terminal[0].revents().is_some_and(|it| it.intersects(gone)) {
        let _ = report.blocking_send(());
    }
}

/// Returns true if this program has the terminal. In the background, setting the terminal's modes or reading keys would
/// stop it.
pub(in crate::runtime) fn has_terminal() -> bool {
    // Without a terminal there is none to take from others.
    tcgetpgrp(io::stdout()).map_or(true, |front| front == getpgrp())
}

/// The modes of the terminal before the screens.
static FIRST_MODES: Mutex<Option<Termios>> = Mutex::new(None);

/// Gives the terminal the modes that it had when this was first called. Another program may have left others.
pub(in crate::runtime) fn reset_modes() {
    let mut first = FIRST_MODES.lock().unwrap_or_else(PoisonError::into_inner);
    match &*first {
        Some(first) => {
            // Nothing more can be done.
            let _ = tcsetattr(io::stdout(), SetArg::TCSANOW, first);
        }
        None => *first = tcgetattr(io::stdout()).ok(),
    }
}

/// Uses the terminal without being stopped for it, even in the background.
pub(in crate::runtime) fn with_stops_blocked(work: impl FnOnce()) {
    let before = SigSet::from(Number::SIGTTOU).thread_swap_mask(SigmaskHow::SIG_BLOCK);
    work();
    if let Ok(before) = before {
        let _ = before.thread_set_mask();
    }
}

/// Sends the signal that ends this program to a child that is still waited for; 0: there is none.
pub(in crate::runtime) fn pass_on(by: EndedBy, child: u32) {
    let signal = Number::try_from(i32::from(by.0));
    if let (Ok(child @ 1..), Ok(signal)) = (i32::try_from(child), signal) {
        // It may have ended.
        let _ = kill(Pid::from_raw(child), signal);
    }
}

/// Requests that the whole job stops, so that a script around it stops too. This causes a [`Signal::Stop`].
pub(in crate::runtime) fn ask_to_stop() {
    let _ = killpg(getpgrp(), Number::SIGTSTP);
}

/// Stops the program. Returns when it is resumed; at once if nobody could resume it.
pub(in crate::runtime) fn stop() {
    let held = stops();
    if held.thread_unblock().is_ok() {
        let _ = raise(Number::SIGTSTP);
    }
    block_stops();
}
