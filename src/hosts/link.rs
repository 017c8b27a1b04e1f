//! One machine: the process of `ssh`, its ends, and what they mean. Each machine has a thread of its own, which is all
//! that ever waits for it.

use crate::backoff::Backoff;
use crate::host::Host;
use crate::incoming::{Agents, Incoming, said};
use files::lines::{Line, next_line};
use jiff::Timestamp;
use model::event::Key;
use model::lists::sessions::{Away, Update};
use render::shell::shell_word;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::ControlFlow;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The lines that wait for the thread of the machine. With more, the machine waits.
const WAITING_LINES: usize = 4;
/// The longest line that is read, in bytes. A row has about 700.
const LONGEST_LINE: usize = 1 << 20;
/// The most lines of a machine in a second. A machine that writes without end leaves the screens to others.
const MOST_LINES: u32 = 4_000;
/// The time in which a process that has closed its output ends by itself.
const END_TIME: Duration = Duration::from_secs(2);
/// The time between two looks at it.
const END_CHECK: Duration = Duration::from_millis(10);
/// The most bytes of a line of standard error that are kept.
const LONGEST_ERROR: usize = 4_096;
/// The place of the program on another machine.
const THERE: &str = "/usr/local/bin/ctxgauge";
/// The exit code of `ssh` for failures of its own.
const SSH_FAILED: i32 = 255;
/// The exit code of a shell that does not find a program.
const NOT_FOUND: i32 = 127;

/// News of other machines.
#[derive(Debug)]
pub enum Event {
    /// A change of the list.
    Update(Update),
    /// A message about a machine.
    Said(Host, String),
}

/// The options for following machines.
#[derive(Debug, Clone)]
pub struct Options {
    /// The program that reaches them.
    pub ssh: OsString,
    /// Finds the formats of agents.
    pub agents: Agents,
    /// The time without a line after which a machine does not answer. Its heartbeats come every 10 s.
    pub silence: Duration,
    /// The time after which another connection is made.
    pub lost: Duration,
}

impl Options {
    /// Returns the usual ones.
    pub fn new(agents: Agents) -> Options {
        Options {
            ssh: "ssh".into(),
            agents,
            silence: Duration::from_secs(25),
            lost: Duration::from_secs(90),
        }
    }
}

/// The machines that are followed, until it is dropped.
#[derive(Debug)]
pub struct Links(Vec<Arc<Stop>>);

impl Drop for Links {
    fn drop(&mut self) {
        self.0.iter().for_each(|stop| stop.stop());
    }
}

/// Ends a machine's thread.
#[derive(Debug, Default)]
struct Stop {
    state: Mutex<StopState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct StopState {
    is_stopped: bool,
    child: Option<Child>,
}

impl Stop {
    fn lock(&self) -> MutexGuard<'_, StopState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stop(&self) {
        let mut state = self.lock();
        state.is_stopped = true;
        kill(state.child.take());
        self.changed.notify_all();
    }

    /// Waits. Returns true if the thread is to end.
    fn pause(&self, time: Duration) -> bool {
        let wait = |state: &mut StopState| !state.is_stopped;
        let waited = self.changed.wait_timeout_while(self.lock(), time, wait);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_stopped
    }

    /// Holds a process, so that it ends with the program. Returns false if the thread is to end.
    fn hold(&self, child: Child) -> bool {
        let mut state = self.lock();
        if state.is_stopped {
            kill(Some(child));
            return false;
        }
        state.child = Some(child);
        true
    }

    /// Returns how the process has ended; it is ended if it does not by itself.
    fn end(&self) -> Option<ExitStatus> {
        let deadline = Instant::now() + END_TIME;
        loop {
            let ended = self.lock().child.as_mut()?.try_wait().ok()?;
            if ended.is_some() || Instant::now() >= deadline {
                // One that has ended gets no signal.
                self.kill();
                return ended;
            }
            thread::sleep(END_CHECK);
        }
    }

    fn kill(&self) {
        let child = self.lock().child.take();
        kill(child);
    }
}

