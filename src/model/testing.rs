//! Sessions to test on, made of events.

#[cfg(test)]
pub(crate) mod properties;
#[cfg(test)]
pub(crate) mod timed;
use crate::event::{
    Cause, Conversation, Entry, Event, Key, Meta, NewItem, Node, Part, Place, Reset, RetainedItems,
    Size, Usage, count,
};
use crate::lists::sessions::{Commands, FileFacts, FileId};
use crate::session::{Coverage, Session};
use crate::values::earlier::EarlierSessions;
use crate::window::Rules;
use crate::{Kind, LeaveReason, Role};
use jiff::Timestamp;
use std::sync::Arc;

/// Two models with prices, two policies, one of them the tested agent's.
const RULES: &str = r#"
summary = 1_000
replace_pictures = ["replacer"]

[[model]]
ids = ["*"]
window = 100_000
tokenizer = "plain"

[tokenizer.plain]
per_token = 1.0
per_item = 0.0
spread = 0.1
spread_floor = 20.0
source = "test"

[[price]]
ids = ["dear"]
cached_read = 2.0

[[price]]
ids = ["cheap"]
cached_read = 0.5

[[policy]]
agent = "tested"
name = "half of the window"
share = 0.5

[[policy]]
agent = "counter"
name = "half of the window"
share = 0.5
count = { base = "total", bytes_per_token = 4, earlier_reasoning = true }

[[policy]]
agent = "measurer"
name = "half of the window"
share = 0.5
count = { base = "text", bytes_per_token = 3, or_prompt = true }

[[policy]]
agent = "keeper"
name = "0.8 of the window"
share = 0.8
keep_recent = 10_000
"#;

/// Returns what is known of a file before it is read, of this machine, when nothing of it matters but its place.
pub fn file_facts(file: FileId, agent: &'static str, path: &str) -> FileFacts {
    FileFacts {
        file,
        agent,
        label: agent,
        commands: Commands::NONE,
        path: Arc::new(path.into()),
        id: None,
        parent: None,
        len: 0,
        modified: None,
        host: None,
    }
}

/// A session under way, one event after the other.
pub struct Log {
    /// As it is now.
    pub session: Session,
    line: u64,
    /// True if its records have times: [`time_of`].
    is_timed: bool,
}

impl Default for Log {
    fn default() -> Log {
        Log::new()
    }
}

impl Log {
    /// A session of an agent with a reserve of 10,000 tokens.
    pub fn new() -> Log {
        Log::of("tested")
    }

    /// A session of this agent.
    pub fn of(agent: &'static str) -> Log {
        Log::after(&EarlierSessions::default(), agent)
    }

    /// A session of a user whose earlier sessions have shown this.
    pub fn after(earlier: &EarlierSessions, agent: &'static str) -> Log {
        let mut rules: Rules = toml::from_str(RULES).unwrap_or_default();
        rules.earlier = earlier.clone();
        let mut session = Session::new(agent, Arc::new(rules));
        session.coverage = Coverage::Whole;
        Log {
            session,
            line: 0,
            is_timed: false,
        }
    }

    /// Returns the log with a time for each record from now on: [`time_of`].
    pub fn timed(self) -> Log {
        Log {
            is_timed: true,
            ..self
        }
    }

    /// A record with this event.
    pub fn event(mut self, event: Event) -> Log {
        self.line += 1;
        let place = Place::new(self.line, self.line * 100, 99);
        self.session.apply(Entry {
            conversation: Conversation::Main,
            place,
            at: time_of(self.line).filter(|_| self.is_timed),
            event,
        });
        self
    }

    /// A record that names the model.
    pub fn model(self, id: &str) -> Log {
        self.event(Event::Meta(Box::new(Meta {
            model: Some(id.into()),
            ..Meta::default()
        })))
    }

    /// A record with these items.
    pub fn node(self, key: &str, items: Vec<NewItem>) -> Log {
        self.event(Event::Node(Box::new(Node {
            key: Some(Key::of(key)),
            part: Part::Injected,
            items,
            ..Node::default()
        })))
    }

    /// A record with one item of this many tokens; its content is derived from that number.
    pub fn item(self, key: &str, role: Role, kind: Kind, tokens: u64) -> Log {
        self.node(key, vec![new_item(role, kind, tokens)])
    }

    /// A user's words, with which a turn begins.
    pub fn turn(self, key: &str, tokens: u64) -> Log {
        self.event(Event::Node(Box::new(Node {
            turn: true,
            ..Node::new(
                Some(Key::of(key)),
                Part::Input,
                vec![new_item(Role::User, Kind::Text, tokens)],
            )
        })))
    }

    /// The result of a tool call.
    pub fn result(self, key: &str, tool: &str, tokens: u64) -> Log {
        let item = NewItem {
            tool: Some(tool.into()),
            ..new_item(Role::Tool, Kind::ToolResult, tokens)
        };
        self.node(key, vec![item])
    }

    /// A usage report.
    pub fn report(self, prompt: u64) -> Log {
        let request = Key::of_number("request", self.line);
        self.event(Event::Usage(Box::new(Usage::reported(request, prompt))))
    }

    /// An automatic compaction that keeps nothing.
    pub fn compact(self, before: u64) -> Log {
        self.reset(LeaveReason::Compaction, "auto", before)
    }

    /// A reset.
    pub fn reset(self, gone: LeaveReason, cause: &str, before: u64) -> Log {
        self.event(Event::Reset(Box::new(Reset {
            key: None,
            gone,
            cause: Cause::named(cause),
            before: Some(before),
            after: None,
            kept: RetainedItems::Nothing,
        })))
    }
}

/// The time of a line: a second for each.
pub fn time_of(line: u64) -> Option<Timestamp> {
    let second = i64::try_from(line).ok()?;
    Timestamp::from_second(1_700_000_000 + second).ok()
}

/// An item of this size, in tokens.
pub fn new_item(role: Role, kind: Kind, tokens: u64) -> NewItem {
    NewItem {
        role,
        kind,
        tool: None,
        call: None,
        size: Size {
            bytes: count(tokens * 4),
            chars: count(tokens * 4),
            local: count(tokens),
            counted: true,
            ..Size::default()
        },
        preview: Box::default(),
        hash: tokens,
        nth: 0,
        is_failed: false,
    }
}
