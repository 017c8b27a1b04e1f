//! What a frame costs: time and bytes of a change at 200×60, and a step back and forth in a session of
//! 5,000 requests.
//!
//! `cargo bench --bench screens`. Frames are drawn to a sink that counts.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use ctxgauge::model::event::{
    BilledUsage, Conversation, Entry, Event, Key, Meta, NewItem, Node, Part, Place, Size, Usage,
    count,
};
use ctxgauge::model::lists::sessions::{Commands, FileFacts, FileId, Sessions, Update};
use ctxgauge::model::{Kind, Role, Source};
use ctxgauge::tui::app::{App, Msg};
use ctxgauge::tui::keymap::KeyPress;
use ctxgauge::tui::runtime::painter::Painter;
use ctxgauge::tui::theme::Theme;
use ctxgauge::tui::views;
use jiff::{SignedDuration, Timestamp};
use std::cell::Cell;
use std::io::{self, Write};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

const SIZE: (u16, u16) = (200, 60);
const CHANGES: usize = 400;

fn main() {
    changes("overview of 60 sessions", "", 60, 30);
    changes("overview of 5,000 sessions", "", 5_000, 2);
    changes("a session of 60 requests", "⏎", 60, 60);
    changes("a session of 1,000 requests", "⏎", 3, 1_000);
    changes("the same, newest item first", "⏎s", 3, 1_000);
    orders(10_000);
    scrub(5_000);
}

/// The list is made again for each key: in another order, or with another filter. All titles begin alike.
fn orders(sessions: u64) {
    let mut screen = Screen::new(sessions, 1);
    for log in &mut screen.logs {
        let title = format!("Work on bead spotter-{}. Run bd show to see it", log.file.0);
        let meta = Event::Meta(Box::new(Meta {
            title: Some(title.into()),
            ..Meta::default()
        }));
        screen.app.update(Msg::Update(log.entry(vec![meta])));
    }
    screen.frame();
    let mut frames = Vec::new();
    for key in "SSSSSSSSSSSSSS/spotter-1234".chars() {
        let begun = Instant::now();
        screen.app.update(Msg::Key(KeyPress::Char(key)));
        let handled = begun.elapsed().as_secs_f64() * 1e3;
        let mut frame = screen.frame();
        frame.ms += handled;
        frames.push(frame);
    }
    report(
        &format!("a list of {sessions} sessions, made again"),
        frames,
    );
}

/// One session grows by a result or a report at a time.
fn changes(what: &str, keys: &str, sessions: u64, requests: u64) {
    let mut screen = Screen::new(sessions, requests);
    screen.keys(keys);
    screen.frame();
    let idle = screen.frame();
    assert_eq!(idle.bytes, 0, "an unchanged screen writes nothing");
    let mut frames = Vec::new();
    for n in 0..CHANGES {
        let update = screen.logs[0].grow(n % 2 == 0);
        screen.app.update(Msg::Update(update));
        frames.push(screen.frame());
    }
    report(what, frames);
}

fn scrub(requests: u64) {
    let mut screen = Screen::new(1, requests);
    screen.keys("⏎");
    screen.frame();
    let mut frames = Vec::new();
    for n in 0..2_000 {
        // Steps back, and leaps: to the largest growth, and live.
        let press = match n % 50 {
            48 => KeyPress::Char('L'),
            49 => KeyPress::Char('l'),
            _ => KeyPress::Left,
        };
        let begun = Instant::now();
        screen.app.update(Msg::Key(press));
        let moved = begun.elapsed().as_secs_f64() * 1e3;
        let mut frame = screen.frame();
        frame.ms += moved;
        frames.push(frame);
    }
    report(
        &format!("a step in a session of {requests} requests"),
        frames,
    );
}

struct Frame {
    ms: f64,
    bytes: usize,
}

fn report(what: &str, frames: Vec<Frame>) {
    let mut ms: Vec<f64> = frames.iter().map(|frame| frame.ms).collect();
    let mut bytes: Vec<usize> = frames.iter().map(|frame| frame.bytes).collect();
    ms.sort_by(f64::total_cmp);
    bytes.sort_unstable();
    let at = |share: f64| ((frames.len() - 1) as f64 * share) as usize;
    println!(
        "{what:<40} {:.2} ms p50  {:.2} ms p99   {} bytes p50  {} p95  {} at most",
        ms[at(0.5)],
        ms[at(0.99)],
        bytes[at(0.5)],
        bytes[at(0.95)],
        bytes[bytes.len() - 1],
    );
}

/// The screens, painted to a sink.
struct Screen {
    app: App,
    painter: Painter<Sink>,
    written: Rc<Cell<usize>>,
    logs: Vec<Log>,
    now: Timestamp,
}

