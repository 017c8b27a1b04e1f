//! What a user at a terminal waits for: the first frame, and the frame after a key.
//!
//! `cargo bench --bench terminal`. The program runs in a pseudo-terminal of 200×60; a key is answered when
//! the last byte of the frame with its effect has arrived. One line for each figure: its goal, what was
//! measured, and the ratio. `CTXGAUGE_BENCH_HOME` names a home for the first frame instead of a made-up one
//! of 400 logs. `-- NAME` runs only the figures whose names contain NAME.
#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::expect_used)]

mod common;

use common::rows::{row, time};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use ratatui::crossterm::{event, execute, terminal};
use ratatui::layout::Constraint;
use ratatui::style::{Color, Style};
use ratatui::widgets::{Cell, Row, Table};
use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

const SIZE: (u16, u16) = (200, 60);
/// Begins of this program as the minimal one.
const MINIMAL: &str = "--minimal";
const STARTS: usize = 15;
const PATIENCE: Duration = Duration::from_secs(20);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == MINIMAL) {
        return minimal();
    }
    let only = arguments.iter().find(|argument| !argument.starts_with('-'));
    let figures: [(&str, fn()); 4] = [
        ("first frame", first_frame),
        ("keys, 50 growing", keys_while_growing),
        ("keys, 10,000 sessions", keys_of_many),
        ("idle", idle),
    ];
    for (name, figure) in figures {
        if only.is_none_or(|only| name.contains(only.as_str())) {
            figure();
        }
    }
}

/// One line: what, the goal, what was measured, in the same unit.
fn figure(name: &str, goal: f64, measured: f64, unit: &str) {
    println!(
        "{name:<46} goal {goal:>6.1} {unit:<7} measured {measured:>7.2}  {:.2} of the goal",
        measured / goal
    );
}

/// A ratatui program that draws a table and waits for a key.
fn minimal() {
    let mut terminal = ratatui::init();
    execute!(std::io::stdout(), event::EnableMouseCapture).unwrap();
    terminal
        .draw(|frame| {
            let rows = (0..frame.area().height).map(|n| {
                let cells = (0..10).map(|column| Cell::from(format!("cell {n} {column}")));
                Row::new(cells).style(Style::new().fg(Color::Indexed(n as u8 % 7)))
            });
            frame.render_widget(Table::new(rows, [Constraint::Fill(1); 10]), frame.area());
        })
        .unwrap();
    let _ = event::read();
    ratatui::restore();
    let _ = terminal::disable_raw_mode();
}

fn first_frame() {
    let made;
    let home = match std::env::var_os("CTXGAUGE_BENCH_HOME") {
        Some(home) => PathBuf::from(home),
        None => {
            made = Home::new(400, 200_000, Duration::from_secs(3_600));
            made.path().to_owned()
        }
    };
    let mut took = [Vec::new(), Vec::new(), Vec::new()];
    for _ in 0..STARTS {
        let me = std::env::current_exe().unwrap();
        let minimal = Screen::start(me.to_str().unwrap(), &[MINIMAL], &home);
        took[0].push(minimal.wait_for_bytes(2_000));
        let ours = Screen::start(env!("CARGO_BIN_EXE_ctxgauge"), &["--fresh"], &home);
        took[1].push(ours.wait_for_bytes(2_000));
        drop(ours);
        let mut ours = Screen::start(env!("CARGO_BIN_EXE_ctxgauge"), &["--fresh"], &home);
        let begun = ours.begun;
        ours.wait_for(|screen| rows_listed(screen) > 20);
        took[2].push(begun.elapsed());
    }
    let [minimal, bytes, rows] = took.map(|mut took| {
        took.sort_unstable();
        took[took.len() / 2].as_secs_f64()
    });
    println!("a minimal program's first frame: {:.1} ms", minimal * 1e3);
    figure(
        "first frame, 400 sessions (2 kB)",
        3.0,
        bytes / minimal,
        "minimal",
    );
    figure("a screen full of them", 3.0, rows / minimal, "minimal");
    let of = Duration::from_secs_f64;
    for (what, ours) in [
        ("first frame with 400 sessions", bytes),
        ("first screen full of them", rows),
    ] {
        row(
            &format!("{what}, beside a minimal ratatui program's first frame"),
            "≤ 3×",
            time(of(ours)),
            time(of(minimal)),
            format!("{:.2}×", ours / minimal),
        );
    }
}

