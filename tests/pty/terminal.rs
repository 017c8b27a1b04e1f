//! The program in a terminal of its own: a pseudo-terminal whose screen the tests read.

use ctxgauge::files::waiting;
use portable_pty::{Child, CommandBuilder, ExitStatus, MasterPty, PtySize, native_pty_system};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

/// Escape as terminals send it that do not leave it ambiguous: a lone byte that is read together with the next key
/// is Alt with that key.
pub const ESCAPE: &str = "\x1b[27u";

/// Held by the test that runs: each has the machine to itself.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A running program and its screen.
pub struct Terminal {
    master: Box<dyn MasterPty + Send>,
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    screen: Arc<Mutex<Screen>>,
    /// Ends when no process has the terminal any more.
    reader: Option<JoinHandle<()>>,
    /// Keys that were pressed.
    pressed: u64,
    _turn: MutexGuard<'static, ()>,
}

struct Screen {
    parser: vt100::Parser,
    bytes: Vec<u8>,
    /// What it has shown since the last key, a frame at a time, as far as it is kept.
    frames: VecDeque<String>,
}

/// How many frames are kept.
const KEPT_FRAMES: usize = 256;
/// The end of a synchronized update.
const FRAME_END: &[u8] = b"\x1b[?2026l";

impl Screen {
    fn read(&mut self, bytes: &[u8]) {
        // What is read at once from a busy machine may be several frames.
        for piece in bytes.split_inclusive(|byte| FRAME_END.last() == Some(byte)) {
            self.parser.process(piece);
            self.bytes.extend_from_slice(piece);
            if self.bytes.ends_with(FRAME_END) {
                self.keep_frame();
            }
        }
        if self.is_whole() {
            self.keep_frame();
        }
    }

    fn keep_frame(&mut self) {
        let frame = self.parser.screen().contents();
        if self.frames.back() != Some(&frame) {
            if self.frames.len() == KEPT_FRAMES {
                self.frames.pop_front();
            }
            self.frames.push_back(frame);
        }
    }

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
    pub fn start(mut command: CommandBuilder, (columns, rows): (u16, u16)) -> Terminal {
        // A test that has failed says so itself.
        let turn = ONE_AT_A_TIME.lock();
        let turn = turn.unwrap_or_else(PoisonError::into_inner);
        // Frames end with the number of keys that they have consumed.
        command.env("CTXGAUGE_SYNC", "1");
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
            frames: VecDeque::new(),
        }));
        let mut reader = pair.master.try_clone_reader().unwrap();
        let shared = Arc::clone(&screen);
        let reader = std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(read @ 1..) = reader.read(&mut chunk) {
                shared.lock().unwrap().read(&chunk[..read]);
            }
        });
        Terminal {
            keys: pair.master.take_writer().unwrap(),
            master: pair.master,
            child,
            screen,
            reader: Some(reader),
            pressed: 0,
            _turn: turn,
        }
    }

    /// Writes bytes to the terminal's input.
    pub fn write(&mut self, bytes: &str) {
        self.keys.write_all(bytes.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Presses a key, as a terminal sends it, and waits for a frame that has consumed it.
    pub fn press(&mut self, key: &str) {
        self.screen.lock().unwrap().frames.clear();
        self.write(key);
        self.pressed += 1;
        let pressed = self.pressed;
        waiting::wait_for(&format!("frame after the key {key:?}"), || {
            match self.consumed() {
                Some(consumed) if consumed >= pressed => Ok(()),
                consumed => Err(format!("{consumed:?} of {pressed} keys:\n{}", self.text())),
            }
        });
    }

    /// The keys that the last marked frame has consumed.
    fn consumed(&self) -> Option<u64> {
        const MARK: &[u8] = b"\x1b]7777;";
        let screen = self.screen.lock().unwrap();
        let at = screen
            .bytes
            .windows(MARK.len())
            .rposition(|it| it == MARK)?;
        let number = screen.bytes[at + MARK.len()..]
            .split(|byte| *byte == 7)
            .next()?;
        std::str::from_utf8(number).ok()?.parse().ok()
    }

    /// What the screen shows.
    pub fn text(&self) -> String {
        self.screen.lock().unwrap().parser.screen().contents()
    }

    /// What the program has written, as it was sent.
    pub fn bytes(&self) -> Vec<u8> {
        self.screen.lock().unwrap().bytes.clone()
    }

    /// Whether the program is on the alternate screen.
    fn is_alternate(&self) -> bool {
        self.screen
            .lock()
            .unwrap()
            .parser
            .screen()
            .alternate_screen()
    }

    /// Whether the terminal reads lines and echoes keys, as it does before and after the screens.
    fn is_cooked(&self) -> bool {
        use nix::sys::termios::LocalFlags;
        let modes = self.master.get_termios().unwrap().local_flags;
        modes.contains(LocalFlags::ICANON | LocalFlags::ECHO | LocalFlags::ISIG)
    }

    /// The private modes that were set last and not unset.
    fn modes_left_on(&self) -> Vec<String> {
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
    fn hides_cursor(&self) -> bool {
        self.screen.lock().unwrap().parser.screen().hide_cursor()
    }

    /// Waits until the screen satisfies the test. A frame that is being drawn is waited for.
    pub fn wait_for(&self, what: &str, test: impl Fn(&str) -> bool) -> String {
        waiting::wait_for(what, || {
            let screen = self.screen.lock().unwrap();
            let text = screen.parser.screen().contents();
            if screen.is_whole() && test(&text) {
                Ok(text)
            } else {
                Err(text)
            }
        })
    }

    /// Waits until the screen has shown something since the last key: a notice goes away by itself, and may do so before
    /// a busy machine looks.
    pub fn wait_for_notice(&self, what: &str, test: impl Fn(&str) -> bool) {
        waiting::wait_for(what, || {
            let screen = self.screen.lock().unwrap();
            let is_shown = screen.frames.iter().any(|frame| test(frame));
            is_shown.then_some(()).ok_or_else(|| {
                let frames: Vec<&str> = screen.frames.iter().map(String::as_str).collect();
                frames.join("\n--- the next frame\n")
            })
        });
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

    /// Waits for the program to end, and for what it wrote last.
    pub fn wait_for_end(&mut self) -> ExitStatus {
        let status = waiting::wait_for("end of the program", || {
            match self.child.try_wait().unwrap() {
                Some(status) => Ok(status),
                None => Err(self.text()),
            }
        });
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        status
    }

    /// Waits until the program has left the terminal as it was: its lines are read and echoed, the screen is the
    /// usual one, the cursor is shown.
    pub fn wait_until_left(&self) {
        self.wait_for_modes("the terminal as it was", || {
            self.is_cooked() && !self.is_alternate() && !self.hides_cursor()
        });
        let modes = self.modes_left_on();
        assert!(modes.is_empty(), "{modes:?}");
    }

    /// Waits until the program has the terminal.
    pub fn wait_until_taken(&self) {
        self.wait_for_modes("the terminal in the screens' modes", || {
            !self.is_cooked() && self.is_alternate()
        });
    }

    fn wait_for_modes(&self, what: &str, test: impl Fn() -> bool) {
        waiting::wait_for(what, || {
            if test() {
                Ok(())
            } else {
                Err(format!(
                    "cooked: {}, alternate: {}, cursor hidden: {}:\n{}",
                    self.is_cooked(),
                    self.is_alternate(),
                    self.hides_cursor(),
                    self.text()
                ))
            }
        });
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
