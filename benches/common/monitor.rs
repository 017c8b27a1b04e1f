//! The monitor in a terminal of its own, as a user runs it, watched from outside.

use super::measure::{bytes_read, peak_memory};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use std::time::{Duration, Instant};

/// How long nothing may happen until a monitor counts as settled.
const QUIET: Duration = Duration::from_millis(1_500);
/// No monitor works longer.
const PATIENCE: Duration = Duration::from_secs(120);

/// A running monitor.
pub struct Monitor {
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    _master: Box<dyn MasterPty + Send>,
    drawn: Arc<AtomicU64>,
    /// What was drawn, and when it came.
    chunks: Receiver<(Instant, Vec<u8>)>,
    screen: vt100::Parser,
}

/// What a monitor has used so far.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    pub cpu: Duration,
    /// Bytes read.
    pub read: u64,
    /// Bytes written to the terminal.
    pub drawn: u64,
    /// Most bytes of memory that were resident.
    pub peak: u64,
}

impl Monitor {
    /// Opens it on a home, with its caches and state in another folder.
    pub fn open(home: &Path, own: &Path) -> Monitor {
        let size = PtySize {
            rows: 60,
            cols: 200,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_ctxgauge"));
        command.env_clear();
        command.env("HOME", home);
        command.env("TERM", "xterm-256color");
        for (name, folder) in [("CACHE", "cache"), ("STATE", "state"), ("CONFIG", "config")] {
            command.env(format!("XDG_{name}_HOME"), own.join(folder));
        }
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let drawn = Arc::new(AtomicU64::new(0));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let count = Arc::clone(&drawn);
        let (sender, chunks) = channel();
        std::thread::spawn(move || {
            let mut chunk = [0; 64 << 10];
            while let Ok(read @ 1..) = reader.read(&mut chunk) {
                count.fetch_add(read as u64, Ordering::Relaxed);
                let _ = sender.send((Instant::now(), chunk[..read].to_vec()));
            }
        });
        Monitor {
            keys: pair.master.take_writer().unwrap(),
            child,
            _master: pair.master,
            drawn,
            chunks,
            screen: vt100::Parser::new(60, 200, 0),
        }
    }

    /// Waits until it has read what it wants to. Returns what it had used when the quiet began.
    pub fn settle(&self) -> Used {
        let begun = Instant::now();
        let mut last = (Instant::now(), self.used());
        while last.0.elapsed() < QUIET {
            assert!(begun.elapsed() < PATIENCE, "the monitor does not settle");
            std::thread::sleep(Duration::from_millis(50));
            let now = self.used();
            if now.cpu > last.1.cpu + Duration::from_millis(2) || now.read > last.1.read {
                last = (Instant::now(), now);
            }
        }
        last.1
    }

    /// What it has used until now.
    pub fn used(&self) -> Used {
        let process = self.child.process_id().unwrap().to_string();
        let tasks = fs::read_dir(format!("/proc/{process}/task")).unwrap();
        let nanos = tasks.filter_map(|task| {
            // The first number is the time on a processor, in nanoseconds.
            let schedule = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
            schedule.split_whitespace().next()?.parse::<u64>().ok()
        });
        // Threads that have ended count only in the time of the process, which has a resolution of 10 ms.
        let cpu = Duration::from_nanos(nanos.sum()).max(ticks(&process));
        Used {
            cpu,
            read: bytes_read(&process),
            drawn: self.drawn.load(Ordering::Relaxed),
            peak: peak_memory(&process),
        }
    }

    /// Waits until the screen satisfies a test at the end of a frame. Returns when that had come.
    pub fn wait_for(&mut self, test: impl Fn(&str) -> bool) -> Instant {
        const END: &[u8] = b"\x1b[?2026l";
        let mut tail = Vec::new();
        while let Ok((at, chunk)) = self.chunks.recv_timeout(Duration::from_secs(10)) {
            self.screen.process(&chunk);
            tail.extend_from_slice(&chunk);
            if tail.ends_with(END) && test(&self.screen.screen().contents()) {
                return at;
            }
            tail.drain(..tail.len().saturating_sub(END.len()));
        }
        panic!("never:\n{}", self.screen.screen().contents());
    }

    /// Types keys.
    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Quits as a user does.
    pub fn quit(mut self) {
        self.press("q");
        let begun = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            if begun.elapsed() > Duration::from_secs(5) {
                self.child.kill().unwrap();
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Time on processors of a process, by the system's clock ticks, of which there are 100 a second.
fn ticks(process: &str) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name in parentheses may have spaces; user and system time are the 12th and 13th after it.
    let after = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    Duration::from_millis(10 * ticks)
}