fn rows_listed(screen: &vt100::Screen) -> usize {
    let rows = screen.contents();
    rows.lines()
        .filter(|row| row.contains("claude") || row.contains("codex"))
        .count()
}

/// Keys on every screen, while 50 sessions grow.
fn keys_while_growing() {
    let home = Home::new(50, 60_000, Duration::ZERO);
    let logs = home.logs.clone();
    let (stop, stopped) = channel::<()>();
    let grow = std::thread::spawn(move || {
        let mut files: Vec<File> = logs
            .iter()
            .map(|log| OpenOptions::new().append(true).open(log).unwrap())
            .collect();
        // Each grows five times a second.
        for n in 1_000.. {
            let file = &mut files[n % 50];
            file.write_all(response(n, n % 50, 700).as_bytes()).unwrap();
            if stopped.recv_timeout(Duration::from_millis(4))
                != Err(std::sync::mpsc::RecvTimeoutError::Timeout)
            {
                return;
            }
        }
    });
    let mut screen = Screen::start(env!("CARGO_BIN_EXE_ctxgauge"), &["--fresh"], home.path());
    screen.wait_for(|screen| rows_listed(screen) > 40);
    std::thread::sleep(Duration::from_millis(1_500));
    let mut all = Vec::new();
    let mut of = |name: &str, took: Vec<Duration>| {
        report_keys(name, 16.0, &took);
        all.extend(took);
    };
    of("key, 50 growing: list, up and down", screen.keys("jk", 200));
    of("key, 50 growing: list, sort", screen.keys("s", 60));
    of("key, 50 growing: list, group", screen.keys("p", 60));
    of("key, 50 growing: list, help", screen.keys("?\x1b", 60));
    screen.press_for("/");
    of(
        "key, 50 growing: list, filter",
        screen.keys("proj\x7f\x7f\x7f\x7f", 80),
    );
    screen.press("\r");
    std::thread::sleep(Duration::from_millis(300));
    screen.press_for("\r");
    std::thread::sleep(Duration::from_millis(500));
    of(
        "key, 50 growing: session, up and down",
        screen.keys("jk", 100),
    );
    of(
        "key, 50 growing: session, tabs",
        screen.keys_and_watch("\t", 90, tab),
    );
    screen.press_for("1");
    of(
        "key, 50 growing: session, steps",
        screen.keys_and_watch("\x1b[D", 60, moment),
    );
    screen.press("l");
    std::thread::sleep(Duration::from_millis(200));
    screen.press_for("\r");
    std::thread::sleep(Duration::from_millis(300));
    of("key, 50 growing: text", screen.keys("?\x1b", 60));
    report_keys("key, 50 growing: all", 16.0, &all);
    all.sort_unstable();
    let at = |share: f64| time(all[((all.len() - 1) as f64 * share) as usize]);
    row(
        "a key to its frame's last byte, 50 sessions growing: p50 and p99",
        "≤ 16 ms at p99",
        format!("{} and {}", at(0.5), at(0.99)),
        "–",
        "–",
    );
    let _ = stop.send(());
    grow.join().unwrap();
}

/// Keys on 10,000 sessions, 10 GB, from the start of the program.
fn keys_of_many() {
    let home = Home::new(10_000, 1 << 20, Duration::from_secs(3_600));
    let mut screen = Screen::start(env!("CARGO_BIN_EXE_ctxgauge"), &["--fresh"], home.path());
    let begun = screen.begun;
    screen.wait_for(|screen| rows_listed(screen) > 40);
    figure(
        "10,000 sessions: a screen full",
        1_000.0,
        begun.elapsed().as_secs_f64() * 1e3,
        "ms",
    );
    let mut all = Vec::new();
    let mut of = |name: &str, took: Vec<Duration>| {
        report_keys(name, 50.0, &took);
        all.extend(took);
    };
    of("key, 10,000 sessions: down", screen.keys("j", 150));
    of("key, 10,000 sessions: pages", screen.keys("\x1b[6~", 100));
    of(
        "key, 10,000 sessions: top and bottom",
        screen.keys("Gg", 60),
    );
    of("key, 10,000 sessions: sort", screen.keys("s", 40));
    of("key, 10,000 sessions: reverse", screen.keys("S", 20));
    of("key, 10,000 sessions: group", screen.keys("p", 20));
    screen.press_for("/");
    of(
        "key, 10,000 sessions: filter",
        screen.keys("project-7\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", 80),
    );
    screen.press("\x1b");
    let text = screen.parser.screen().contents();
    let state = if text.contains("reading") || text.contains('…') {
        ""
    } else {
        "not "
    };
    println!("the index was {state}being built at the last key");
    report_keys("key, 10,000 sessions: all, the longest", 50.0, &all);
    let longest = all.iter().max().unwrap().as_secs_f64() * 1e3;
    figure(
        "key, 10,000 sessions: the longest of all",
        50.0,
        longest,
        "ms",
    );
    all.sort_unstable();
    row(
        "a key among 10,000 sessions of 10 GB that are being read: p50 and the longest",
        "≤ 50 ms",
        format!(
            "{} and {}",
            time(all[all.len() / 2]),
            time(all[all.len() - 1])
        ),
        "–",
        "–",
    );
}