fn kill(child: Option<Child>) {
    if let Some(mut child) = child {
        // It may have ended.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Follows machines, until the result is dropped or the receiver wants no more.
///
/// # Errors
///
/// If a thread cannot be started.
pub fn start(
    hosts: Vec<Host>,
    options: &Options,
    sink: impl Fn(Event) -> ControlFlow<()> + Clone + Send + 'static,
) -> io::Result<Links> {
    let mut links = Links(Vec::new());
    for host in hosts {
        let stop = Arc::<Stop>::default();
        links.0.push(Arc::clone(&stop));
        let seed = Key::of(host.name()).get() ^ u64::from(std::process::id());
        let mut link = Link {
            incoming: Incoming::new(host.clone(), options.agents),
            backoff: Backoff::new(seed),
            host,
            options: options.clone(),
            sink: sink.clone(),
            stop,
            last_line: None,
            away: None,
            last_message: None,
            has_answered: false,
        };
        let follow = move || {
            // It ends when nobody wants more.
            let _ = link.follow();
        };
        thread::Builder::new().name("host".into()).spawn(follow)?;
    }
    Ok(links)
}

struct Link<S> {
    host: Host,
    options: Options,
    sink: S,
    stop: Arc<Stop>,
    incoming: Incoming,
    backoff: Backoff,
    /// The time at which the machine has last sent a line while its rows were current.
    last_line: Option<Timestamp>,
    /// The reason for which it does not answer, as the screens have it; `None`: it does.
    away: Option<String>,
    /// The message that was shown last.
    last_message: Option<String>,
    /// True if the machine has sent all its sessions once.
    has_answered: bool,
}

impl<S: Fn(Event) -> ControlFlow<()>> Link<S> {
    fn follow(&mut self) -> ControlFlow<()> {
        loop {
            let why = self.connect()?;
            self.send_away(why, true)?;
            if self.stop.pause(self.backoff.pause()) {
                return ControlFlow::Break(());
            }
        }
    }

    /// Makes a connection, and follows it to its end. Returns the reason for that.
    fn connect(&mut self) -> ControlFlow<(), String> {
        self.incoming.begin();
        let child = Command::new(&self.options.ssh)
            .args(self.host.follow())
            // It stays open: it ends when this program does.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(error) => {
                let ssh = self.options.ssh.to_string_lossy();
                return ControlFlow::Continue(format!("could not run {ssh}: {error}"));
            }
        };
        let (out, errors) = (child.stdout.take(), child.stderr.take());
        if !self.stop.hold(child) {
            return ControlFlow::Break(());
        }
        let (lines, errors) = match (out.map(read_lines), errors.map(read_errors)) {
            (Some(Ok(lines)), Some(Ok(errors))) => (lines, errors),
            _ => {
                self.stop.kill();
                return ControlFlow::Continue("could not start a thread".to_owned());
            }
        };
        let ended = self.read(&lines)?;
        if let Some(end) = ended {
            self.stop.kill();
            return ControlFlow::Continue(end);
        }
        let status = self.stop.end();
        if self.stop.pause(Duration::ZERO) {
            return ControlFlow::Break(());
        }
        let error = errors.recv_timeout(END_TIME).unwrap_or_default();
        ControlFlow::Continue(self.meaning(status, &error))
    }

    /// Reads lines until there are none: `None`. Another end is a reason to end the process.
    fn read(&mut self, lines: &Receiver<Line>) -> ControlFlow<(), Option<String>> {
        let mut last = Instant::now();
        let (mut second, mut in_second) = (last, 0);
        loop {
            let is_silent = last.elapsed() >= self.options.silence;
            let until = last
                + if is_silent {
                    self.options.lost
                } else {
                    self.options.silence
                };
            let line = match lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => line,
                Err(RecvTimeoutError::Disconnected) => return ControlFlow::Continue(None),
                Err(RecvTimeoutError::Timeout) if is_silent => {
                    let why = "nothing has come for long".to_owned();
                    return ControlFlow::Continue(Some(why));
                }
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = self.options.silence.as_secs();
                    self.send_away(format!("nothing has come for {seconds} s"), false)?;
                    continue;
                }
            };
            last = Instant::now();
            if last.duration_since(second) >= Duration::from_secs(1) {
                (second, in_second) = (last, 0);
            }
            in_second += 1;
            if in_second > MOST_LINES {
                let rest = Duration::from_secs(1).saturating_sub(second.elapsed());
                if self.stop.pause(rest) {
                    return ControlFlow::Break(());
                }
            }
            if let Err(why) = self.take(line)? {
                self.backoff.rest();
                return ControlFlow::Continue(Some(why));
            }
        }
    }

    fn take(&mut self, line: Line) -> ControlFlow<(), Result<(), String>> {
        let now = Timestamp::now();
        let line = match line {
            Line::Whole(line) => line,
            Line::TooLong => {
                self.incoming.too_long();
                return ControlFlow::Continue(Ok(()));
            }
            // The connection ends inside of it.
            Line::Unfinished(_) => return ControlFlow::Continue(Ok(())),
        };
        let news = match self.incoming.line(&line, now) {
            Ok(news) => news,
            Err(why) => return ControlFlow::Continue(Err(why)),
        };
        for update in news.updates {
            (self.sink)(Event::Update(update))?;
        }
        if let Some(said) = news.said {
            (self.sink)(Event::Said(self.host.clone(), said))?;
        }
        if news.is_current {
            self.last_line = Some(now);
            self.backoff.reset();
            self.send_back()?;
        }
        ControlFlow::Continue(Ok(()))
    }

    /// Sends that the machine does not answer; in a message too, unless that was the last one.
    fn send_away(&mut self, why: String, in_message: bool) -> ControlFlow<()> {
        if self.away.as_ref() != Some(&why) {
            let host = Arc::clone(self.host.name());
            let away = Some(Away {
                since: self.last_line,
                why: why.as_str().into(),
            });
            (self.sink)(Event::Update(Update::Host { host, away }))?;
            self.away = Some(why.clone());
        }
        if in_message && self.last_message.as_ref() != Some(&why) {
            (self.sink)(Event::Said(self.host.clone(), why.clone()))?;
            self.last_message = Some(why);
        }
        ControlFlow::Continue(())
    }

    fn send_back(&mut self) -> ControlFlow<()> {
        self.last_message = None;
        let is_first = !std::mem::replace(&mut self.has_answered, true);
        if self.away.take().is_some() || is_first {
            let host = Arc::clone(self.host.name());
            (self.sink)(Event::Update(Update::Host { host, away: None }))?;
        }
        ControlFlow::Continue(())
    }

    /// Returns what the end of the process means. Where somebody must do something there, it is not tried again soon.
    fn meaning(&mut self, status: Option<ExitStatus>, error: &str) -> String {
        let error = said(error);
        let code = status.and_then(|status| status.code());
        match code {
            Some(NOT_FOUND) if !self.incoming.has_started => {
                self.backoff.rest();
                let copy = copy_command(&self.host);
                format!("ctxgauge is not installed there; to copy this one: {copy}")
            }
            Some(SSH_FAILED) if error.is_empty() => "ssh could not reach it".to_owned(),
            Some(SSH_FAILED) => error,
            _ if !error.is_empty() => format!("ctxgauge there: {error}"),
            Some(code) => format!("ctxgauge there has ended with {code}"),
            None => "the connection has ended".to_owned(),
        }
    }
}

