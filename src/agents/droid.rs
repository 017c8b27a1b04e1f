//! Factory Droid.
//!
//! A session is one JSON Lines file, with a `<id>.settings.json` beside it. What public readers of the
//! format say (jazzyalex/agent-sessions, `DroidSessionParser.swift`; inference-sh/agentprotocol,
//! `transcript/droid`, whose samples are of droid 0.226 with what it then sent to the model):
//!
//! * No record tells what a request cost. `tokenUsage` in the settings file is the session's sum, which
//!   is no context: all is estimated here.
//! * Messages are a list, in the order of the file, `parentId` notwithstanding. Their content is
//!   Anthropic's blocks. `visibility` says who gets them: `user_only` (what hooks did, with an empty
//!   content) never goes to the model, `llm_only` is the harness's.
//! * `compaction_state` inside a session names an `anchorMessage`: the messages after it stay. The
//!   command `/compress` instead begins a new session, whose `session_start` names its `parent` (no
//!   sub-agent), and a `compaction_state` without an anchor. The model then gets the summary and
//!   `systemInfoText`.
//! * A sub-agent's session names its `callingSessionId`.
//! * When droid compacts by itself is not public; neither is which models keep their thinking, so the
//!   models table says that.
//! * Models are named by `modelId` of the answers; a user's own begin with `custom:`.

use super::claude_code::content::{assistant_items, user_items};
use super::lenient::{self, Text};
use super::{Base, Claim, Decoder, Facts, Format, Input, Root, Term, facts};
use crate::model::event::{Event, Kept, Key, Lane, Meta, NewItem, Node, Part, Place, Reset, Sink};
use crate::model::{Gone, Kind, Role};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::path::Path;

/// The format.
pub struct Droid;

impl Format for Droid {
    fn id(&self) -> &'static str {
        "droid"
    }

    fn label(&self) -> &'static str {
        "droid"
    }

    fn roots(&self) -> &'static [Root] {
        &[Root {
            env: None,
            base: Base::Home(".factory"),
            logs: "sessions",
        }]
    }

    /// `<session id>.jsonl`.
    fn claims(&self, path: &Path) -> Option<Claim> {
        let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
        let is_id = name.len() == 36 && name.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
        Some(Claim {
            id: is_id.then(|| name.to_owned()),
            ..Claim::LINES
        })
    }

    fn recognise(&self, head: &[u8]) -> bool {
        let solid = head.iter().copied().filter(|b| !b.is_ascii_whitespace());
        let start: Vec<u8> = solid.take(32).collect();
        start.starts_with(br#"{"type":"session_start","#)
    }

    fn facts(&self) -> Facts {
        Facts {
            mark: "first line of type `session_start`",
            live: facts::EACH_LINE,
            known: "",
            estimated: "the system prompt and the tools",
            sub_agents: "yes",
            compactions: "yes",
            tried: "invented logs after public readers of droid 0.226",
        }
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<Reader>::default()
    }

    fn reset_marks(&self) -> &'static [&'static str] {
        &[r#""type":"compaction_state""#]
    }

    fn terms(&self) -> &'static [Term] {
        &[]
    }
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Record<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    timestamp: Text<'a>,
    #[serde(borrow)]
    message: Option<Message<'a>>,
    #[serde(borrow)]
    visibility: Text<'a>,
    #[serde(borrow)]
    title: Text<'a>,
    #[serde(borrow)]
    session_title: Text<'a>,
    #[serde(borrow)]
    cwd: Text<'a>,
    #[serde(borrow)]
    calling_session_id: Text<'a>,
    #[serde(borrow)]
    summary_text: Text<'a>,
    #[serde(borrow)]
    system_info_text: Text<'a>,
    #[serde(borrow)]
    anchor_message: Option<Anchor<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Message<'a> {
    #[serde(borrow)]
    role: Text<'a>,
    #[serde(borrow)]
    visibility: Text<'a>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    model_id: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Anchor<'a> {
    #[serde(borrow)]
    id: Text<'a>,
}

/// Reads one session.
#[derive(Default)]
struct Reader {
    /// Tool names by call.
    tools: HashMap<Key, Box<str>>,
    /// The messages so far.
    messages: Vec<Key>,
    /// The record that holds the newest summary.
    summary: Option<Key>,
    model: Option<Box<str>>,
}

impl Decoder for Reader {
    fn read(&mut self, input: Input<'_>, out: &mut Sink<'_>) {
        let Input::Line(place, line) = input else {
            return;
        };
        if line.trim_ascii().is_empty() {
            return;
        }
        let record: Record<'_> = match lenient::object(line) {
            Ok(record) => record,
            Err(why) => return out.push(Lane::Main, place, None, Event::Unreadable(why)),
        };
        let mut writer = Writer {
            key: record.id.get().map(Key::of),
            place,
            at: record.timestamp.time(),
            out,
        };
        match record.kind.or_empty() {
            "session_start" => writer.push(header(&record)),
            "message" => self.message(&record, &mut writer),
            "compaction_state" => self.compaction(&record, &mut writer),
            "" => writer.push(Event::Unreadable("no type".into())),
            other => writer.push(Event::Skipped(other.into())),
        }
    }
}

