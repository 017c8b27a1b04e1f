//! A program in a pseudo-terminal of 200×60: when the frame with the effect of a key has come.

use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const SIZE: (u16, u16) = (200, 60);
const PATIENCE: Duration = Duration::from_secs(20);

/// What a key changes of a screen.
pub type Probe = fn(&vt100::Screen) -> String;

/// A program in a pseudo-terminal.
pub struct Screen {
    /// When it was started.
    pub begun: Instant,
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    _master: Box<dyn MasterPty + Send>,
    chunks: Receiver<(Instant, Vec<u8>)>,
    /// What is on the screen.
    pub parser: vt100::Parser,
    /// All bytes that came.
    pub written: usize,
    /// The last bytes, in which a frame may end.
    tail: Vec<u8>,
}

impl Screen {
    /// Starts a program on a home. What it keeps for itself is kept from one start to the next.
    pub fn start(program: &str, arguments: &[&str], home: &Path) -> Screen {
        let own = std::env::temp_dir().join("ctxgauge-bench");
        Screen::start_with(program, arguments, home, &own)
    }

    /// The same; what it keeps for itself is in the folder `own`.
    pub fn start_with(program: &str, arguments: &[&str], home: &Path, own: &Path) -> Screen {
        let (columns, rows) = SIZE;
        let size = PtySize {
            rows,
            cols: columns,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).unwrap();
        let mut command = CommandBuilder::new(program);
        command.args(arguments);
        command.env_clear();
        command.env("HOME", home);
        command.env("TERM", "xterm-256color");
        for (name, folder) in [("CACHE", "cache"), ("STATE", "state"), ("CONFIG", "config")] {
            command.env(format!("XDG_{name}_HOME"), own.join(folder));
        }
        let mut reader = pair.master.try_clone_reader().unwrap();
        let (sender, chunks) = channel();
        std::thread::spawn(move || {
            let mut chunk = [0; 65_536];
            while let Ok(read @ 1..) = reader.read(&mut chunk) {
                if sender
                    .send((Instant::now(), chunk[..read].to_vec()))
                    .is_err()
                {
                    return;
                }
            }
        });
        let begun = Instant::now();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        Screen {
            begun,
            child,
            keys: pair.master.take_writer().unwrap(),
            _master: pair.master,
            chunks,
            parser: vt100::Parser::new(rows, columns, 0),
            written: 0,
            tail: Vec::new(),
        }
    }

    /// The number of its process.
    pub fn process(&self) -> String {
        self.child.process_id().unwrap().to_string()
    }

    /// The time from the start until so many bytes have come.
    pub fn wait_for_bytes(&self, bytes: usize) -> Duration {
        let mut read = 0;
        loop {
            let (at, chunk) = self.chunks.recv_timeout(PATIENCE).unwrap();
            read += chunk.len();
            if read > bytes {
                return at - self.begun;
            }
        }
    }

    /// Reads a chunk. Returns when it came if a frame ended in it.
    fn read(&mut self, wait: Duration) -> Option<Option<Instant>> {
        const END: &[u8] = b"\x1b[?2026l";
        let (at, chunk) = self.chunks.recv_timeout(wait).ok()?;
        self.parser.process(&chunk);
        self.written += chunk.len();
        self.tail.extend_from_slice(&chunk);
        let ended = self.tail.ends_with(END);
        let keep = self.tail.len().saturating_sub(END.len());
        self.tail.drain(..keep);
        Some(ended.then_some(at))
    }

    /// Waits until a whole frame satisfies the test. Returns when it had come.
    pub fn wait_for(&mut self, test: impl Fn(&vt100::Screen) -> bool) -> Instant {
        let found = self.wait_at_most(PATIENCE, test);
        found.unwrap_or_else(|| panic!("never:\n{}", self.parser.screen().contents()))
    }