/// Returns the command that copies this program to a machine. It is never run.
fn copy_command(host: &Host) -> String {
    let program = std::env::current_exe();
    let program = program.map_or("ctxgauge".into(), |path| path.display().to_string());
    format!("scp {} {}", shell_word(&program), host.copy_to(THERE))
}

fn read_lines(from: impl Read + Send + 'static) -> io::Result<Receiver<Line>> {
    let (sender, lines): (SyncSender<Line>, _) = sync_channel(WAITING_LINES);
    let read = move || {
        let mut from = BufReader::new(from);
        while let Ok(Some(line)) = next_line(&mut from, LONGEST_LINE) {
            if sender.send(line).is_err() {
                return;
            }
        }
    };
    thread::Builder::new()
        .name("host lines".into())
        .spawn(read)?;
    Ok(lines)
}

/// Reads standard error to its end, and sends its last line.
fn read_errors(from: impl Read + Send + 'static) -> io::Result<Receiver<String>> {
    let (sender, last) = sync_channel(1);
    let read = move || {
        let mut from = BufReader::new(from);
        let mut last = String::new();
        let mut line = Vec::new();
        loop {
            line.clear();
            let mut part = (&mut from).take(LONGEST_ERROR as u64);
            match part.read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            }
            let text = String::from_utf8_lossy(&line);
            if !text.trim().is_empty() {
                last = text.into_owned();
            }
        }
        // Nobody may want it.
        let _ = sender.send(last);
    };
    thread::Builder::new()
        .name("host errors".into())
        .spawn(read)?;
    Ok(last)
}

#[cfg(test)]
mod tests;
