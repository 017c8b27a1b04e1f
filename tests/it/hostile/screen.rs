//! The screens without a terminal: keys in, the bytes of frames out.

use super::bytes::{HOSTILE, NAME, wrong_in_text, wrong_on_screen};
use ctxgauge::ingest::log::LogFile;
use ctxgauge::ingest::log::conversations::LogSessions;
use ctxgauge::model::lists::sessions::{Sessions, Update};
use ctxgauge::model::lists::text::{Text, TextPage};
use ctxgauge::model::window::Rules;
use ctxgauge::tui::app::{App, Effect, Msg};
use ctxgauge::tui::keymap::KeyPress;
use ctxgauge::tui::runtime::painter::Painter;
use ctxgauge::tui::theme::Theme;
use ctxgauge::tui::views;
use jiff::Timestamp;
use std::cell::RefCell;
use std::io::{self, Write};
use std::rc::Rc;
use std::sync::Arc;

/// The screens, painted as they are on a terminal.
pub struct Screen {
    pub app: App,
    painter: Painter<Shared>,
    written: Shared,
    now: Timestamp,
}

#[derive(Clone, Default)]
struct Shared(Rc<RefCell<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.borrow_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Screen {
    /// Screens without sessions.
    pub fn new(rules: &Arc<Rules>) -> Screen {
        Screen::at(rules, Timestamp::now())
    }

    /// Screens without sessions, on which it is always this time.
    pub fn at(rules: &Arc<Rules>, now: Timestamp) -> Screen {
        let written = Shared::default();
        let mut app = App::new(Sessions::new(Arc::clone(rules)), now);
        app.update(Msg::Resize(150, 40));
        Screen {
            app,
            painter: Painter::new(written.clone()),
            written,
            now,
        }
    }

    /// Adds the sessions of a log, completely read.
    pub fn add(&mut self, log: &LogFile, sessions: LogSessions) {
        let file = log.facts.file;
        let found = Update::Found(Box::new(log.facts.clone()));
        let rebuilt = Update::Rebuilt { file, sessions };
        for update in [found, rebuilt, Update::InitialScanDone, Update::CaughtUp] {
            self.app.update(Msg::Update(update));
        }
    }

    /// Paints a frame, also what is already on the screen. Returns what was written.
    pub fn whole_frame(&mut self, what: &str) -> Vec<u8> {
        self.painter.forget();
        self.frame(what)
    }

    /// Paints a frame. Returns what was written: what has changed since the one before.
    pub fn frame(&mut self, what: &str) -> Vec<u8> {
        self.app.prepare(self.now);
        let (app, theme) = (&self.app, Theme::default());
        let mut hits = Default::default();
        let draw = |buffer: &mut _| hits = views::draw(app, theme, buffer);
        self.painter.paint(app.ui.size, draw).unwrap();
        self.app.hits = hits;
        let bytes = self.written.0.take();
        if let Some(wrong) = wrong_on_screen(&bytes) {
            panic!("{what}: the screen got {wrong}");
        }
        bytes
    }

    /// Presses keys, each with its frame, and answers requests for texts. Returns what was written.
    pub fn press(&mut self, what: &str, keys: &str) -> Vec<u8> {
        let mut written = Vec::new();
        for key in keys.chars() {
            let press = match key {
                '⏎' => KeyPress::Enter,
                '⎋' => KeyPress::Esc,
                '↓' => KeyPress::Down,
                c => KeyPress::Char(c),
            };
            match self.app.update(Msg::Key(press)) {
                Effect::ReadText(of) => {
                    let text = Text {
                        text: format!("{{\"{NAME}\": 1}}\n{HOSTILE}\n").repeat(20),
                        pages: 1,
                        bytes: 1,
                        lines: 40,
                        line: 1,
                    };
                    let page = TextPage { of, text: Ok(text) };
                    self.app.update(Msg::Text(Box::new(page)));
                }
                Effect::Copy(text) => {
                    let wrong = wrong_in_text(text.as_bytes());
                    assert!(text.contains(NAME) && wrong.is_none(), "copied: {wrong:?}");
                }
                _ => {}
            }
            written.extend(self.frame(&format!("{what}, {key} of {keys}")));
        }
        written
    }
}
