//! Cline, Roo Code and Kilo Code in editors: a folder for each task.
//!
//! `tasks/<id>/api_conversation_history.json` is the conversation as it is sent, an array of Anthropic's
//! messages that is rewritten with each of them; `ui_messages.json` beside it has the numbers. After
//! their sources (cline/cline, `src/core/task` and `src/core/context` until its extension moved to
//! `apps/vscode`; RooCodeInc/Roo-Code, `src/core/task`, `condense` and `context-management`; Kilo Code was a
//! copy of Roo Code until its version 7, which keeps a database):
//!
//! * `api_req_started` has the numbers of a request, as JSON in its text. In Roo Code since the end of 2025
//!   `tokensIn` is the whole prompt; before, and in Cline, it is without what was cached where the provider
//!   is Anthropic: then it is mostly smaller than that. A request that failed has none.
//! * Which message answered it: Cline has the message's index; otherwise it is the first one that was
//!   written after it.
//! * Roo Code condenses into a message with `isSummary`, and all before it leave; in older versions the last
//!   messages stayed, and have their old numbers although they stand behind it. A truncation hides the
//!   messages with its `truncationParent` from the moment of `sliding_window_truncation`.
//! * Cline truncates without a summary: `conversationHistoryDeletedRange`, by index, the same from then on.
//!   That it replaces repeated files by a note is in another file and not read.
//! * A message of the user's is what he typed, what tools returned, and `<environment_details>`, which
//!   contain the model and the folder.
//! * A system prompt and tools are in no file.

mod ui;
mod user;

use decode::anthropic::{self, ToolNames};
use decode::lenient::{self, Millis, Raw, Text, record};
use formats::names;
use formats::{
    Base, Claim, Decoder, FilesBeside, Format, Recognition, Root, StateUpdate, StoreKind, Totals,
    WITH_CACHE, decoder, head,
};
use model::Kind;
use model::event::{Cause, EventSink, Key, Meta, Node, Part, Place, Reset, RetainedItems};
use std::path::Path;
use ui::Ui;

/// The folders of an extension's tasks.
macro_rules! roots {
    ($extension:literal $(, $more:expr)*) => {
        &[
            $($more,)*
            roots!(@linux "Code", $extension),
            roots!(@linux "Code - Insiders", $extension),
            roots!(@linux "VSCodium", $extension),
            roots!(@linux "Cursor", $extension),
            roots!(@linux "Windsurf", $extension),
            roots!(@mac "Code", $extension),
            roots!(@mac "VSCodium", $extension),
            roots!(@mac "Cursor", $extension),
            roots!(@mac "Windsurf", $extension),
            Root::home(".vscode-server/data/User/globalStorage", concat!($extension, "/tasks")),
        ]
    };
    (@linux $editor:literal, $extension:literal) => {
        Root::new(
            Base::XdgConfig(concat!($editor, "/User/globalStorage")),
            concat!($extension, "/tasks"),
        )
    };
    (@mac $editor:literal, $extension:literal) => {
        Root::home(
            concat!("Library/Application Support/", $editor, "/User/globalStorage"),
            concat!($extension, "/tasks"),
        )
    };
}

/// Cline's extension, before it kept its sessions as its command line does.
pub static CLINE_TASKS: Format = Format {
    id: "cline-vscode",
    roots: roots!("saoudrizwan.claude-dev", Root::home(".cline/data", "tasks")),
    claims: &|path| claims(path, |name| !is_roo(name) && !is_kilo(name)),
    decoder: &decoder::<TaskDecoder>,
    totals: COMMON.totals.cached_beside(),
    ..COMMON
};

/// Roo Code.
pub static ROO_CODE: Format = Format {
    id: "roo-code",
    roots: roots!("rooveterinaryinc.roo-cline"),
    claims: &|path| claims(path, is_roo),
    decoder: &decoder::<TaskDecoder>,
    ..COMMON
};

