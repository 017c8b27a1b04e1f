//! A set of sessions by hand, for tests of the screens: events as a decoder would write them.

mod search;

use crate::app::{App, Effect, ListLine, Msg};
use crate::keymap::KeyPress;
use crate::paint::HitMap;
use crate::theme::Theme;
use crate::views;
use jiff::{SignedDuration, Timestamp};
use model::event::{
    BilledUsage, CacheMiss, Cause, Conversation, Entry, Event, Key, Meta, MissCause, NewItem, Node,
    Part, Place, Reset, RetainedItems, Size, Usage, count,
};
use model::lists::sessions::{
    Commands, FileFacts, FileId, OtherHost, SessionKey, Sessions, Update,
};
use model::session::{Coverage, Session};
use model::window::Rules;
use model::{Kind, LeaveReason, Role, Source};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use render::ascii::Charset;
pub(crate) use search::{Plain, begin_search, found_in, say};
use std::path::PathBuf;
use std::sync::Arc;

const RULES: &str = r#"
[[model]]
ids = ["claude-*"]
window = 200_000
tokenizer = "test"
source = "test"

[[model]]
ids = ["gpt-*"]
window = 258_400
tokenizer = "test"
source = "test"

[[model]]
ids = ["gemini-*"]
window = 1_048_576
tokenizer = "test"
source = "test"

[tokenizer.test]
per_token = 1.0
per_item = 4.0
spread = 0.1
spread_floor = 10.0
source = "test"

[[policy]]
agent = "claude-code"
sessions = ["agent-acompact-*"]
name = "never"
ends = true
source = "test"

[[policy]]
agent = "claude-code"
name = "claude-code"
reserve = 33_000
keeps = "a summary"
source = "test"

[[policy]]
agent = "codex"
name = "codex"
share = 0.95
keeps = "user messages"
source = "test"

[[cache]]
ids = ["claude-*"]
seconds = 3_600

[[price]]
ids = ["priced-*"]
input = 10.0
cached_read = 1.0
output = 50.0

[[trigger]]
agent = "claude-code"
kind = "idle"
usual = true
share = 0.9
size = 100_000
"#;

/// The time at which all tests look.
pub(crate) fn now() -> Timestamp {
    "2026-03-14T15:09:26Z".parse().expect("a time")
}

pub(crate) fn rules() -> Arc<Rules> {
    Arc::new(toml::from_str(RULES).expect("rules"))
}

/// Writes a session's log as events, one line after the other.
pub(crate) struct Log {
    file: FileId,
    conversation: Conversation,
    line: u64,
    at: Timestamp,
    updates: Vec<Update>,
}

impl Log {
    /// A file that was found; its last record will be written about `age` seconds ago.
    pub(crate) fn found(n: u64, agent: &'static str, id: &str, age: i64) -> Log {
        let at = now() - SignedDuration::from_secs(age);
        let label = agent.split('-').next().unwrap_or(agent);
        let facts = FileFacts {
            file: FileId(n),
            agent,
            label,
            commands: Commands {
                resume: (agent == "claude-code").then_some("claude --resume {id}"),
                compact: (agent == "claude-code").then_some("/compact"),
            },
            path: Arc::new(PathBuf::from(format!("/logs/{agent}/{id}.jsonl"))),
            id: Some(id.to_owned()),
            parent: None,
            len: 0,
            modified: Some(at),
            host: None,
        };
        Log {
            file: FileId(n),
            conversation: Conversation::Main,
            line: 0,
            at,
            updates: vec![Update::Found(Box::new(facts))],
        }
    }

    /// This log on another machine.
    pub(crate) fn on_host(mut self, host: &str) -> Log {
        let limits = Session::new("codex", rules()).limits();
        let host = Arc::new(OtherHost::new(&host.into(), "shop", limits.clone()));
        for update in &mut self.updates {
            if let Update::Found(facts) = update {
                facts.host = Some(Arc::clone(&host));
            }
        }
        self
    }

    /// This log at another path.
    pub(crate) fn at_path(mut self, path: &str) -> Log {
        for update in &mut self.updates {
            if let Update::Found(facts) = update {
                facts.path = Arc::new(PathBuf::from(path));
            }
        }
        self
    }

