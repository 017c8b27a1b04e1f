//! The program in a terminal of its own: a pseudo-terminal whose screen the tests read.

use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How long a screen may take to show what a test waits for. Loaded machines are slow.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running program and its screen.
pub struct Terminal {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    screen: Arc<Mutex<Screen>>,
}

struct Screen {
    parser: vt100::Parser,
    bytes: Vec<u8>,
}

impl Screen {
    /// Whether no frame is begun and not ended.
    fn is_whole(&self) -> bool {
        const UPDATE: &[u8] = b"\x1b[?2026";
        let last = self
            .bytes
            .windows(UPDATE.len())
            .rposition(|it| it == UPDATE);
        last.is_none_or(|at| self.bytes.get(at + UPDATE.len()) == Some(&b'l'))
    }
}

impl Terminal {
    /// Starts the program with these arguments in this home, on a screen of columns by rows.
    pub fn open(home: &Path, arguments: &[&str], size: (u16, u16)) -> Terminal {
        Terminal::open_with(home, arguments, size, &[])
    }

    /// The same, with more in its environment.
    pub fn open_with(
        home: &Path,
        arguments: &[&str],
        size: (u16, u16),
        environment: &[(&str, &str)],
    ) -> Terminal {
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_ctxgauge"));
        command.args(arguments);
        command.env_clear();
        command.env("HOME", home);
        command.env("TERM", "xterm-256color");
        for (name, value) in environment {
            command.env(name, value);
        }
        Terminal::start(command, size)
    }

    /// Starts a script of a shell in this home; `CTXGAUGE` is the program.
    #[cfg(unix)]
    pub fn open_shell(home: &Path, script: &str, size: (u16, u16)) -> Terminal {
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", script]);
        command.env_clear();
        command.env("HOME", home);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("TERM", "xterm-256color");
        command.env("CTXGAUGE", env!("CARGO_BIN_EXE_ctxgauge"));
        Terminal::start(command, size)
    }

