//! The status line of another tool, which is run beside ours.

use super::so_far::SoFar;
use ingest::bytes::sync::lock;
use std::io::{self, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// The most bytes of its lines that are shown.
const MOST_BYTES: u64 = 64 << 10;
/// The longest time that it may take.
const LONGEST: Duration = Duration::from_secs(4);

/// The time for which what it has started may go on writing after its end.
const MORE: Duration = Duration::from_millis(500);
/// The pause between two looks at whether it has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// The process of the command that runs: it is ended with this program. Locked while it starts, so that a signal finds it
/// then too.
static RUNNING: Mutex<Option<u32>> = Mutex::new(None);

/// Ends what runs beside this program, which a signal ends: an agent that ends takes its status line with it.
pub(super) fn end_running() {
    let running = lock(&RUNNING);
    if let Some(leader) = *running {
        files::kill_group(leader);
    }
    // It stays locked: nothing starts any more, and this program does not end by itself, as if all were well.
    std::mem::forget(running);
}

/// A status line that runs.
pub(super) struct WrappedStatusLine {
    child: Child,
    lines: SoFar,
    until: Instant,
}

impl WrappedStatusLine {
    /// Starts a command as the agent would, with the same input. It may take no longer than that.
    pub(super) fn start(
        command: &str,
        input: Vec<u8>,
        longest: Duration,
    ) -> io::Result<WrappedStatusLine> {
        let mut running = lock(&RUNNING);
        let [shell, option] = files::of_system(["sh", "-c"], ["sh", "-c"], ["cmd", "/C"]);
        let mut child = files::in_own_group(&mut Command::new(shell))
            .args([option, command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        *running = Some(child.id());
        drop(running);
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        // It may end without having read all of it.
        thread::Builder::new().spawn(move || stdin.map(|mut stdin| stdin.write_all(&input)))?;
        let lines = SoFar::read(stdout.take(MOST_BYTES))?;
        let until = Instant::now() + longest.min(LONGEST);
        Ok(WrappedStatusLine {
            child,
            lines,
            until,
        })
    }

    /// Returns its lines, without empty ones. Leaves no process running.
    pub(super) fn finish(&mut self) -> io::Result<Vec<u8>> {
        let until = self.until;
        let left = || until.saturating_duration_since(Instant::now());
        // It may close its output and go on, or end while what it has started has the output open.
        let has_ended = loop {
            if files::has_ended(&mut self.child)? {
                break true;
            }
            if Instant::now() >= until {
                break false;
            }
            thread::sleep(PAUSE);
        };
        let more = if has_ended { MORE } else { Duration::ZERO };
        let mut end = self.lines.end.recv_timeout(more.min(left())).ok();
        let mut running = lock(&RUNNING);
        // No other group can have its number before it is waited for.
        files::kill_group(self.child.id());
        *running = None;
        drop(running);
        self.child.kill()?;
        self.child.wait()?;
        if has_ended && end.is_none() {
            // The rest of its output. Who has left the group may have it open for ever.
            end = self.lines.end.recv_timeout(left()).ok();
        }
        match end {
            None if !has_ended => return Err(io::ErrorKind::TimedOut.into()),
            Some(Err(error)) => return Err(error),
            _ => {}
        }
        let read = self.lines.take();
        let lines = read.split(|byte| *byte == b'\n');
        let shown = lines.filter(|line| !line.trim_ascii().is_empty());
        Ok(shown
            .flat_map(|line| [line, b"\n"])
            .flatten()
            .copied()
            .collect())
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use rustix::process::{Pid, test_kill_process_group};

    fn lines(command: &str) -> io::Result<String> {
        let input = b"{\"session_id\":\"3f2a\"}".to_vec();
        let lines = WrappedStatusLine::start(command, input, LONGEST)?.finish()?;
        Ok(String::from_utf8_lossy(&lines).into_owned())
    }

    #[test]
    fn it_gets_the_input_and_its_lines_are_shown_as_they_are() {
        assert_eq!(
            lines("cat; printf '\\n\\n\\033[1mbold\\033[0m'").unwrap(),
            "{\"session_id\":\"3f2a\"}\n\u{1b}[1mbold\u{1b}[0m\n"
        );
        assert_eq!(lines("exit 3").unwrap(), "");
        assert_eq!(lines("true").unwrap(), "", "it reads nothing");
        assert_eq!(
            lines("yes | head -c 1000000").unwrap().len() as u64,
            MOST_BYTES
        );
    }

    #[test]
    fn it_is_ended_when_it_takes_too_long() {
        let mut chained = WrappedStatusLine::start("exec sleep 1000", Vec::new(), LONGEST).unwrap();
        chained.until -= LONGEST;
        assert_eq!(
            chained.finish().unwrap_err().kind(),
            io::ErrorKind::TimedOut
        );
    }

    #[test]
    fn it_is_ended_though_it_has_closed_its_output() {
        let mut chained =
            WrappedStatusLine::start("exec >&-; exec sleep 1000", Vec::new(), LONGEST).unwrap();
        chained.until -= LONGEST - Duration::from_millis(200);
        assert!(chained.finish().is_ok_and(|lines| lines.is_empty()));
    }

    #[test]
    fn nothing_that_it_started_is_left() {
        let mut chained =
            WrappedStatusLine::start("sleep 1000 & echo on", Vec::new(), LONGEST).unwrap();
        chained.until += files::waiting::DEADLINE;
        // Its output stays open after its end.
        assert_eq!(chained.finish().unwrap(), b"on\n");
        let group = Pid::from_child(&chained.child);
        files::waiting::wait_for("the end of its group", || {
            match test_kill_process_group(group) {
                Ok(()) => Err("it runs"),
                Err(_) => Ok(()),
            }
        });
    }
}
