//! The monitor in this process, with a console of its own: keys in, the screen out. The logs are read by the real
//! threads; the screens' own time stands still unless a test lets it pass.

use crate::support::user;
use clap::Parser;
use crossterm::event::{
    Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind,
};
use ctxgauge::commands;
use ctxgauge::commands::Cli;
use ctxgauge::files::waiting;
use ctxgauge::tui::{self, Console, ConsoleEvent, EndedBy};
use jiff::{SignedDuration, Timestamp};
use std::cell::{Cell, RefCell};
use std::future::{Future, pending, poll_fn};
use std::io::{self, Write};
use std::path::Path;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Longer than any time between two frames of a screen that changes.
const FRAME: Duration = Duration::from_millis(300);

/// Events that may wait to be handled.
const WAITING: usize = 1024;

/// The running screens.
pub struct Monitor {
    runtime: Runtime,
    run: Pin<Box<dyn Future<Output = anyhow::Result<()>>>>,
    woken: Arc<Woken>,
    events: Sender<Event>,
    size: Rc<Cell<(u16, u16)>>,
    written: Written,
    /// How much time tests have let pass, in milliseconds.
    passed: Arc<AtomicU64>,
    end: Option<anyhow::Result<()>>,
}

impl Monitor {
    /// Opens the screens with these arguments in this home, on columns by rows.
    pub fn open(home: &Path, arguments: &[&str], size: (u16, u16)) -> Monitor {
        Monitor::open_with(home, arguments, size, &[])
    }

    /// The same, with more in the environment.
    pub fn open_with(
        home: &Path,
        arguments: &[&str],
        size: (u16, u16),
        environment: &[(&str, &str)],
    ) -> Monitor {
        Monitor::try_open(home, arguments, size, environment).unwrap()
    }

