//! Factory Droid.
//!
//! A session is one JSON Lines file, with a `<id>.settings.json` beside it. After public readers of the
//! format (jazzyalex/agent-sessions, `DroidSessionParser.swift`; inference-sh/agentprotocol,
//! `transcript/droid`, whose samples are of droid 0.226 with what it then sent to the model):
//!
//! * No record contains a request's usage. `tokenUsage` in the settings file is the session's sum, which
//!   is not the context: all is estimated here.
//! * Messages are a list, in the order of the file, `parentId` notwithstanding. Their content is
//!   Anthropic's blocks. `visibility` names who gets them: `user_only` (what hooks did, with an empty
//!   content) never goes to the model, `llm_only` is the harness's.
//! * `compaction_state` inside a session names an `anchorMessage`: the messages after it stay. The
//!   command `/compress` instead begins a new session, whose `session_start` names its `parent` (no
//!   sub-agent), and a `compaction_state` without an anchor. The model then gets the summary and
//!   `systemInfoText`.
//! * A sub-agent's session names its `callingSessionId`.
//! * When droid compacts by itself is not public; neither is which models keep their thinking: the
//!   models table names them.
//! * Models are named by `modelId` of the answers; a user's own begin with `custom:`.

use super::anthropic::{Content, ToolNames, assistant_items, part_of, user_items};
use super::format::is_uuid;
use super::lenient::{self, Text, record};
use super::{Claim, Decoder, Facts, Format, Root, decoder, facts, head};
use crate::model::event::{Cause, Event, Kept, Key, Meta, Node, Part, Reset, Sink};
use crate::model::{Gone, Kind, Role};
use std::path::Path;

/// The format.
pub static DROID: Format = Format {
    id: "droid",
    label: "droid",
    roots: &[Root::home(".factory", "sessions")],
    facts: Facts {
        mark: "first line of type `session_start`",
        live: facts::EACH_LINE,
        known: "",
        estimated: "the system prompt and the tools",
        sub_agents: "yes",
        compactions: "yes",
        tried: "invented logs after public readers of droid 0.226",
    },
    claims: &claims,
    recognise: &recognise,
    decoder: &decoder::<DroidDecoder>,
    reset_marks: &[r#""type":"compaction_state""#],
    terms: &[],
    harmless: "agent_turn_outcome todo_state",
    ..Format::DEFAULT
};

/// `<session id>.jsonl`.
fn claims(path: &Path) -> Option<Claim> {
    let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    Some(Claim {
        id: is_uuid(name).then(|| name.to_owned()),
        ..Claim::LINES
    })
}

fn recognise(head: &[u8]) -> bool {
    head::solid(head, 32).starts_with(br#"{"type":"session_start","#)
}

record! {
    struct Record<'a> {
        kind: Text<'a> = "type",
        id: Text<'a>,
        timestamp: Text<'a>,
        message: Option<Message<'a>>,
        visibility: Text<'a>,
        title: Text<'a>,
        session_title: Text<'a> = "sessionTitle",
        cwd: Text<'a>,
        calling_session_id: Text<'a> = "callingSessionId",
        summary_text: Text<'a> = "summaryText",
        system_info_text: Text<'a> = "systemInfoText",
        anchor_message: Option<Anchor<'a>> = "anchorMessage",
    }

    struct Message<'a> {
        role: Text<'a>,
        visibility: Text<'a>,
        content: Content<'a>,
        model_id: Text<'a> = "modelId",
    }

    struct Anchor<'a> {
        id: Text<'a>,
    }
}

/// Decodes one session.
#[derive(Default)]
struct DroidDecoder {
    tools: ToolNames,
    /// The messages so far.
    messages: Vec<Key>,
    /// The record of the newest summary.
    summary: Option<Key>,
    /// The newest facts.
    meta: Meta,
}

