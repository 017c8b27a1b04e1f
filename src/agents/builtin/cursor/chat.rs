//! The chats of Cursor's command line: databases, `chats/<MD5 of the folder>/<id>/store.db`.
//!
//! Blobs are stored by the hash of their content. Messages are JSON as the AI SDK has it; a root, which is
//! Protocol Buffers, names them in order, and `meta` names the newest root. Public readers agree
//! (kenn-io/agentsview and jazzyalex/agent-sessions, their readers and fixtures). Of the root:
//!
//! | field | what |
//! |---|---|
//! | 1 | the id of a message in the prompt, 32 bytes |
//! | 5 | the sizes that Cursor shows: 1 all, 2 the window, 3 the parts: 1 and 2 names, 3 tokens, 4 characters |
//! | 9 | the folder |
//!
//! The sizes are of the prompt now, and Cursor's own: nothing says how they were counted. They are taken only
//! if the parts add up to the whole. No usage of a request is stored, and no time.

use super::{query, take_time};
use decode::anthropic::{ToolNames, add_typed};
use decode::lenient::{self, Pieces, Raw, Text, record};
use decode::protobuf::{Message as Fields, Value, from_hex};
use formats::database::{DatabaseSpec, Schema, object};
use model::event::{EventSink, Key, Meta, NewItem, Node, Part, Usage};
use model::{Kind, Role};

/// The text of the chat's own row.
macro_rules! meta {
    () => {
        "(SELECT CAST(unhex(value) AS TEXT) AS text FROM meta WHERE key = '0')"
    };
}

/// The newest root.
macro_rules! root {
    () => {
        concat!(
            "(SELECT data FROM blobs WHERE id = (SELECT CASE WHEN json_valid(text) THEN \
             json_extract(text, '$.latestRootBlobId') END FROM ",
            meta!(),
            "))"
        )
    };
}

/// The SQL expression for the place of a message's id in the root.
macro_rules! place {
    () => {
        concat!("instr(", root!(), ", unhex(id))")
    };
}

pub(super) static CHATS: DatabaseSpec = DatabaseSpec {
    schemas: &[Schema {
        sessions: concat!(
            "SELECT CASE WHEN json_valid(text) THEN CAST(json_extract(text, '$.agentId') AS TEXT) END, \
             NULL, NULL, text FROM ",
            meta!()
        ),
        header: concat!(
            "SELECT '{\"root\":\"' || coalesce(hex(",
            root!(),
            "), '') || '\",\"about\":' || text || '}' FROM ",
            meta!(),
            " WHERE ?1 <> ''"
        ),
        from: concat!(
            "blobs WHERE hex(substr(data, 1, 1)) = '7B' AND ",
            place!(),
            " > 0 AND ?1 <> ''"
        ),
        order: place!(),
        line: object!(json chat = "CAST(r.data AS TEXT)", text blob = "r.id"),
        ..Schema::DEFAULT
    }],
};

/// The field of the root with Cursor's sizes.
const SIZES: u64 = 5;
const FOLDER: u64 = 9;

record! {
    pub(super) struct Message<'a> {
        role: Text<'a>,
        content: Pieces<Block<'a>>,
    }

    struct Block<'a> {
        kind: Text<'a> = "type",
        text: Text<'a>,
        call: Text<'a> = "toolCallId",
        tool: Text<'a> = "toolName",
        args: Option<Raw<'a>>,
        result: Option<Raw<'a>>,
    }

    pub(super) struct About<'a> {
        id: Text<'a> = "agentId",
        name: Text<'a>,
        model: Text<'a> = "lastUsedModel",
    }
}