    /// The same, where the configuration may be wrong.
    pub fn try_open(
        home: &Path,
        arguments: &[&str],
        size: (u16, u16),
        environment: &[(&str, &str)],
    ) -> anyhow::Result<Monitor> {
        let words = ["ctxgauge"].iter().chain(arguments);
        let cli = Cli::try_parse_from(words)?;
        let environment = [&[("TERM", "xterm-256color")], environment].concat();
        let environment = environment
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.into()));
        let mut start = commands::screens(cli, &user(home, environment.collect()))?;
        let passed = Arc::<AtomicU64>::default();
        start.now = {
            let (opened, passed) = (Timestamp::now(), Arc::clone(&passed));
            Box::new(move || {
                let passed = i64::try_from(passed.load(Ordering::Relaxed)).unwrap();
                opened + SignedDuration::from_millis(passed)
            })
        };
        let (events, waiting) = channel(WAITING);
        let size = Rc::new(Cell::new(size));
        let written = Written::new(size.get());
        let console = Scripted {
            size: Rc::clone(&size),
            events: waiting,
        };
        let mut monitor = Monitor {
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()?,
            run: Box::pin(tui::run_on(start, console, written.clone())),
            woken: Arc::default(),
            events,
            size,
            written,
            passed,
            end: None,
        };
        monitor.run_until_idle();
        Ok(monitor)
    }

    /// Runs until all input and updates are handled, and every frame that they cause is drawn.
    pub fn run_until_idle(&mut self) {
        self.drain();
        loop {
            let before = self.drawn();
            self.runtime.block_on(tokio::time::advance(FRAME));
            self.drain();
            if self.drawn() == before {
                return;
            }
        }
    }

    /// Lets time pass for the screens.
    pub fn pass(&mut self, time: Duration) {
        let ms = u64::try_from(time.as_millis()).unwrap();
        self.passed.fetch_add(ms, Ordering::Relaxed);
        self.runtime.block_on(tokio::time::advance(time));
        self.run_until_idle();
    }

    /// Runs until there is nothing more to do at this moment of the screens' time.
    fn drain(&mut self) {
        if self.end.is_some() {
            return;
        }
        let (run, woken) = (&mut self.run, &self.woken);
        let waker = Waker::from(Arc::clone(woken));
        self.end = self.runtime.block_on(async {
            loop {
                woken.0.store(false, Ordering::SeqCst);
                let mut context = Context::from_waker(&waker);
                let polled = poll_fn(|_| Poll::Ready(run.as_mut().poll(&mut context))).await;
                if let Poll::Ready(end) = polled {
                    return Some(end);
                }
                // Wakes what has yielded.
                tokio::task::yield_now().await;
                if !woken.0.load(Ordering::SeqCst) {
                    return None;
                }
            }
        });
    }

    fn send(&mut self, event: Event) {
        self.events.try_send(event).unwrap();
    }

    /// Presses keys one by one, each with its frames: `⏎` Enter, `⎋` Escape, `⇥` Tab, arrows, `⇞` and `⇟` for the pages;
    /// the others are characters.
    pub fn press(&mut self, keys: &str) {
        for key in keys.chars() {
            self.press_key(match key {
                '⏎' => KeyCode::Enter,
                '⎋' => KeyCode::Esc,
                '⇥' => KeyCode::Tab,
                '↑' => KeyCode::Up,
                '↓' => KeyCode::Down,
                '←' => KeyCode::Left,
                '→' => KeyCode::Right,
                '⇞' => KeyCode::PageUp,
                '⇟' => KeyCode::PageDown,
                c => KeyCode::Char(c),
            });
        }
    }

    /// Presses a key.
    pub fn press_key(&mut self, key: KeyCode) {
        self.send(Event::Key(KeyEvent::new(key, KeyModifiers::NONE)));
        self.run_until_idle();
    }

    /// Presses the left button on a cell, by column and row, drags it over others, and lets it go.
    pub fn drag(&mut self, from: (u16, u16), over: &[(u16, u16)]) {
        let event = |kind, (column, row)| {
            Event::Mouse(MouseEvent {
                kind,
                column,
                row,
                modifiers: KeyModifiers::NONE,
            })
        };
        self.send(event(MouseEventKind::Down(MouseButton::Left), from));
        for to in over {
            self.send(event(MouseEventKind::Drag(MouseButton::Left), *to));
        }
        let last = over.last().copied().unwrap_or(from);
        self.send(event(MouseEventKind::Up(MouseButton::Left), last));
        self.run_until_idle();
    }

    /// Clicks on the first cell of a text.
    pub fn click(&mut self, text: &str) {
        let at = self.place(text);
        self.drag(at, &[]);
    }

    /// Gives the screen another size.
    pub fn resize(&mut self, (columns, rows): (u16, u16)) {
        self.size.set((columns, rows));
        let mut written = self.written.0.borrow_mut();
        written.parser.screen_mut().set_size(rows, columns);
        drop(written);
        self.send(Event::Resize(columns, rows));
        self.run_until_idle();
    }

    /// What the screen shows.
    pub fn text(&self) -> String {
        self.screen().contents()
    }

    /// What the screen shows, with its styles.
    pub fn screen(&self) -> vt100::Screen {
        self.written.0.borrow().parser.screen().clone()
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

    /// The colour behind a cell, by row and column.
    pub fn background(&self, (row, column): (u16, u16)) -> vt100::Color {
        let screen = self.screen();
        let cell = screen.cell(row, column);
        cell.map_or(vt100::Color::Default, vt100::Cell::bgcolor)
    }

    /// What was written to the terminal.
    pub fn bytes(&self) -> Vec<u8> {
        self.written.0.borrow().bytes.clone()
    }

    /// How many bytes were written to the terminal.
    pub fn drawn(&self) -> usize {
        self.written.0.borrow().bytes.len()
    }

    /// How often these bytes were written.
    pub fn times_written(&self, bytes: &[u8]) -> usize {
        let all = self.bytes();
        let windows = all.windows(bytes.len());
        windows.filter(|window| *window == bytes).count()
    }

    /// Waits until the screen satisfies the test.
    pub fn wait_for(&mut self, what: &str, test: impl Fn(&str) -> bool) -> String {
        self.wait(what, Duration::ZERO, test)
    }

    /// Waits until the screen holds this text.
    pub fn wait_for_text(&mut self, text: &str) -> String {
        self.wait_for(text, |screen| screen.contains(text))
    }

    /// The same while time passes for the screens, as a replay needs it.
    pub fn play_until(&mut self, what: &str, test: impl Fn(&str) -> bool) -> String {
        self.wait(what, Duration::from_millis(20), test)
    }

    fn wait(&mut self, what: &str, step: Duration, test: impl Fn(&str) -> bool) -> String {
        waiting::wait_for(what, || {
            self.pass(step);
            let text = self.text();
            if test(&text) { Ok(text) } else { Err(text) }
        })
    }

    /// How the screens have ended.
    pub fn end(&mut self) -> anyhow::Result<()> {
        self.run_until_idle();
        let end = self.end.take();
        end.unwrap_or_else(|| panic!("the screens go on:\n{}", self.text()))
    }
}

/// A console whose keys and sizes come from a test.
struct Scripted {
    size: Rc<Cell<(u16, u16)>>,
    events: Receiver<Event>,
}

impl Console for Scripted {
    fn size(&self) -> io::Result<(u16, u16)> {
        Ok(self.size.get())
    }

    async fn enter(&mut self) -> io::Result<Option<EndedBy>> {
        Ok(None)
    }

    async fn leave(&mut self) {}

    async fn suspend(&mut self) -> io::Result<Option<EndedBy>> {
        Ok(None)
    }

    async fn next(&mut self) -> ConsoleEvent {
        match self.events.recv().await {
            Some(event) => ConsoleEvent::Event(event),
            None => pending().await,
        }
    }
}

/// What was written to the terminal, and the screen that it makes.
#[derive(Clone)]
struct Written(Rc<RefCell<Terminal>>);

struct Terminal {
    parser: vt100::Parser,
    bytes: Vec<u8>,
}

impl Written {
    fn new((columns, rows): (u16, u16)) -> Written {
        Written(Rc::new(RefCell::new(Terminal {
            parser: vt100::Parser::new(rows, columns, 0),
            bytes: Vec::new(),
        })))
    }
}

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut terminal = self.0.borrow_mut();
        terminal.parser.process(bytes);
        terminal.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether the screens' task was woken.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}