fn header(record: &Record<'_>) -> Event {
    Event::Meta(Box::new(Meta {
        id: record.id.boxed(),
        title: record.session_title.boxed().or(record.title.boxed()),
        cwd: record.cwd.boxed(),
        parent: record.calling_session_id.boxed(),
        ..Meta::default()
    }))
}

impl Reader {
    fn message(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        let Some(message) = &record.message else {
            return writer.push(Event::Unreadable("a message without a message".into()));
        };
        let visibility = message.visibility.get().or(record.visibility.get());
        if visibility == Some("user_only") {
            return writer.push(Event::Skipped("user_only message".into()));
        }
        self.messages.extend(writer.key);
        let (part, items) = match message.role.or_empty() {
            "assistant" => {
                self.model(message, writer);
                let items = message
                    .content
                    .map(|content| assistant_items(content, &mut self.tools, writer.out));
                (Part::Output, items)
            }
            "user" => {
                let (role, kind) = match visibility {
                    Some("llm_only") => (Role::Container, Kind::Reminder),
                    _ => (Role::User, Kind::Text),
                };
                let items = message
                    .content
                    .map(|content| user_items(content, role, kind, &self.tools, writer.out));
                (part_of(items.as_deref().unwrap_or_default()), items)
            }
            other => return writer.push(Event::Skipped(format!("{other} message").into())),
        };
        writer.node(part, items.unwrap_or_default());
    }

    fn model(&mut self, message: &Message<'_>, writer: &mut Writer<'_, '_>) {
        let model = message.model_id.boxed();
        if model.is_some() && model != self.model {
            self.model.clone_from(&model);
            writer.push(Event::Meta(Box::new(Meta {
                model,
                ..Meta::default()
            })));
        }
    }

    fn compaction(&mut self, record: &Record<'_>, writer: &mut Writer<'_, '_>) {
        let anchor = record.anchor_message.as_ref();
        let anchor = anchor.and_then(|anchor| anchor.id.get()).map(Key::of);
        let first = anchor.and_then(|anchor| {
            // An anchor that was not seen stands before all that was.
            let after = self.messages.iter().rposition(|key| *key == anchor);
            self.messages.get(after.map_or(0, |at| at + 1)).copied()
        });
        let id = record.id.get();
        // At the beginning of a file nothing leaves: its history was another session's.
        let begins = self.messages.is_empty() && writer.place.line > 0;
        if !begins {
            writer.push(Event::Reset(Box::new(Reset {
                key: id.map(|id| Key::of_parts(&["reset", id])),
                gone: Gone::Compaction,
                cause: if anchor.is_some() { "auto" } else { "manual" }.into(),
                before: None,
                after: None,
                kept: first.map_or(Kept::Nothing, |first| Kept::Range { first, last: None }),
            })));
        }
        // What is kept may reach back beyond the summary before this one, which it never holds.
        if let Some(old) = std::mem::replace(&mut self.summary, writer.key) {
            writer.push(Event::Cleared {
                nodes: vec![old],
                calls: Vec::new(),
            });
        }
        let texts = [
            (Kind::Summary, &record.summary_text),
            (Kind::Reminder, &record.system_info_text),
        ];
        let mut items = Vec::new();
        for (kind, text) in texts {
            if let Some(text) = text.get() {
                items.push(writer.out.item(Role::Container, kind).text(text).done());
            }
        }
        writer.node(Part::Injected, items);
    }
}

/// What part of the exchange a message is that is not the model's.
pub(super) fn part_of(items: &[NewItem]) -> Part {
    let any = |kind: fn(&NewItem) -> bool| items.iter().any(kind);
    if any(|item| item.kind == Kind::ToolResult) {
        Part::Result
    } else if any(|item| item.role == Role::User) {
        Part::Input
    } else {
        Part::Injected
    }
}

/// Writes what one record says.
struct Writer<'w, 'm> {
    key: Option<Key>,
    place: Place,
    at: Option<Timestamp>,
    out: &'w mut Sink<'m>,
}

impl Writer<'_, '_> {
    fn push(&mut self, event: Event) {
        self.out.push(Lane::Main, self.place, self.at, event);
    }

    fn node(&mut self, part: Part, items: Vec<NewItem>) {
        self.push(Event::Node(Box::new(Node {
            key: self.key,
            part,
            turn: part == Part::Input,
            items,
            ..Node::default()
        })));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_told_by_name_and_by_content() {
        let id = "6f0c1d9e-3b7a-4a52-9d1e-2c8b5a7f4e31";
        let path = format!("/home/dev/.factory/sessions/-home-dev-shop/{id}.jsonl");
        let claim = Droid.claims(Path::new(&path)).map(|claim| claim.id);
        assert_eq!(claim, Some(Some(id.to_owned())));
        let settings = format!("/home/dev/.factory/sessions/-home-dev-shop/{id}.settings.json");
        assert_eq!(Droid.claims(Path::new(&settings)), None);
        assert!(Droid.recognise(b"{ \"type\": \"session_start\", \"id\""));
        assert!(!Droid.recognise(b"{\"type\":\"session\",\"id\""));
    }
}
