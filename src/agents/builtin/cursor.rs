//! Cursor's agent, in the editor and on the command line.
//!
//! Two kinds of logs are read: the databases of the command line, see `chat`, and transcripts: JSON Lines of `{"role", "message": {"content": […]}}`. Public
//! readers of them agree (jazzyalex/agent-sessions, `CursorSessionParser.swift`; getagentseal/codeburn,
//! `docs/providers/cursor-agent.md`):
//!
//! * No record contains a request's usage or model, or a summary of the conversation: all is
//!   estimated here, and the window is guessed. The editor's own numbers are on its server. The time
//!   is in a line before what the user typed (3.20; kenn-io/agentsview, pull request 1662).
//! * The content is Anthropic's blocks. What the user typed is in `<user_query>`; the rest of his
//!   message is the harness's. Calls have no ids, and most builds leave out the results of tools and
//!   the thinking, which then are missing from the estimate too.
//! * A sub-agent's transcript lies in `subagents` below its parent's folder.
//!
//! The older transcripts, plain text, are not read.

mod chat;

use decode::anthropic::{Content, ToolNames, add_typed, assistant_items, part_of, user_items};
use decode::lenient::{self, Text, record};
use formats::{
    Base, Claim, Decoder, Format, Recognition, Root, SameId, StoreKind, Totals, decoder, head,
};
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use model::event::{EventSink, NewItem, Node, Part, Usage};
use model::{Kind, Role};
use std::path::Path;

/// The tags around what the user typed.
const QUERY: (&str, &str) = ("<user_query>", "</user_query>");

/// The format.
pub static CURSOR: Format = Format {
    id: "cursor",
    roots: &[
        Root::home(".cursor", "projects").env("CURSOR_DATA_DIR"),
        Root::home(".cursor", "chats").env("CURSOR_DATA_DIR"),
        Root::named("CURSOR_CONFIG_DIR", "chats"),
        Root::new(Base::XdgConfig("cursor"), "chats"),
    ],
    claims: &claims,
    // A chat may have a transcript too, whose name comes before `store.db`.
    same_id: SameId::LastName,
    recognition: Recognition::new(&recognise).kept_in(&|head| {
        StoreKind::database(&chat::CHATS, head).or_else(|| Format::DEFAULT.store(head))
    }),
    decoder: &decoder::<CursorDecoder>,
    harmless: "turn_ended",
    turn_over: "turn_ended",
    totals: Totals::new(&[]),
    ..Format::DEFAULT
};

/// Claims `agent-transcripts/<id>/<id>.jsonl` or `agent-transcripts/<id>.jsonl`, and a sub-agent's
/// `agent-transcripts/<parent>/subagents/<id>.jsonl`; `chats/<folder>/<id>/store.db`.
fn claims(path: &Path) -> Option<Claim> {
    if path.ends_with("store.db") {
        return Some(Claim::database(&chat::CHATS));
    }
    let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let folders: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let transcripts = folders
        .iter()
        .rposition(|part| *part == "agent-transcripts")?;
    let below = folders.get(transcripts + 1..folders.len() - 1)?;
    Some(Claim {
        id: Some(name.to_owned()),
        parent: match below {
            [parent, "subagents", ..] => Some((*parent).to_owned()),
            _ => None,
        },
        ..Claim::LINES
    })
}

fn recognise(head: &[u8]) -> bool {
    let start = head::solid(head, 64);
    let begins = |role: &str| {
        start.starts_with(format!(r#"{{"role":"{role}","message":{{"content":"#).as_bytes())
    };
    begins("user") || begins("assistant")
}

record! {
    struct Record<'a> {
        kind: Text<'a> = "type",
        role: Text<'a>,
        content: Option<Content<'a>> = "message" / "content",
        blob: Text<'a>,
        chat: Option<chat::Message<'a>>,
        root: Text<'a>,
        about: chat::About<'a>,
    }
}

/// Decodes one transcript, or one chat.
#[derive(Default)]
struct CursorDecoder {
    tools: ToolNames,
    /// Cursor's size of a chat's prompt, until it is reported after the messages that it includes.
    size: Option<Usage>,
}

impl Decoder for CursorDecoder {
    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let Some(record) = lenient::object::<Record<'_>>(line, out) else {
            return;
        };
        if let Some(message) = &record.chat {
            return chat::add(record.blob.or_empty(), message, &mut self.tools, out);
        }
        if let Some(root) = record.root.get() {
            self.size = chat::read_root(root, &record.about, out);
            return;
        }
        let content = record.content;
        let (part, items) = match (record.role.or_empty(), content) {
            ("user", Some(content)) => {
                let items = user_message(&content, &self.tools, out);
                (part_of(&items), items)
            }
            ("assistant", Some(content)) => {
                let items = assistant_items(&content, &mut self.tools, out);
                (Part::Output, items)
            }
            ("", _) => match record.kind.boxed() {
                Some(kind) => return CURSOR.pass_over(&kind, out),
                None => return out.unreadable("no role"),
            },
            ("user" | "assistant", None) => return out.unreadable("a message without content"),
            (other, _) => return out.unknown(format!("{other} message")),
        };
        out.node(Node::new(None, part, items));
    }

    fn read_end(&mut self, out: &mut EventSink<'_>) {
        out.usage(self.size.take());
    }
}