impl Decoder for DroidDecoder {
    fn read_line(&mut self, line: &str, out: &mut Sink<'_>) {
        let Some(record) = lenient::object::<Record<'_>>(line, out) else {
            return;
        };
        out.set_time(record.timestamp.time());
        match record.kind.or_empty() {
            "session_start" => out.meta(header(&record)),
            "message" => self.message(&record, out),
            "compaction_state" => self.compaction(&record, out),
            "" => out.unreadable("no type"),
            other => DROID.pass_over(other, out),
        }
    }
}

fn header(record: &Record<'_>) -> Meta {
    Meta {
        id: record.id.boxed(),
        title: record.session_title.boxed().or(record.title.boxed()),
        cwd: record.cwd.boxed(),
        parent: record.calling_session_id.boxed(),
        ..Meta::default()
    }
}

impl DroidDecoder {
    fn message(&mut self, record: &Record<'_>, out: &mut Sink<'_>) {
        let Some(message) = &record.message else {
            return out.unreadable("a message without a message");
        };
        let visibility = message.visibility.get().or(record.visibility.get());
        if visibility == Some("user_only") {
            return out.skip("user_only message");
        }
        let key = record.id.key();
        self.messages.extend(key);
        let (part, items) = match message.role.or_empty() {
            "assistant" => {
                let meta = Meta::of_model(message.model_id.boxed());
                out.meta(meta.changes(&mut self.meta));
                let items = assistant_items(&message.content, &mut self.tools, out);
                (Part::Output, items)
            }
            "user" => {
                let (role, kind) = match visibility {
                    Some("llm_only") => (Role::Container, Kind::Reminder),
                    _ => (Role::User, Kind::Text),
                };
                let items = user_items(&message.content, role, kind, &self.tools, out);
                (part_of(&items), items)
            }
            other => return out.unknown(format!("{other} message")),
        };
        out.node(Node::new(key, part, items));
    }

    fn compaction(&mut self, record: &Record<'_>, out: &mut Sink<'_>) {
        let anchor = record.anchor_message.as_ref();
        let anchor = anchor.and_then(|anchor| anchor.id.key());
        let first = anchor.and_then(|anchor| {
            // An anchor that was not read is older than every message that was.
            let after = self.messages.iter().rposition(|key| *key == anchor);
            self.messages.get(after.map_or(0, |at| at + 1)).copied()
        });
        let id = record.id.get();
        // At the beginning of a file nothing leaves: its history was another session's.
        let begins = self.messages.is_empty() && out.place().line > 0;
        if !begins {
            let cause = match anchor {
                Some(_) => Cause::Automatic,
                None => Cause::Manual,
            };
            out.reset(Reset {
                key: id.map(|id| Key::of_parts(&["reset", id])),
                ..Reset::new(Gone::Compaction, cause, Kept::from(first))
            });
        }
        // What is kept may reach back beyond the previous summary, which is never kept.
        if let Some(old) = std::mem::replace(&mut self.summary, record.id.key()) {
            out.emit(Event::cleared_node(old));
        }
        let texts = [
            (Kind::Summary, &record.summary_text),
            (Kind::Reminder, &record.system_info_text),
        ];
        let texts = texts
            .into_iter()
            .filter_map(|(kind, text)| Some((kind, text.get()?)));
        let items = texts
            .map(|(kind, text)| out.text(Role::Container, kind, text))
            .collect();
        out.node(Node::new(record.id.key(), Part::Injected, items));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logs_are_told_by_name_and_by_content() {
        let id = "6f0c1d9e-3b7a-4a52-9d1e-2c8b5a7f4e31";
        let path = format!("/home/dev/.factory/sessions/-home-dev-shop/{id}.jsonl");
        let claim = DROID.claims(Path::new(&path)).map(|claim| claim.id);
        assert_eq!(claim, Some(Some(id.to_owned())));
        let settings = format!("/home/dev/.factory/sessions/-home-dev-shop/{id}.settings.json");
        assert_eq!(DROID.claims(Path::new(&settings)), None);
        assert!(DROID.recognise(b"{ \"type\": \"session_start\", \"id\""));
        assert!(!DROID.recognise(b"{\"type\":\"session\",\"id\""));
    }
}
