//! ouro.
//!
//! A session is one YAML document, `session.yaml`, rewritten as a whole with every message. What its
//! sources document (ouro-ai-labs/ouro, `memory/store/yaml_file_memory_store.py`, `serialization.py`,
//! `compaction/compressor.py`):
//!
//! * Its trace of a run, if that is asked for, has each call of the model (`trace`). Of a session:
//! * No usage is written, and no model: all is estimated here, and the window is guessed.
//! * Messages are OpenAI's: `role`, `content`, `tool_calls`, `tool_call_id`, `name`. System messages
//!   are in a list of their own, before the others.
//! * A compaction replaces messages by one of the user's that begins with
//!   `[Previous conversation summary]`, in the next writing of the file: what was there before is gone,
//!   and its size is known only if the file was read then.
//! * It compacts above `MEMORY_COMPRESSION_THRESHOLD`: 256,000 tokens unless its `config` sets
//!   another, 60,000 in older versions (`ouro/config.py`), which sessions do not show. It counts
//!   the tools' schemas too.
//! * Times have no zone and are not read; the file's own is.
//!
//! The document is read as events by saphyr-parser: a crate without unsafe code that unfolds nothing.
//! Documents of YAML's data model can unfold aliases to any size; here an alias, which ouro writes only
//! for a list that it holds twice, is passed over and counted. See `tree`.

mod settings;
mod trace;
mod tree;

use decode::{image, lenient};
use formats::{ArrayName, Claim, Decoder, Format, Recognition, Root, StoreKind, decoder, head};
use model::event::{EventSink, Key, Meta, NewItem, Node, Part, Place};
use model::{Kind, Role};
use serde_json::Value;
use std::path::Path;
use trace::Trace;

/// The beginning of a summary.
const SUMMARY: &str = "[Previous conversation summary]";

/// The format.
pub static OURO: Format = Format {
    id: "ouro",
    roots: &[
        Root::home(".ouro", "sessions"),
        Root::home(".ouro", "bot/sessions"),
        Root::home(".ouro", "").flat(),
    ],
    claims: &claims,
    recognition: Recognition::new(&recognise)
        .kept_in(&store)
        .list(ArrayName::Yaml("messages")),
    decoder: &decoder::<OuroDecoder>,
    settings: Some(&settings::SETTINGS),
    ..Format::DEFAULT
};

/// Claims `<date>_<beginning of the id>/session.yaml`, and `trace.db`.
fn claims(path: &Path) -> Option<Claim> {
    if path.file_name()? == "trace.db" {
        return Some(Claim::database(&trace::DATABASE));
    }
    (path.file_name()? == "session.yaml").then_some(Claim::LINES.kept_in(StoreKind::Document))
}

fn recognise(head: &[u8]) -> bool {
    let marks = ["\ncreated_at: ", "\nsystem_messages:"];
    trace::is_trace(head::first_line(head))
        || head.starts_with(b"id: ") && marks.iter().all(|mark| head::has(head, mark))
}

fn store(head: &[u8]) -> Option<StoreKind> {
    let written = if head::is_object(head) {
        StoreKind::Lines
    } else {
        StoreKind::Document
    };
    StoreKind::database(&trace::DATABASE, head).or(Some(written))
}

/// Decodes one session.
#[derive(Default)]
struct OuroDecoder {
    /// Messages before the list.
    before: u64,
    trace: Trace,
}

impl Decoder for OuroDecoder {
    fn read_line(&mut self, element: &str, out: &mut EventSink<'_>) {
        if element.starts_with('{') {
            return self.trace.read(element, out);
        }
        let line = self.before + out.place().line();
        out.begin(Place::of_line(line));
        let text = tree::with_current_line_breaks(element);
        let named;
        let read = match tree::read(&text) {
            Err(_) => {
                named = tree::with_names(&text);
                tree::read(&named)
            }
            read => read,
        };
        match read {
            Ok(list) => message(list_of(&list).last().unwrap_or(&Value::Null), line, out),
            Err(why) => out.unreadable(why),
        }
    }

    fn read_document(&mut self, document: &str, out: &mut EventSink<'_>) {
        out.begin(Place::of_line(0));
        match tree::read(&tree::with_current_line_breaks(document)) {
            Ok(session) => self.session(&session, out),
            Err(why) => out.unreadable(why),
        }
    }

    fn copy(&self) -> Option<Box<dyn Decoder>> {
        Some(Box::new(OuroDecoder {
            before: self.before,
            trace: Trace::default(),
        }))
    }
}