/// A screen on which nothing happens.
fn idle() {
    let home = Home::new(100, 60_000, Duration::from_secs(86_400));
    let mut screen = Screen::start(env!("CARGO_BIN_EXE_ctxgauge"), &["--fresh"], home.path());
    screen.wait_for(|screen| rows_listed(screen) > 40);
    screen.settle(Duration::from_secs(1));
    let before = screen.written;
    screen.settle_for(Duration::from_secs(5));
    figure(
        "idle: bytes in 5 s",
        1.0,
        (screen.written - before) as f64,
        "bytes",
    );
}

fn report_keys(name: &str, goal: f64, took: &[Duration]) {
    let mut took: Vec<f64> = took.iter().map(|took| took.as_secs_f64() * 1e3).collect();
    took.sort_by(f64::total_cmp);
    let at = |share: f64| took[((took.len() - 1) as f64 * share) as usize];
    figure(&format!("{name}, p99"), goal, at(0.99), "ms");
    println!(
        "{:<46} p50 {:.2} ms, most {:.2} ms, {} keys",
        "",
        at(0.5),
        at(1.0),
        took.len()
    );
}

/// A program in a pseudo-terminal.
struct Screen {
    begun: Instant,
    child: Box<dyn Child + Send + Sync>,
    keys: Box<dyn Write + Send>,
    _master: Box<dyn MasterPty + Send>,
    chunks: Receiver<(Instant, Vec<u8>)>,
    parser: vt100::Parser,
    /// All bytes that came.
    written: usize,
    /// The last bytes, in which a frame may end.
    tail: Vec<u8>,
}