    /// This log as another file.
    pub(crate) fn of_file(mut self, n: u64) -> Log {
        self.file = FileId(n);
        for update in &mut self.updates {
            match update {
                Update::Found(facts) => facts.file = self.file,
                Update::Appended { file, .. } => *file = self.file,
                _ => {}
            }
        }
        self
    }

    pub(crate) fn event(mut self, event: Event) -> Log {
        self.line += 1;
        let entry = Entry {
            conversation: self.conversation,
            place: Place::new(self.line, self.line * 1_000, 900),
            at: Some(self.at),
            event,
        };
        self.updates.push(Update::Appended {
            file: self.file,
            entries: vec![entry],
        });
        self
    }

    /// Another event of the record before.
    pub(crate) fn too(mut self, event: Event) -> Log {
        if let Some(Update::Appended { entries, .. }) = self.updates.last_mut()
            && let Some(entry) = entries.first().cloned()
        {
            entries.push(Entry { event, ..entry });
        }
        self
    }

    pub(crate) fn meta(
        self,
        cwd: &str,
        model: &str,
        title: Option<&str>,
        parent: Option<&str>,
    ) -> Log {
        self.event(Event::Meta(Box::new(Meta {
            cwd: Some(cwd.into()),
            model: Some(model.into()),
            title: title.map(Into::into),
            parent: parent.map(Into::into),
            version: Some("0.21.39".into()),
            ..Meta::default()
        })))
    }

    fn node(self, part: Part, items: Vec<NewItem>) -> Log {
        let request = (part == Part::Output).then(|| Key::of_number("request", self.line));
        self.event(Event::Node(Box::new(Node {
            part,
            request,
            turn: part == Part::Input,
            items,
            ..Node::default()
        })))
    }

    pub(crate) fn user(self, tokens: u64, text: &str) -> Log {
        let item = item(Role::User, Kind::Text, None, tokens, text);
        self.node(Part::Input, vec![item])
    }

    pub(crate) fn skill(self, tokens: u64, text: &str) -> Log {
        let item = item(Role::Container, Kind::Skill, None, tokens, text);
        self.node(Part::Injected, vec![item])
    }

    pub(crate) fn summary(self, tokens: u64, text: &str) -> Log {
        let item = item(Role::Container, Kind::Summary, None, tokens, text);
        self.node(Part::Injected, vec![item])
    }

    pub(crate) fn result(self, tool: &str, tokens: u64, text: &str) -> Log {
        let item = item(Role::Tool, Kind::ToolResult, Some(tool), tokens, text);
        self.node(Part::Result, vec![item])
    }

    /// A response that calls a tool, with its report.
    pub(crate) fn answer(self, prompt: u64, output: u64, tool: &str, text: &str) -> Log {
        let request = Key::of_number("request", self.line);
        let call = item(Role::Assistant, Kind::ToolCall, Some(tool), output, text);
        self.node(Part::Output, vec![call])
            .event(Event::Usage(Box::new(Usage {
                request,
                model: None,
                prompt,
                cached: prompt - prompt / 10,
                miss: None,
                output: Some(output),
                reasoning: None,
                source: Source::Reported,
                billed: BilledUsage::default(),
                is_whole: false,
                is_inherited: false,
            })))
    }

    /// A response whose prompt was not in the cache, for a reason that the provider logged.
    pub(crate) fn rebuilt(mut self, prompt: u64, cause: &str) -> Log {
        self = self.answer(prompt, 100, "Bash", "make");
        let usage = self
            .updates
            .iter_mut()
            .rev()
            .find_map(|update| match update {
                Update::Appended { entries, .. } => match &mut entries[0].event {
                    Event::Usage(usage) => Some(usage),
                    _ => None,
                },
                _ => None,
            });
        let usage = usage.expect("a report");
        usage.cached = 0;
        usage.miss = Some(Box::new(CacheMiss {
            cause: MissCause::named(cause),
            tokens: Some(prompt),
        }));
        self
    }

    /// A text of the model.
    pub(crate) fn says(self, tokens: u64, text: &str) -> Log {
        let item = item(Role::Assistant, Kind::Text, None, tokens, text);
        self.node(Part::Output, vec![item])
    }

    pub(crate) fn compact(self, before: u64, after: Option<u64>) -> Log {
        self.event(Event::Reset(Box::new(Reset {
            key: None,
            gone: LeaveReason::Compaction,
            cause: Cause::Automatic,
            before: Some(before),
            after,
            kept: RetainedItems::Nothing,
        })))
    }