/// Kilo Code.
pub static KILO_CODE: Format = Format {
    id: "kilo-code",
    roots: roots!("kilocode.kilo-code"),
    claims: &|path| claims(path, is_kilo),
    decoder: &decoder::<TaskDecoder>,
    ..COMMON
};

/// The fields that the three formats have in common.
const COMMON: Format = Format {
    recognition: Recognition {
        recognise: &recognise,
        family: "tasks",
        store: &|_| Some(StoreKind::Document),
        ..Recognition::DEFAULT
    },
    totals: Totals::new(WITH_CACHE),
    beside: FilesBeside::states(|log| {
        let beside = ["ui_messages.json", "history_item.json"];
        beside.iter().map(|name| log.with_file_name(name)).collect()
    }),
    ..Format::DEFAULT
};

fn is_roo(name: &str) -> bool {
    name.contains("roo-c")
}

fn is_kilo(name: &str) -> bool {
    name.contains("kilo")
}

/// Claims `<extension>/tasks/<id>/api_conversation_history.json`; in a copy, the extension's folder alone.
fn claims(path: &Path, is_extension: fn(&str) -> bool) -> Option<Claim> {
    let mut names = names(path);
    names
        .next()
        .filter(|name| *name == "api_conversation_history.json")?;
    let claim = Claim::session(names.next()?).kept_in(StoreKind::Document);
    let extension = names.take(2).find(|name| *name != "tasks")?;
    is_extension(extension).then_some(claim)
}

fn recognise(head: &[u8]) -> bool {
    let start = head::solid(head, 64);
    start.starts_with(br#"[{"role":"user","content":["#) && head::has(head, "<environment_details>")
}

record! {
    struct Message<'a> {
        role: Text<'a>,
        content: anthropic::Content<'a>,
        ts: Option<Millis>,
        model: Text<'a> = "modelInfo" / "modelId",
        is_summary: bool = "isSummary",
        condense_parent: Text<'a> = "condenseParent",
        truncation_parent: Text<'a> = "truncationParent",
        is_marker: bool = "isTruncationMarker",
    }

    /// `history_item.json`.
    struct Item<'a> {
        task: Text<'a>,
        workspace: Text<'a>,
        parent: Text<'a> = "parentTaskId",
    }
}

/// A message that was read.
struct ReadMessage {
    key: Key,
    is_condensed: bool,
    truncation: Option<Box<str>>,
}

/// Decodes one task.
#[derive(Default)]
struct TaskDecoder {
    ui: Ui,
    item: Meta,
    seen: Vec<ReadMessage>,
    tools: ToolNames,
    meta: Meta,
}

impl Decoder for TaskDecoder {
    fn read_state(&mut self, document: &str, out: &mut EventSink<'_>) -> Option<StateUpdate> {
        if document.trim_start().starts_with('[') {
            self.ui = Ui::read(document, out)?;
        } else {
            let item: Item<'_> = lenient::state(document, out)?;
            self.item = Meta {
                title: item.task.get().map(title).filter(|title| !title.is_empty()),
                cwd: item.workspace.boxed(),
                parent: item.parent.boxed(),
                ..Meta::default()
            };
        }
        Some(StateUpdate::Accepted)
    }

    fn read_document(&mut self, document: &str, out: &mut EventSink<'_>) {
        let messages: Vec<Raw<'_>> = match serde_json::from_str(document) {
            Ok(messages) => messages,
            Err(error) => return out.unreadable(error.to_string()),
        };
        let title = self.ui.task.as_deref().map(title);
        let meta = Meta {
            title: self.item.title.clone().or(title),
            ..self.item.clone()
        };
        out.meta(meta.changes(&mut self.meta));
        for (line, message) in (1..).zip(messages) {
            out.begin(Place::of_line(line));
            if let Some(message) = lenient::object::<Message<'_>>(message.get(), out) {
                self.message(&message, out);
            } else {
                self.seen.push(ReadMessage::new(out.place().line()));
            }
        }
        let everything = u64::MAX;
        self.truncate(everything, None, out);
    }
}