    /// The same, but `None` when so much time has passed.
    pub fn wait_at_most(
        &mut self,
        time: Duration,
        test: impl Fn(&vt100::Screen) -> bool,
    ) -> Option<Instant> {
        let until = Instant::now() + time;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            let whole = self.read(left).flatten();
            if let Some(at) = whole.filter(|_| test(self.parser.screen())) {
                return Some(at);
            }
        }
        None
    }

    /// Waits until nothing has come for a while.
    pub fn settle(&mut self, quiet: Duration) {
        while self.read(quiet).is_some() {}
    }

    pub fn settle_for(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            self.read(left);
        }
    }

    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Presses a key and waits for its effect: what is on screen apart from numbers that grow.
    pub fn press_for(&mut self, key: &str) -> Duration {
        self.press_and_watch(key, probe)
    }

    fn press_and_watch(&mut self, key: &str, probe: Probe) -> Duration {
        let took = self.try_key(key, PATIENCE, probe);
        took.unwrap_or_else(|| panic!("{key:?}:\n{}", self.parser.screen().contents()))
    }

    /// Presses a key and waits so long for a frame in which `probe` finds something else.
    pub fn try_key(&mut self, key: &str, patience: Duration, probe: Probe) -> Option<Duration> {
        // What has come before is not its effect.
        while self.read(Duration::ZERO).is_some() {}
        let before = probe(self.parser.screen());
        let pressed = Instant::now();
        self.press(key);
        let answered = self.wait_at_most(patience, |screen| probe(screen) != before)?;
        Some(answered - pressed)
    }

    /// Presses these keys one after another, so many times in all. The time that each took.
    pub fn keys(&mut self, keys: &str, times: usize) -> Vec<Duration> {
        self.keys_and_watch(keys, times, probe)
    }

    pub fn keys_and_watch(&mut self, keys: &str, times: usize, probe: Probe) -> Vec<Duration> {
        let keys = split_keys(keys);
        let pressed = (0..times).map(|n| {
            // A user's pause, never in step with the frames.
            self.settle_for(Duration::from_millis(35 + (n as u64 * 7) % 23));
            self.press_and_watch(&keys[n % keys.len()], probe)
        });
        pressed.collect()
    }

    /// Quits as a user does.
    pub fn quit(self) {
        let _ = self.end();
    }

    /// The same; whether it ended at once and in order.
    pub fn end(mut self) -> Result<(), String> {
        // It may have ended before.
        let _ = self.keys.write_all(b"q");
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(5) {
            match self.child.try_wait().unwrap() {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("the monitor: {status}")),
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        }
        Err("the monitor does not end".to_owned())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Keys, of which some are escape sequences.
fn split_keys(keys: &str) -> Vec<String> {
    let (mut found, mut rest) = (Vec::<String>::new(), keys);
    while let Some(first) = rest.chars().next() {
        let len = match rest.strip_prefix("\x1b[") {
            Some(after) => 3 + after.find(|c: char| c.is_alphabetic() || c == '~').unwrap(),
            None => first.len_utf8(),
        };
        found.push(rest[..len].to_owned());
        rest = &rest[len..];
    }
    found
}

/// What keys change and logs that grow do not: what is marked, reversed, underlined or bold, the line above the list
/// and the kind of screen.
pub fn probe(screen: &vt100::Screen) -> String {
    let (rows, columns) = screen.size();
    let mut seen = String::new();
    for overlay in ["─ signs: ", "─ keys: "] {
        if screen.contents().contains(overlay) {
            seen.push_str(overlay);
        }
    }
    for row in 0..rows {
        let cell = |column: u16| screen.cell(row, column);
        // The mark of the selected row.
        for column in [0, 1] {
            seen.push_str(cell(column).map_or("", |cell| cell.contents()));
        }
        let background = cell(3).map(|cell| cell.bgcolor());
        if background.is_some_and(|colour| colour != vt100::Color::Default) {
            seen.push_str(&format!("{row}"));
        }
        // The names of the sessions; numbers beside them grow.
        if screen.contents_between(0, 0, 0, 12).contains("ctxgauge") && row > 2 {
            seen += &screen.contents_between(row, 12, row, 30);
        }
        if row < 3 || row + 1 == rows {
            for column in 0..columns {
                let Some(cell) = cell(column) else { continue };
                if !cell.contents().chars().all(|c| c.is_ascii_digit()) {
                    seen.push_str(cell.contents());
                }
                if cell.inverse() || cell.underline() {
                    seen.push('_');
                }
            }
        }
    }
    seen
}

/// The active tab: the row of tabs with its colours.
pub fn tab(screen: &vt100::Screen) -> String {
    let (rows, columns) = screen.size();
    let row = (0..rows).find(|row| {
        screen
            .contents_between(*row, 0, *row, 12)
            .contains("1 items")
    });
    let cells = (0..columns).filter_map(|column| screen.cell(row?, column));
    cells
        .map(|cell| format!("{:?}{}{}", cell.fgcolor(), cell.bold(), cell.inverse()))
        .collect()
}

/// The moment of a replay.
pub fn moment(screen: &vt100::Screen) -> String {
    let rows = screen.contents();
    let row = rows
        .lines()
        .find(|row| row.contains(" of ") && row.contains("request"));
    row.unwrap_or_default().to_owned()
}