/// Reads a root and what is known of its chat. Returns Cursor's size of the prompt.
pub(super) fn read_root(hex: &str, about: &About<'_>, out: &mut EventSink<'_>) -> Option<Usage> {
    let bytes = from_hex(hex).unwrap_or_default();
    let root = Fields(&bytes);
    let (size, window) = sizes(root).unzip();
    let model = about.model.boxed().filter(|model| &**model != "default");
    let folder = root.text(FOLDER);
    let folder = folder.map(|folder| folder.strip_prefix("file://").unwrap_or(folder));
    out.meta(Meta {
        id: about.id.boxed(),
        title: about.name.boxed(),
        model,
        cwd: folder.map(Into::into),
        ..Meta::of_window(window)
    });
    let key = Key::of_parts(&["cursor root", hex]);
    size.map(|size| Usage::estimated(key, size))
}

/// Returns Cursor's size of the prompt, and of the window.
fn sizes(root: Fields<'_>) -> Option<(u64, u64)> {
    let sizes = root.message(SIZES);
    let parts = sizes
        .fields()
        .filter_map(|(number, value)| match (number, value) {
            (3, Value::Bytes(part)) => Fields(part).number(3),
            _ => None,
        });
    let whole = sizes.number(1).filter(|whole| *whole > 0)?;
    let sum = parts.fold(0_u64, u64::saturating_add);
    let window = sizes.number(2).unwrap_or(0);
    let is_plausible = [whole, window].into_iter().all(lenient::is_plausible);
    (sum == whole && is_plausible).then_some((whole, window))
}

/// Writes a message.
pub(super) fn add(id: &str, message: &Message<'_>, tools: &mut ToolNames, out: &mut EventSink<'_>) {
    let (part, items) = match message.role.or_empty() {
        "system" => {
            let texts = message.content.0.iter().map(|block| block.text.or_empty());
            let texts = texts.filter(|text| !text.trim().is_empty());
            let items = texts.map(|text| out.text(Role::Container, Kind::Prompt, text));
            (Part::Injected, items.collect())
        }
        "user" => {
            let items = typed(message, out);
            if items.iter().any(|item| item.role == Role::User) {
                (Part::Input, items)
            } else {
                (Part::Injected, items)
            }
        }
        "assistant" => (Part::Output, output(message, tools, out)),
        "tool" => (Part::Result, results(message, tools, out)),
        "" => return out.unreadable("a message without a role"),
        other => return out.unknown(format!("{other} message")),
    };
    out.node(Node::new(Some(Key::of_parts(&["cursor", id])), part, items));
}

/// Returns the items of a message to the model.
fn typed(message: &Message<'_>, out: &mut EventSink<'_>) -> Vec<NewItem> {
    let mut items = Vec::new();
    for block in &message.content.0 {
        let text = block.text.or_empty();
        let has_query = text.contains(super::QUERY.0);
        let (before, query, after) = match query(text) {
            parts if has_query || text.starts_with('<') => parts,
            (text, ..) => ("", text, ""),
        };
        add_typed([take_time(before, out), query, after], &mut items, out);
    }
    items
}

fn output(message: &Message<'_>, tools: &mut ToolNames, out: &mut EventSink<'_>) -> Vec<NewItem> {
    let mut items = Vec::new();
    for block in &message.content.0 {
        items.push(match block.kind.or_empty() {
            "reasoning" | "redacted-reasoning" => {
                out.text(Role::Assistant, Kind::Thinking, block.text.or_empty())
            }
            "tool-call" => {
                let (name, call) = (block.tool.get(), block.call.get());
                tools.call(call, name, block.args, out)
            }
            _ => out.text(Role::Assistant, Kind::Text, block.text.or_empty()),
        });
    }
    items
}

fn results(message: &Message<'_>, tools: &ToolNames, out: &mut EventSink<'_>) -> Vec<NewItem> {
    let mut items = Vec::new();
    for block in &message.content.0 {
        let call = block.call.get();
        let name = block.tool.get().or(tools.get(call));
        let item = out.tool_result(name, call);
        items.push(match block.result {
            Some(result) => lenient::strings(item, result).done(),
            None => item.text(block.text.or_empty()).done(),
        });
    }
    items
}
