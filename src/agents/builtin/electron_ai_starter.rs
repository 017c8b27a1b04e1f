//! electron-ai-starter, a chat application with tools.
//!
//! All sessions are in one database, `db/app.db` in its folder for user data. After its sources
//! (mosaan/electron-ai-starter, `src/backend/db/schema.ts`, `session/ChatSessionStore.ts`, `compression/`):
//!
//! * A message's content is in `message_parts`. One of the model's contains its calls and what they returned.
//! * `input_tokens` and `output_tokens` of a message are sums over the requests that it took: with a call,
//!   they are no size of a context.
//! * A summary is in `session_snapshots`: it takes the place of all messages up to `message_cutoff_id`, and of
//!   the summary before. Messages are never shortened; those after one that is answered again are deleted.
//! * It compacts at 0.95 of the window by o200k's count of its messages, tools not included, and keeps 2,000
//!   tokens. `compression:…` in `settings` changes that, which is not read.

use decode::anthropic::ToolNames;
use decode::lenient::{self, Millis, ReportedCount, Text, record};
use formats::database::{DatabaseSpec, Schema, object};
use formats::{Base, Claim, Decoder, Format, Recognition, Root, StoreKind, Totals, decoder};
use model::event::{
    BilledUsage, Cause, EventSink, Key, Meta, NewItem, Node, Part as Direction, Reset,
    RetainedItems, Usage,
};
use model::{Kind, LeaveReason, Role};

/// The format.
pub static ELECTRON_AI_STARTER: Format = Format {
    id: "electron-ai-starter",
    roots: &[
        Root::new(Base::XdgConfig("electron-ai-starter"), "db"),
        Root::home("Library/Application Support/electron-ai-starter", "db"),
        Root::home("AppData/Roaming/electron-ai-starter", "db"),
    ],
    claims: &|path| (path.file_name()? == "app.db").then(|| Claim::database(&STORE)),
    recognition: Recognition::DEFAULT.kept_in(&|head| StoreKind::database(&STORE, head)),
    decoder: &decoder::<ElectronDecoder>,
    totals: Totals::new(&[("input", |b| b.input), ("output", |b| b.output)]),
    ..Format::DEFAULT
};

static STORE: DatabaseSpec = DatabaseSpec {
    schemas: &[Schema {
        sessions: "SELECT id, NULL, updated_at, message_count, \
                   (SELECT max(rowid) FROM session_snapshots WHERE session_id = s.id) FROM chat_sessions AS s",
        header: object!(
            from "chat_sessions AS r WHERE id = ?1"; text session = "r.id", text title, text model = "r.model_id",
        ),
        // A summary comes after the message that was the last when it was made.
        from: "(SELECT 0 AS kind, rowid AS n, id, created_at AS at, role, input_tokens AS input, \
                output_tokens AS output, coalesce(completed_at, 0) AS mark, NULL AS content, NULL AS cutoff \
                FROM chat_messages WHERE session_id = ?1 AND deleted_at IS NULL \
                UNION ALL SELECT 1, rowid, id, created_at, NULL, NULL, NULL, 0, content_json, message_cutoff_id \
                FROM session_snapshots WHERE session_id = ?1)",
        order: "at, kind, n",
        line: object!(
            text id, integer at, text role, count input, count output, text summary = "r.content", text cutoff,
            json parts = object!(
                each "message_parts AS p WHERE message_id = r.id" by "sequence, p.rowid";
                text kind = "p.kind", text text = "p.content_text", text json = "p.content_json",
                text call = "p.tool_call_id", text tool = "p.tool_name",
            ),
        ),
        settled: "1",
        changed: "CAST(r.mark + coalesce(r.input, 0) + coalesce(r.output, 0) + coalesce( \
                  (SELECT max(updated_at) FROM message_parts WHERE message_id = r.id), 0) AS INTEGER)",
        ..Schema::DEFAULT
    }],
};

record! {
    struct Row<'a> {
        session: Text<'a>,
        title: Text<'a>,
        model: Text<'a>,
        id: Text<'a>,
        at: Option<Millis>,
        role: Text<'a>,
        input: ReportedCount,
        output: ReportedCount,
        parts: Vec<Part<'a>>,
        summary: Text<'a>,
        cutoff: Text<'a>,
    }

    struct Part<'a> {
        kind: Text<'a>,
        text: Text<'a>,
        json: Text<'a>,
        call: Text<'a>,
        tool: Text<'a>,
    }
}

/// Decodes one session.
#[derive(Default)]
struct ElectronDecoder {
    tools: ToolNames,
    /// The messages in the context.
    messages: Vec<Key>,
    /// The row that was read first.
    first: Option<u64>,
}