/// Returns the items of a message to the model: what the user typed, and what was put in around it.
fn user_message(content: &Content<'_>, tools: &ToolNames, out: &mut EventSink<'_>) -> Vec<NewItem> {
    let texts = content.0.iter().map(|block| {
        let text = block.text.get();
        text.filter(|_| matches!(block.kind.get(), None | Some("text")))
    });
    let texts: Option<Vec<&str>> = texts.collect();
    let queried = |text: &&str| text.contains(QUERY.0);
    let Some(texts) = texts.filter(|texts| texts.iter().any(queried)) else {
        return user_items(content, Role::User, Kind::Text, tools, out);
    };
    let mut items = Vec::new();
    for text in texts {
        let (before, query, after) = query(text);
        let before = take_time(before, out);
        add_typed([before, query, after], &mut items, out);
    }
    items
}

/// Returns the text before the user's query, the query, and the text after it.
fn query(text: &str) -> (&str, &str, &str) {
    let (before, rest) = text.split_once(QUERY.0).unwrap_or((text, ""));
    let (query, after) = rest.split_once(QUERY.1).unwrap_or((rest, ""));
    (before, query, after)
}

/// Sets the time that a text begins with, if it does. Returns the rest of the text.
fn take_time<'t>(text: &'t str, out: &mut EventSink<'_>) -> &'t str {
    let inner = text.trim_start().strip_prefix("<timestamp>");
    let parts = inner.and_then(|text| text.split_once("</timestamp>"));
    let Some((time, rest)) = parts.and_then(|(time, rest)| Some((time_of(time)?, rest))) else {
        return text;
    };
    out.set_time(Some(time));
    rest
}

/// Reads a time such as `Friday, Sep 4, 2026, 2:21 AM (UTC+5:30)`. Without an offset it could be any.
fn time_of(text: &str) -> Option<Timestamp> {
    let (_, date) = text.split_once(", ")?;
    let (local, offset) = date.split_once(" (UTC")?;
    let offset = offset.strip_suffix(')')?;
    let (hours, minutes) = offset.split_once(':').unwrap_or((offset, "0"));
    let minutes: i32 = minutes.parse().ok()?;
    let hours: i32 = match hours {
        "" => 0,
        hours => hours.parse().ok()?,
    };
    let sign = if offset.starts_with('-') { -1 } else { 1 };
    let seconds = i64::from(hours) * 3_600 + sign * i64::from(minutes) * 60;
    let local = DateTime::strptime("%b %d, %Y, %I:%M %p", local).ok()?;
    let offset = Offset::from_seconds(seconds.try_into().ok()?).ok()?;
    offset.to_timestamp(local).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::event::ByLength;
    use proptest::prelude::*;

    #[test]
    fn transcripts_are_told_by_name_and_by_content() {
        let claim = |path: &str| {
            let claim = CURSOR.claims(Path::new(path))?;
            Some((claim.id?, claim.parent))
        };
        let root = "/home/dev/.cursor/projects/home-dev-shop/agent-transcripts";
        assert_eq!(
            claim(&format!("{root}/abc/abc.jsonl")),
            Some(("abc".to_owned(), None))
        );
        assert_eq!(
            claim(&format!("{root}/abc.jsonl")),
            Some(("abc".to_owned(), None))
        );
        assert_eq!(
            claim(&format!("{root}/abc/subagents/def.jsonl")),
            Some(("def".to_owned(), Some("abc".to_owned())))
        );
        assert_eq!(claim("/home/dev/.cursor/projects/shop/notes.jsonl"), None);
        assert!(CURSOR.recognise(b"{\"role\": \"user\", \"message\": {\"content\": ["));
        assert!(!CURSOR.recognise(b"{\"role\":\"user\",\"content\":\"hello\"}"));
    }

    #[test]
    fn a_time_has_an_offset() {
        let time = |text: &str| time_of(text).map(|time| time.to_string());
        let of = |offset: &str| time(&format!("Friday, Sep 4, 2026, 2:21 AM ({offset})"));
        assert_eq!(of("UTC+8").as_deref(), Some("2026-09-03T18:21:00Z"));
        assert_eq!(of("UTC-3:30").as_deref(), Some("2026-09-04T05:51:00Z"));
        assert_eq!(of("UTC").as_deref(), Some("2026-09-04T02:21:00Z"));
        for odd in ["CET", "UTC+99", "UTC+8:x", "UTC+999999999999"] {
            assert_eq!(of(odd), None, "{odd}");
        }
        assert_eq!(time("Wed, May 6, 2026, 10:00 AM"), None);
        let text = "<timestamp>Wed, May 6, 2026, 10:00 AM</timestamp>\nx";
        assert_eq!(take_time(text, &mut EventSink::new(&ByLength)), text);
    }

    proptest! {
        #[test]
        fn no_text_is_lost(text in "(<user_query>|</user_query>|é| |a){0,12}") {
            let (before, query, after) = query(&text);
            let tags = QUERY.0.len() + QUERY.1.len();
            let kept = before.len() + query.len() + after.len();
            prop_assert!(text.len() - kept <= tags);
        }
    }
}