impl OuroDecoder {
    fn session(&mut self, session: &Value, out: &mut EventSink<'_>) {
        let (Some(id), Some(messages)) = (session["id"].as_str(), session.get("messages")) else {
            return out.unreadable("no id or no messages");
        };
        out.meta(Meta {
            id: Some(id.into()),
            ..Meta::default()
        });
        let system = list_of(&session["system_messages"]);
        for one in system.iter().chain(list_of(messages)) {
            self.before += 1;
            out.begin(Place::of_line(self.before));
            message(one, self.before, out);
        }
    }
}

fn message(message: &Value, line: u64, out: &mut EventSink<'_>) {
    if *message == tree::ALIAS {
        return out.skip("alias");
    }
    let (part, role, kind) = match message["role"].as_str() {
        Some("system") => (Part::Injected, Role::Container, Kind::Prompt),
        Some("user") if begins(message, SUMMARY) => {
            (Part::Injected, Role::Container, Kind::Summary)
        }
        Some("user") => (Part::Input, Role::User, Kind::Text),
        Some("assistant") => (Part::Output, Role::Assistant, Kind::Text),
        Some("tool") => (Part::Result, Role::Tool, Kind::ToolResult),
        Some(other) => return out.unknown(format!("{other} message")),
        None => return out.unreadable("a message without a role"),
    };
    let items = match part {
        Part::Output => output(message, out),
        _ => vec![whole(message, role, kind, out)],
    };
    let key = Key::of_number("ouro", line);
    out.node(Node::new(Some(key), part, items));
}

/// Returns the texts of a content: of itself, or of its parts. `None` for a part that is no text.
fn texts(message: &Value) -> impl Iterator<Item = Option<&str>> {
    let content = &message["content"];
    let parts = list_of(content).iter();
    let bare = content.as_str().map(Some);
    bare.into_iter()
        .chain(parts.map(|part| part.as_str().or(part["text"].as_str())))
}

/// Returns the nodes of a list; nothing for any other node.
fn list_of(node: &Value) -> &[Value] {
    node.as_array().map_or(&[], Vec::as_slice)
}

fn begins(message: &Value, text: &str) -> bool {
    texts(message)
        .next()
        .flatten()
        .is_some_and(|first| first.starts_with(text))
}

/// Returns a message as one item.
fn whole(message: &Value, role: Role, kind: Kind, out: &mut EventSink<'_>) -> NewItem {
    let (name, call) = (message["name"].as_str(), message["tool_call_id"].as_str());
    let name = name.filter(|_| kind == Kind::ToolResult);
    let item = out.item(role, kind).tool(name).call(call);
    texts(message)
        .fold(item, |item, text| match text {
            Some(text) => item.text(text),
            None => item.fixed(image::DEFAULT, "[image]"),
        })
        .done()
}

/// Returns the model's text and its calls.
fn output(message: &Value, out: &mut EventSink<'_>) -> Vec<NewItem> {
    let mut items = Vec::new();
    if texts(message).any(|text| text != Some("")) {
        items.push(whole(message, Role::Assistant, Kind::Text, out));
    }
    for call in list_of(&message["tool_calls"]) {
        let function = &call["function"];
        let (name, arguments) = (function["name"].as_str(), function["arguments"].as_str());
        let (id, arguments) = (call["id"].as_str(), arguments.unwrap_or_default());
        items.push(lenient::written_call(name, id, arguments, out));
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, fixture};
    use model::session::Session;

    fn session(text: &str) -> Session {
        testing::document(&OURO, text)
    }

    #[test]
    fn a_document_that_is_cut_anywhere_breaks_nothing_and_shows_or_is_shorter() {
        let text = fixture!("ouro/summary_in_place_of_history/log.yaml");
        let whole = session(text);
        assert_eq!(whole.unreadable, 0);
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            let cut = session(&text[..end]);
            assert!(cut.unreadable > 0 || cut.items().len() <= whole.items().len());
        }
    }

    #[test]
    fn an_alias_is_passed_over_and_counted() {
        let bomb = "id: a\nmessages:\n- &m\n  role: user\n  content: &c [&t 'ha', *t, *t]\n- *m\n";
        let session = session(bomb);
        assert_eq!((session.items().len(), session.unreadable), (1, 0));
        assert_eq!(session.skipped.get("alias"), Some(&1));
    }
}