impl Decoder for ElectronDecoder {
    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let Some(row) = lenient::object::<Row<'_>>(line, out) else {
            return;
        };
        if row.session.get().is_some() {
            return out.meta(Meta {
                id: row.session.boxed(),
                title: row.title.boxed(),
                model: row.model.boxed().map(|id| {
                    let (_, id) = id.split_once(':').unwrap_or(("", &id));
                    lenient::model_name(id).into()
                }),
                ..Meta::default()
            });
        }
        self.first.get_or_insert(out.place().line());
        out.set_time(row.at.and_then(Millis::time));
        match (row.summary.get(), row.role.or_empty()) {
            (Some(summary), _) => self.summary(&row, summary, out),
            (None, "user") => self.message(&row, Direction::Input, out),
            (None, "system") => self.message(&row, Direction::Injected, out),
            (None, "assistant") => self.answer(&row, out),
            (None, "tool") => self.message(&row, Direction::Result, out),
            (None, "") => out.unreadable("a message without a role"),
            (None, other) => out.unknown(format!("{other} message")),
        }
    }
}

impl ElectronDecoder {
    fn add(&mut self, key: Key, part: Direction, items: Vec<NewItem>, out: &mut EventSink<'_>) {
        self.messages.push(key);
        out.node(Node::new(Some(key), part, items));
    }

    fn message(&mut self, row: &Row<'_>, direction: Direction, out: &mut EventSink<'_>) {
        let (role, kind) = match direction {
            Direction::Input => (Role::User, Kind::Text),
            _ => (Role::Container, Kind::Prompt),
        };
        let mut items = Vec::new();
        for part in &row.parts {
            match part.kind.or_empty() {
                "text" => items.push(out.text(role, kind, part.text.or_empty())),
                "tool_result" => items.push(self.result(part, out)),
                "attachment" => {
                    let item = out.item(role, kind).label("[attachment]");
                    items.push(item.text(part.text.or_empty()).done());
                }
                // Not sent.
                other => out.skip(other.to_owned()),
            }
        }
        self.add(row.key(), direction, items, out);
    }

    /// Takes in a message of the model: what it wrote, its calls, and what they returned.
    fn answer(&mut self, row: &Row<'_>, out: &mut EventSink<'_>) {
        let request = row.key();
        let (mut written, mut results) = (Vec::new(), Vec::new());
        for part in &row.parts {
            match part.kind.or_empty() {
                "text" => written.push(out.text(Role::Assistant, Kind::Text, part.text.or_empty())),
                "tool_invocation" => {
                    let (name, call) = (Some(part.tool.or_empty()), part.call.get());
                    written.push(self.tools.written_call(call, name, part.content(), out));
                }
                "tool_result" => results.push(part),
                other => out.skip(other.to_owned()),
            }
        }
        let is_one_request = written.iter().all(|item| item.kind == Kind::Text);
        self.messages.push(request);
        out.node(Node::output(Some(request), Some(request), written));
        if !results.is_empty() {
            let key = Key::of_parts(&["electron results", row.id.or_empty()]);
            let results = results.into_iter().map(|part| self.result(part, out));
            let items = results.collect();
            self.add(key, Direction::Result, items, out);
        }
        let [input, output] = ReportedCount::mended([row.input, row.output]);
        let prompt = input.0.filter(|tokens| *tokens > 0 && is_one_request);
        if let Some(prompt) = prompt {
            out.usage(Usage {
                output: output.0,
                ..Usage::billed(request, prompt, BilledUsage::new(prompt, output.or_zero()))
            });
        }
    }

    fn result(&self, part: &Part<'_>, out: &mut EventSink<'_>) -> NewItem {
        let call = part.call.get();
        let item = out.tool_result(part.tool.get().or(self.tools.get(call)), call);
        item.text(part.content()).done()
    }

    /// Takes in a summary, in the place of all messages up to one.
    fn summary(&mut self, row: &Row<'_>, summary: &str, out: &mut EventSink<'_>) {
        let cutoff = Key::of_parts(&["electron", row.cutoff.or_empty()]);
        let last = self.messages.iter().position(|key| *key == cutoff);
        match last {
            Some(last) => drop(self.messages.drain(..=last)),
            // It is before all that was read.
            None if self.first > Some(1) => {}
            // Without that message all are sent again.
            None => return out.skip("summary"),
        }
        // Results belong to the message that has the calls.
        let results = Key::of_parts(&["electron results", row.cutoff.or_empty()]);
        self.messages.retain(|key| *key != results);
        let kept = RetainedItems::Nodes(self.messages.clone());
        out.reset(Reset::new(LeaveReason::Compaction, Cause::Unlogged, kept));
        let text: String = serde_json::from_str(summary).unwrap_or_else(|_| summary.to_owned());
        let item = out.text(Role::Container, Kind::Summary, &text);
        let key = Key::of_parts(&["electron summary", row.id.or_empty()]);
        self.add(key, Direction::Injected, vec![item], out);
    }
}

impl Row<'_> {
    fn key(&self) -> Key {
        Key::of_parts(&["electron", self.id.or_empty()])
    }
}

impl Part<'_> {
    /// Returns the text of a call or a result that is sent.
    fn content(&self) -> &str {
        self.json.get().or(self.text.get()).unwrap_or_default()
    }
}