    pub(crate) fn unreadable(self, why: &str) -> Log {
        self.event(Event::Unreadable(why.into()))
    }

    /// The same records as if they stood in two places by turns, as in a log that is rewritten.
    pub(crate) fn in_two_places(mut self) -> Log {
        for (n, update) in self.updates.iter_mut().enumerate() {
            if let Update::Appended { entries, .. } = update {
                entries[0].place = Place::new(1, n as u64 % 2, 900);
            }
        }
        self
    }

    /// The records, half a minute apart, the last at the time that was given.
    pub(crate) fn into_updates(mut self) -> Vec<Update> {
        let mut at = self.at;
        for update in self.updates.iter_mut().rev() {
            if let Update::Appended { entries, .. } = update {
                entries.iter_mut().for_each(|entry| entry.at = Some(at));
                at -= SignedDuration::from_secs(31);
            }
        }
        self.updates
    }
}

pub(crate) fn item(role: Role, kind: Kind, tool: Option<&str>, tokens: u64, text: &str) -> NewItem {
    NewItem {
        role,
        kind,
        tool: tool.map(Into::into),
        call: None,
        size: Size {
            bytes: count(tokens.saturating_mul(4)),
            local: count(tokens),
            counted: true,
            ..Size::default()
        },
        preview: text.into(),
        hash: tokens,
        nth: 0,
        is_failed: false,
    }
}

/// A session of each kind that a row can show.
pub(crate) fn logs() -> Vec<Log> {
    let near = Log::found(1, "codex", "019a-near", 8)
        .meta("/home/ada/code/api-gateway", "gpt-5.4", None, None)
        .user(900, "why does the retry loop spin")
        .answer(190_000, 600, "shell", "rg -n retry src")
        .result("shell", 14_000, "src/retry.rs:14: loop {")
        .answer(204_700, 900, "shell", "cargo test retry")
        .result("shell", 21_500, "running 214 tests")
        .answer(227_200, 800, "apply_patch", "*** Begin Patch")
        .result(
            "apply_patch",
            13_100,
            "Success. Updated the following files:",
        )
        .answer(241_000, 500, "shell", "cargo test")
        .result("shell", 1_200, "test result: ok. 214 passed");
    let mid = Log::found(2, "claude-code", "5f0c-mid", 2)
        .meta(
            "/home/ada/code/shop",
            "claude-opus-4-6-20260115",
            None,
            None,
        )
        .skill(3_100, "commit: how commits are written here")
        .user(480, "the cart loses its lines when two tabs are open")
        .answer(31_200, 350, "Read", "src/db.rs")
        .result("Read", 18_400, "src/db.rs 1 use std::sync::Arc;")
        .answer(50_100, 900, "Bash", "cargo test 2>&1")
        .result("Bash", 9_700, "running 41 tests")
        .answer(60_900, 2_100, "Grep", "fn connect")
        .result("Grep", 61_000, "src/main.rs:12: fn connect(url: &str)")
        .answer(124_100, 1_400, "Edit", "src/db.rs")
        .result(
            "Edit",
            3_900,
            "The file src/db.rs has been updated. 日本語 ok",
        );
    let sub = Log::found(3, "claude-code", "agent-a1", 40)
        .meta(
            "/home/ada/code/shop",
            "claude-haiku-4-5",
            Some("Explore"),
            Some("5f0c-mid"),
        )
        .user(700, "find all callers of connect")
        .answer(14_000, 200, "Grep", "connect\\(")
        .result("Grep", 22_000, "src/main.rs:12")
        .answer(36_200, 300, "Read", "src/main.rs");
    let gemini = Log::found(4, "gemini-cli", "session-7", 95)
        .meta("/home/ada/docs", "gemini-3-pro", None, None)
        .user(400, "proofread chapter two")
        .answer(98_000, 900, "read_file", "ch02.md")
        .result("read_file", 27_000, "# Chapter two")
        .answer(126_000, 700, "replace", "ch02.md");
    let compacted = Log::found(5, "claude-code", "77aa-comp", 12)
        .meta(
            "/home/ada/code/billing",
            "claude-sonnet-4-5-20250929",
            None,
            None,
        )
        .user(300, "add invoices")
        .answer(31_000, 400, "Bash", "ls")
        .result("Bash", 120_000, "a very long listing")
        .answer(151_600, 900, "Bash", "make")
        .result("Bash", 15_000, "cc -o main")
        .compact(167_400, None)
        .summary(
            9_000,
            "This session is being continued from a previous conversation",
        )
        .user(200, "go on");
    let unread = Log::found(6, "pi", "0b-unread", 3 * 3_600);
    let broken = Log::found(7, "claude-code", "dead-beef", 5 * 86_400)
        .meta(
            "/home/ada/code/notes",
            "claude-sonnet-4-5",
            Some("tidy \u{1b}[31mup"),
            None,
        )
        .user(90, "tidy up")
        .answer(161_000, 300, "Read", "notes.md")
        .result("Read", 4_400, "# Notes")
        .unreadable("expected value at column 1")
        .unreadable("not UTF-8")
        .unreadable("cut off")
        .answer(165_800, 200, "Write", "notes.md");
    vec![near, mid, sub, gemini, compacted, unread, broken]
}