#[derive(Clone)]
struct Sink(Rc<Cell<usize>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.set(self.0.get() + bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Screen {
    fn new(sessions: u64, requests: u64) -> Screen {
        let now: Timestamp = "2026-03-14T15:09:26Z".parse().unwrap();
        let rules = Arc::new(ctxgauge::config::rules().unwrap());
        let mut app = App::new(Sessions::new(rules), now);
        let mut logs = Vec::new();
        for n in 0..sessions {
            let mut log = Log::new(n, now);
            for update in log.begin() {
                app.update(Msg::Update(update));
            }
            for _ in 0..requests {
                for what in [true, false] {
                    app.update(Msg::Update(log.grow(what)));
                }
            }
            logs.push(log);
        }
        app.update(Msg::Update(Update::InitialScanDone));
        app.update(Msg::Resize(SIZE.0, SIZE.1));
        let written = Rc::new(Cell::new(0));
        Screen {
            app,
            painter: Painter::new(Sink(Rc::clone(&written))),
            written,
            logs,
            now,
        }
    }

    fn keys(&mut self, keys: &str) {
        for key in keys.chars() {
            self.frame();
            let press = match key {
                '⏎' => KeyPress::Enter,
                key => KeyPress::Char(key),
            };
            self.app.update(Msg::Key(press));
        }
    }

    fn frame(&mut self) -> Frame {
        self.written.set(0);
        let begun = Instant::now();
        self.app.prepare(self.now);
        let app = &self.app;
        let mut hits = Default::default();
        self.painter
            .paint(SIZE, |buffer| {
                hits = views::draw(app, Theme::default(), buffer);
            })
            .unwrap();
        self.app.hits = hits;
        Frame {
            ms: begun.elapsed().as_secs_f64() * 1e3,
            bytes: self.written.get(),
        }
    }
}

/// A session's log, made up as it grows.
struct Log {
    file: FileId,
    line: u64,
    prompt: u64,
    seed: u64,
    now: Timestamp,
}

impl Log {
    fn new(n: u64, now: Timestamp) -> Log {
        Log {
            file: FileId(n),
            line: 0,
            prompt: 24_000,
            seed: n * 7 + 1,
            now: now - SignedDuration::from_secs(60 + n as i64),
        }
    }

    fn begin(&mut self) -> Vec<Update> {
        let id = format!("session-{}", self.file.0);
        let facts = FileFacts {
            file: self.file,
            agent: "claude-code",
            label: "claude",
            commands: Commands::NONE,
            path: Arc::new(PathBuf::from(format!("/logs/{id}.jsonl"))),
            id: Some(id),
            parent: None,
            len: 0,
            modified: Some(self.now),
            host: None,
        };
        let meta = Event::Meta(Box::new(Meta {
            cwd: Some(format!("/home/ada/code/project-{}", self.file.0 % 7).into()),
            model: Some("claude-opus-4-8".into()),
            version: Some("2.1.39".into()),
            ..Meta::default()
        }));
        vec![Update::Found(Box::new(facts)), self.entry(vec![meta])]
    }

    /// A call with its report, or the call's result.
    fn grow(&mut self, call: bool) -> Update {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let tokens = 60 + (self.seed >> 33) % 900;
        let tool = ["Read", "Bash", "Grep", "Edit"][(self.seed >> 50) as usize % 4];
        let request = Key::of_number("request", self.line);
        let (role, kind, part) = if call {
            (Role::Assistant, Kind::ToolCall, Part::Output)
        } else {
            (Role::Tool, Kind::ToolResult, Part::Result)
        };
        let node = Event::Node(Box::new(Node {
            part,
            request: call.then_some(request),
            items: vec![NewItem {
                role,
                kind,
                tool: Some(tool.into()),
                call: None,
                size: Size {
                    bytes: count(tokens * 4),
                    local: count(tokens),
                    counted: true,
                    ..Size::default()
                },
                preview: format!("line {} of something that was read", self.line).into(),
                hash: self.seed,
                nth: 0,
                is_failed: false,
            }],
            ..Node::default()
        }));
        self.prompt += tokens;
        let usage = Event::Usage(Box::new(Usage {
            request,
            model: None,
            prompt: self.prompt,
            cached: self.prompt - tokens,
            miss: None,
            output: Some(tokens),
            reasoning: None,
            source: Source::Reported,
            billed: BilledUsage::default(),
            is_whole: false,
            is_inherited: false,
        }));
        self.entry(if call { vec![node, usage] } else { vec![node] })
    }

    fn entry(&mut self, events: Vec<Event>) -> Update {
        self.line += 1;
        self.now += SignedDuration::from_millis(5);
        let place = Place::new(self.line, self.line * 1_000, 900);
        let entries = events.into_iter().map(|event| Entry {
            conversation: Conversation::Main,
            place,
            at: Some(self.now),
            event,
        });
        Update::Appended {
            file: self.file,
            entries: entries.collect(),
        }
    }
}