impl Screen {
    fn start(program: &str, arguments: &[&str], home: &Path) -> Screen {
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
        command.env(
            "XDG_STATE_HOME",
            std::env::temp_dir().join("ctxgauge-bench-state"),
        );
        command.env(
            "XDG_CACHE_HOME",
            std::env::temp_dir().join("ctxgauge-bench-cache"),
        );
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

    /// The time from the start until so many bytes have come.
    fn wait_for_bytes(&self, bytes: usize) -> Duration {
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
    fn wait_for(&mut self, test: impl Fn(&vt100::Screen) -> bool) -> Instant {
        let begun = Instant::now();
        loop {
            let whole = self.read(PATIENCE).flatten();
            if let Some(at) = whole.filter(|_| test(self.parser.screen())) {
                return at;
            }
            assert!(
                begun.elapsed() < PATIENCE,
                "never:\n{}",
                self.parser.screen().contents()
            );
        }
    }

    /// Waits until nothing has come for a while.
    fn settle(&mut self, quiet: Duration) {
        while self.read(quiet).is_some() {}
    }

    fn settle_for(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            self.read(left);
        }
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        self.keys.flush().unwrap();
    }

    /// Presses a key and waits for its effect: what is on screen apart from numbers that grow.
    fn press_for(&mut self, key: &str) -> Duration {
        self.press_and_watch(key, probe)
    }

    fn press_and_watch(&mut self, key: &str, probe: fn(&vt100::Screen) -> String) -> Duration {
        // What has come before is not its effect.
        while self.read(Duration::ZERO).is_some() {}
        let before = probe(self.parser.screen());
        let pressed = Instant::now();
        self.press(key);
        self.wait_for(|screen| probe(screen) != before) - pressed
    }

    /// Presses these keys one after another, so many times in all. The time that each took.
    fn keys(&mut self, keys: &str, times: usize) -> Vec<Duration> {
        self.keys_and_watch(keys, times, probe)
    }

    fn keys_and_watch(
        &mut self,
        keys: &str,
        times: usize,
        probe: fn(&vt100::Screen) -> String,
    ) -> Vec<Duration> {
        let keys = split_keys(keys);
        let pressed = (0..times).map(|n| {
            // A user's pause, never in step with the frames.
            self.settle_for(Duration::from_millis(35 + (n as u64 * 7) % 23));
            self.press_and_watch(&keys[n % keys.len()], probe)
        });
        pressed.collect()
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
fn probe(screen: &vt100::Screen) -> String {
    let (rows, columns) = screen.size();
    let mut seen = String::new();
    if screen.contents().contains("─ keys: ") {
        seen.push_str("help");
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
fn tab(screen: &vt100::Screen) -> String {
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
fn moment(screen: &vt100::Screen) -> String {
    let rows = screen.contents();
    let row = rows
        .lines()
        .find(|row| row.contains(" of ") && row.contains("request"));
    row.unwrap_or_default().to_owned()
}

/// A home folder full of Claude Code logs.
struct Home {
    folder: TempDir,
    logs: Vec<PathBuf>,
}

impl Home {
    /// So many logs of so many bytes, each with a hole if it is long; written one second after another, the newest
    /// so long ago.
    fn new(logs: usize, bytes: u64, age: Duration) -> Home {
        let folder = tempfile::tempdir().unwrap();
        let projects = folder.path().join(".claude/projects");
        let newest = SystemTime::now() - age;
        let logs = (0..logs).map(|n| {
            let session = n;
            let project = projects.join(format!("-home-ada-project-{}", n % 100));
            fs::create_dir_all(&project).unwrap();
            let path = project.join(format!("{n:08x}-0000-4000-8000-000000000000.jsonl"));
            let mut file = File::create(&path).unwrap();
            let part = |from: usize| -> String {
                let count = if bytes > 100_000 {
                    3
                } else {
                    bytes as usize / 1_400
                };
                (from..from + count)
                    .map(|n| response(n, session, 700))
                    .collect()
            };
            file.write_all(part(0).as_bytes()).unwrap();
            if bytes > 100_000 {
                file.seek(SeekFrom::Start(bytes)).unwrap();
                file.write_all(b"\n").unwrap();
                file.write_all(part(500).as_bytes()).unwrap();
            }
            let at = newest - Duration::from_secs(n as u64);
            file.set_times(FileTimes::new().set_modified(at)).unwrap();
            path
        });
        let logs = logs.collect();
        Home { folder, logs }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// A tool's result and a response with its usage, as Claude Code writes them.
fn response(n: usize, session: usize, bytes: usize) -> String {
    let text = "some text, as it may be ".repeat(bytes / 24);
    let at = format!(
        "2026-01-02T{:02}:{:02}:{:02}.678Z",
        3 + n / 3600,
        n / 60 % 60,
        n % 60
    );
    format!(
        "{{\"type\":\"user\",\"uuid\":\"r{n}\",\"parentUuid\":\"u{}\",\"sessionId\":\"s\",\"timestamp\":\"{at}\",\
         \"cwd\":\"/home/ada/project-{session}\",\"message\":{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\
         \"tool_use_id\":\"t{n}\",\"content\":\"{text}\"}}]}}}}\n\
         {{\"type\":\"assistant\",\"uuid\":\"u{n}\",\"parentUuid\":\"r{n}\",\"sessionId\":\"s\",\
         \"timestamp\":\"{at}\",\"cwd\":\"/home/ada/project-{session}\",\"message\":{{\
         \"id\":\"m{n}\",\"role\":\"assistant\",\"model\":\"claude-sonnet-4-5-20250929\",\
         \"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}],\"usage\":{{\"input_tokens\":5,\
         \"cache_creation_input_tokens\":100,\"cache_read_input_tokens\":{},\"output_tokens\":50}}}}}}\n",
        n.saturating_sub(1),
        10_000 + 190 * (n % 800)
    )
}