/// Returns a task's first line.
fn title(task: &str) -> Box<str> {
    let line = task.trim().lines().next().unwrap_or_default();
    line.chars().take(120).collect::<String>().into()
}

impl ReadMessage {
    fn new(line: u64) -> ReadMessage {
        ReadMessage {
            key: Key::of_number("task message", line),
            is_condensed: false,
            truncation: None,
        }
    }
}

impl TaskDecoder {
    fn message(&mut self, message: &Message<'_>, out: &mut EventSink<'_>) {
        let (index, at) = (self.seen.len() as u64, message.ts);
        out.set_time(at.and_then(Millis::time));
        self.truncate(index, at, out);
        let mut seen = ReadMessage::new(out.place().line());
        let key = Some(seen.key);
        if message.is_summary {
            self.condense(message, key, out);
        } else if message.is_marker {
            out.node(Node::new(key, Part::Link, Vec::new()));
        } else {
            match message.role.or_empty() {
                "assistant" => self.response(message, seen.key, index, out),
                "user" => {
                    let (items, about) = user::items(&message.content, &self.tools, out);
                    out.meta(about.changes(&mut self.meta));
                    out.node(Node::new(key, anthropic::part_of(&items), items));
                }
                other => out.unknown(format!("{other} message")),
            }
        }
        seen.is_condensed = message.condense_parent.get().is_some();
        seen.truncation = message.truncation_parent.boxed();
        self.seen.push(seen);
    }

    fn response(&mut self, message: &Message<'_>, key: Key, index: u64, out: &mut EventSink<'_>) {
        let model = message.model.get().map(lenient::model_name);
        out.meta(Meta::of_model(model.map(Into::into)).changes(&mut self.meta));
        let request = key.under("task response");
        let items = anthropic::assistant_items(&message.content, &mut self.tools, out);
        out.node(Node::output(Some(key), Some(request), items));
        let Some(report) = self.ui.report(index, message.ts) else {
            return;
        };
        let model = report.model.as_deref().map(lenient::model_name);
        out.meta(Meta::of_model(model.map(Into::into)).changes(&mut self.meta));
        out.own_cost(Some(request), report.cost.0);
        if report.is_old {
            out.billed(request, report.billed)
        } else {
            out.usage(report.usage(request, self.meta.model.clone()))
        }
    }

    /// A summary takes the place of the messages before it.
    fn condense(&mut self, message: &Message<'_>, key: Option<Key>, out: &mut EventSink<'_>) {
        let condensed = self.ui.condensed(message.ts);
        if let Some((summary, condensed)) = key.zip(condensed) {
            out.own_cost(Some(summary), condensed.cost.0);
        }
        let kept = self.seen.iter().filter(|seen| !seen.is_condensed);
        // Where nothing is marked, older versions have taken the others out of the document.
        let kept = kept.map(|seen| seen.key).collect();
        out.reset(Reset {
            before: condensed.map(|one| one.before).filter(|n| *n > 0),
            ..Reset::compaction(Cause::Unlogged, RetainedItems::Nodes(kept))
        });
        let items = anthropic::injected_texts(&message.content, Kind::Summary, out);
        out.node(Node::new(key, Part::Injected, items));
    }

    /// Applies the truncations before the message at this index and time.
    fn truncate(&mut self, index: u64, at: Option<Millis>, out: &mut EventSink<'_>) {
        while let Some(cut) = self.ui.truncated(index, at) {
            let kept = (0..)
                .zip(&self.seen)
                .filter(|(n, seen)| !cut.hides(*n, seen));
            let kept = kept.map(|(_, seen)| seen.key).collect();
            out.reset(Reset {
                before: cut.before.filter(|n| *n > 0),
                ..Reset::compaction(Cause::Unlogged, RetainedItems::Nodes(kept))
            });
        }
    }
}

#[cfg(test)]
mod tests;