    /// Starts a command.
    pub fn start(command: CommandBuilder, (columns, rows): (u16, u16)) -> Terminal {
        let size = PtySize {
            rows,
            cols: columns,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system().openpty(size).unwrap();
        let child = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let screen = Arc::new(Mutex::new(Screen {
            parser: vt100::Parser::new(rows, columns, 0),
            bytes: Vec::new(),
        }));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let shared = Arc::clone(&screen);
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut chunk) {
                let mut screen = shared.lock().unwrap();
                screen.parser.process(&chunk[..read]);
                screen.bytes.extend_from_slice(&chunk[..read]);
            }
        });
        Terminal {
            keys: pair.master.take_writer().unwrap(),
            master: pair.master,
            child,
            screen,
        }
    }

    /// Types keys, as a terminal sends them.
    pub fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// What the screen shows.
    pub fn text(&self) -> String {
        self.screen().contents()
    }

    /// Presses the left button on a cell, by column and row, drags it over others, and lets it go.
    pub fn drag(&mut self, from: (u16, u16), over: &[(u16, u16)]) {
        let said = |button: u16, (column, row): (u16, u16), end: char| {
            format!("\x1b[<{button};{};{}{end}", column + 1, row + 1)
        };
        let mut bytes = said(0, from, 'M');
        // 32 stands for a move.
        bytes.extend(over.iter().map(|to| said(32, *to, 'M')));
        bytes += &said(0, over.last().copied().unwrap_or(from), 'm');
        self.press(&bytes);
    }

    /// Clicks on the first cell of a text.
    pub fn click(&mut self, text: &str) {
        let at = self.place(text);
        self.drag(at, &[]);
    }

    /// Where a text begins on the screen, by column and row.
    pub fn place(&self, text: &str) -> (u16, u16) {
        let screen = self.text();
        let found = screen.lines().zip(0..).find_map(|(line, row)| {
            let (before, _) = line.split_once(text)?;
            Some((u16::try_from(before.chars().count()).unwrap(), row))
        });
        found.unwrap_or_else(|| panic!("{text} is not on the screen:\n{screen}"))
    }

    /// What the program has written, as it was sent.
    pub fn bytes(&self) -> Vec<u8> {
        self.screen.lock().unwrap().bytes.clone()
    }

    /// What the screen holds, with its styles. A frame that is being drawn is waited for, but not for
    /// ever: a program that was killed never ends it.
    pub fn screen(&self) -> vt100::Screen {
        let start = Instant::now();
        loop {
            let screen = self.screen.lock().unwrap();
            if screen.is_whole() || start.elapsed() > Duration::from_secs(1) {
                return screen.parser.screen().clone();
            }
            drop(screen);
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The bytes that were drawn so far.
    pub fn drawn(&self) -> usize {
        self.screen.lock().unwrap().bytes.len()
    }

    /// How often these bytes were written so far.
    pub fn times_written(&self, bytes: &[u8]) -> usize {
        let screen = self.screen.lock().unwrap();
        let windows = screen.bytes.windows(bytes.len());
        windows.filter(|window| *window == bytes).count()
    }

    /// Whether the program is on the alternate screen.
    pub fn is_alternate(&self) -> bool {
        self.screen
            .lock()
            .unwrap()
            .parser
            .screen()
            .alternate_screen()
    }

    /// The colour behind a cell, by row and column.
    pub fn background(&self, (row, column): (u16, u16)) -> vt100::Color {
        let screen = self.screen.lock().unwrap();
        let cell = screen.parser.screen().cell(row, column);
        cell.map_or(vt100::Color::Default, vt100::Cell::bgcolor)
    }

    /// Whether the terminal reads lines and echoes keys, as it does before and after the screens.
    #[cfg(unix)]
    pub fn is_cooked(&self) -> bool {
        use nix::sys::termios::LocalFlags;
        let modes = self.master.get_termios().unwrap().local_flags;
        modes.contains(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG)
    }

    /// The private modes that were set last and not unset.
    pub fn modes_left_on(&self) -> Vec<String> {
        let bytes = self.bytes();
        let text = String::from_utf8_lossy(&bytes);
        let mut on = std::collections::BTreeMap::new();
        for sequence in text.split("\x1b[?").skip(1) {
            let number = sequence.trim_start_matches(|c: char| c.is_ascii_digit());
            let name = sequence[..sequence.len() - number.len()].to_owned();
            on.insert(name, number.starts_with('h'));
        }
        // The cursor is shown by setting its mode.
        on.remove("25");
        on.into_iter()
            .filter(|(_, on)| *on)
            .map(|(name, _)| name)
            .collect()
    }

    /// Whether the cursor is hidden.
    pub fn hides_cursor(&self) -> bool {
        self.screen.lock().unwrap().parser.screen().hide_cursor()
    }

    /// Waits until the screen satisfies the test; shows it where it never does.
    pub fn wait_for(&self, what: &str, test: impl Fn(&str) -> bool) -> String {
        let start = Instant::now();
        loop {
            let text = self.text();
            if test(&text) {
                return text;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "the screen never showed {what}:\n{text}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the screen holds this text.
    pub fn wait_for_text(&self, text: &str) -> String {
        self.wait_for(text, |screen| screen.contains(text))
    }

    /// Gives the screen another size.
    pub fn resize(&self, (columns, rows): (u16, u16)) {
        self.screen
            .lock()
            .unwrap()
            .parser
            .screen_mut()
            .set_size(rows, columns);
        self.announce_size((columns, rows));
    }

    /// Tells the program of another size, and leaves the screen that is read as it is: the parser
    /// behind it does not bear the smallest sizes.
    pub fn announce_size(&self, (columns, rows): (u16, u16)) {
        let size = PtySize {
            rows,
            cols: columns,
            pixel_width: 0,
            pixel_height: 0,
        };
        self.master.resize(size).unwrap();
    }

    /// The program's process id.
    pub fn process_id(&self) -> u32 {
        self.child.process_id().unwrap()
    }

    /// Whether the program ends within so much time.
    pub fn ends_within(&mut self, time: Duration) -> bool {
        let start = Instant::now();
        while start.elapsed() < time {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        false
    }

    /// Waits for the program to end.
    pub fn wait_for_end(&mut self) -> ExitStatus {
        let start = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                // What it wrote last is still on its way.
                std::thread::sleep(Duration::from_millis(100));
                return status;
            }
            assert!(
                start.elapsed() < PATIENCE,
                "it never ended:\n{}",
                self.text()
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}