/// The screens of some logs, read through.
pub(crate) fn app(logs: Vec<Log>, columns: u16, rows: u16) -> App {
    let mut app = App::new(Sessions::new(rules()), now());
    for update in logs.into_iter().flat_map(Log::into_updates) {
        // Each log is read from its beginning.
        if let Update::Appended { file, .. } = update {
            let conversation = Conversation::Main;
            let session = app.sessions.get_mut(SessionKey { file, conversation });
            session
                .into_iter()
                .for_each(|session| session.coverage = Coverage::Whole);
        }
        app.update(Msg::Update(update));
    }
    let keys: Vec<_> = app.sessions.keys().collect();
    for key in keys {
        if let Some(session) = app.sessions.get_mut(key).filter(|s| s.meta.model.is_some()) {
            (session.coverage, session.is_counted) = (Coverage::Whole, true);
        }
    }
    app.update(Msg::Update(Update::InitialScanDone));
    app.update(Msg::Resize(columns, rows));
    app.prepare(now());
    app
}

/// Presses keys, one character each; `⏎` and `⎋` are Enter and Escape.
pub(crate) fn type_keys(app: &mut App, keys: &str) {
    for c in keys.chars() {
        let press = match c {
            '⏎' => KeyPress::Enter,
            '⎋' => KeyPress::Esc,
            c => KeyPress::Char(c),
        };
        app.update(Msg::Key(press));
        app.prepare(now());
    }
}

/// What lies where on the screen.
pub(crate) fn drawn(app: &App) -> HitMap {
    views::draw(app, Theme::default(), &mut screen(app))
}

/// Clicks on what lies at a column and row of the screen as it is drawn.
pub(crate) fn click(app: &mut App, (column, row): (u16, u16)) -> Effect {
    app.hits = drawn(app);
    let effect = app.update(Msg::Click(column, row));
    app.prepare(now());
    effect
}

/// The sessions on screen, from the top.
pub(crate) fn keys_on_screen(app: &App) -> Vec<SessionKey> {
    let sessions = app.visible_lines().filter_map(ListLine::session);
    sessions.map(|row| row.key).collect()
}

/// A blank screen.
fn screen(app: &App) -> Buffer {
    let (columns, rows) = app.ui.size;
    Buffer::empty(Rect::new(0, 0, columns, rows))
}

/// The theme with ASCII characters only.
pub(crate) fn in_ascii(mut theme: Theme) -> Theme {
    theme.charset = Charset::Ascii;
    theme
}

/// The screen as cells.
pub(crate) fn cells(app: &App, theme: Theme) -> Buffer {
    let mut buffer = screen(app);
    let _ = views::draw(app, theme, &mut buffer);
    buffer
}

/// The screen as text, a line a row.
pub(crate) fn text(app: &App, theme: Theme) -> String {
    let buffer = cells(app, theme);
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let mut skip = 0;
        let mut line = String::new();
        for x in 0..buffer.area.width {
            let symbol = buffer[(x, y)].symbol();
            if skip == 0 {
                line.push_str(symbol);
                skip = render::text::width(symbol).max(1);
            }
            skip -= 1;
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// The session of [`logs`] that has some of everything.
pub(crate) fn shop() -> SessionKey {
    SessionKey {
        file: FileId(2),
        conversation: Conversation::Main,
    }
}
