//! Hermes Agent.
//!
//! All sessions are in `state.db`. After its sources (`hermes_state*.py`, `agent/context_compressor.py`), checked on
//! runs of 0.19:
//!
//! * A row of `messages` is a message as Chat Completions has it. Rows are only added.
//! * `sessions` has the sums of a session's requests and how many there were, rewritten after each; those of
//!   compactions are not in them. So a request is known if the sums were read before and after it, or if it
//!   is the only one. `input_tokens` is without the cache.
//! * A compaction adds all messages that stay, and the summary, again. They come within milliseconds; the
//!   summary begins with a mark. Older rows are then `compacted`. A rewind leaves rows that are neither
//!   `compacted` nor `active`.
//! * The system prompt is in `sessions`, the tools are nowhere.
//! * It compacts at 0.75 of windows below 512,000 tokens, at half of larger ones (`compression.threshold`).

use super::anthropic::ToolNames;
use super::database::{DatabaseSpec, MAGIC, Schema};
use super::lenient::{self, Count, Text, record};
use super::{Claim, Decoder, Facts, Format, Root, StoreKind, decoder};
use crate::model::event::{
    Billed, Cause, Kept, Key, Meta, NewItem, Node, Part, Reset, Sink, Usage,
};
use crate::model::{Gone, Kind, Role};
use jiff::Timestamp;
use serde_json::value::RawValue;

/// The format.
pub static HERMES: Format = Format {
    id: "hermes",
    label: "hermes",
    roots: &[
        Root::home(".hermes", "").env("HERMES_HOME").flat(),
        Root::home(".hermes", "profiles").env("HERMES_HOME"),
    ],
    proven: "0.19.0",
    facts: Facts {
        mark: "SQLite database with Hermes's tables",
        live: "each write",
        known: "prompts and outputs where the log was followed",
        estimated: "the others",
        sub_agents: "yes",
        compactions: "yes",
        tried: "whole runs of 0.19",
    },
    claims: &|path| (path.file_name()? == "state.db").then(|| Claim::database(&STORE)),
    decoder: &decoder::<HermesDecoder>,
    store: &|head| {
        head.starts_with(MAGIC)
            .then_some(StoreKind::Database(&STORE))
    },
    ..Format::DEFAULT
};

static STORE: DatabaseSpec = DatabaseSpec {
    schemas: &[Schema {
        sessions: "SELECT id, parent_session_id, coalesce(ended_at, started_at) * 1000,
            api_call_count, input_tokens, output_tokens, title,
            (SELECT max(id) FROM messages INDEXED BY idx_messages_session WHERE session_id = s.id AND timestamp =
                (SELECT max(timestamp) FROM messages WHERE session_id = s.id))
            FROM sessions AS s WHERE EXISTS (SELECT 1 FROM messages WHERE session_id = s.id)",
        header: "SELECT json_object('id', CAST(id AS TEXT), 'title', CAST(title AS TEXT), 'cwd', CAST(cwd AS TEXT),
            'model', CAST(model AS TEXT), 'parent', CAST(parent_session_id AS TEXT),
            'prompt', CAST(system_prompt AS TEXT), 'calls', CAST(api_call_count AS INTEGER),
            'input', CAST(input_tokens AS INTEGER), 'output', CAST(output_tokens AS INTEGER),
            'read', CAST(cache_read_tokens AS INTEGER), 'written', CAST(cache_write_tokens AS INTEGER),
            'reasoning', CAST(reasoning_tokens AS INTEGER)) FROM sessions WHERE id = ?1",
        from: "messages WHERE session_id = ?1",
        order: "timestamp, id",
        line: r#"'{"id":' || r.id || ',"role":' || json_quote(CAST(r.role AS TEXT))
            || ',"at":' || coalesce(CAST(r.timestamp AS REAL), 'null')
            || ',"rewound":' || iif(r.active = 0 AND r.compacted = 0, 'true', 'false')
            || ',"content":' || json_quote(CAST(coalesce(r.api_content, r.content) AS TEXT))
            || ',"reasoning":' || json_quote(CAST(coalesce(r.reasoning_content, r.reasoning) AS TEXT))
            || ',"call":' || json_quote(CAST(r.tool_call_id AS TEXT))
            || ',"tool":' || json_quote(CAST(r.tool_name AS TEXT))
            || ',"calls":' || coalesce(r.tool_calls, 'null') || '}'"#,
        settled: "1",
        changed: "r.id * 2 + (r.active = 0 AND r.compacted = 0)",
    }],
};

record! {
    struct Header<'a> {
        id: Text<'a>,
        title: Text<'a>,
        cwd: Text<'a>,
        model: Text<'a>,
        parent: Text<'a>,
        prompt: Text<'a>,
        calls: Count,
        input: Count,
        output: Count,
        read: Count,
        written: Count,
        reasoning: Count,
    }

    struct Row<'a> {
        id: Count,
        role: Text<'a>,
        at: Option<f64>,
        rewound: Option<bool>,
        content: Text<'a>,
        reasoning: Text<'a>,
        call: Text<'a>,
        tool: Text<'a>,
        calls: Vec<Call<'a>>,
    }

    struct Call<'a> {
        id: Text<'a>,
        function: Option<Function<'a>>,
    }

    struct Function<'a> {
        name: Text<'a>,
        arguments: Option<&'a RawValue>,
    }
}

/// How a compaction's summary begins.
const SUMMARY: [&str; 2] = ["[CONTEXT COMPACTION", "[PRIOR CONTEXT"];
/// Rows that are written together follow each other within so many seconds.
const TOGETHER: f64 = 0.005;

/// Decodes one session.
#[derive(Default)]
struct HermesDecoder {
    meta: Meta,
    /// The system prompt's length.
    prompt: usize,
    /// How many requests there were, and their sums.
    sums: Option<(u64, Billed)>,
    /// The newest request: the sums are written before its response.
    pending: Option<Billed>,
    tools: ToolNames,
    /// When the row before was written, in seconds since 1970.
    last: f64,
    /// The first of the rows that were written together with it, and whether there was a summary among them.
    together: Option<(Key, bool)>,
}

impl Decoder for HermesDecoder {
    fn read_line(&mut self, line: &str, out: &mut Sink<'_>) {
        if out.place().line == 0 {
            if let Some(header) = lenient::object::<Header<'_>>(line, out) {
                self.header(&header, out);
            }
        } else if let Some(row) = lenient::object::<Row<'_>>(line, out) {
            self.row(&row, out);
        }
    }
}

impl HermesDecoder {
    fn header(&mut self, header: &Header<'_>, out: &mut Sink<'_>) {
        let meta = Meta {
            id: header.id.boxed(),
            title: header.title.boxed(),
            cwd: header.cwd.boxed(),
            model: header.model.boxed(),
            parent: header.parent.boxed(),
            ..Meta::default()
        };
        out.meta(meta.changes(&mut self.meta));
        let prompt = header.prompt.or_empty();
        if self.prompt != prompt.len() {
            self.prompt = prompt.len();
            let item = out.text(Role::Container, Kind::Prompt, prompt);
            let key = Key::of("hermes system prompt");
            out.node(Node::new(Some(key), Part::Front, vec![item]));
        }
        let calls = header.calls.or_zero();
        let sum = Billed {
            input: header.input.or_zero(),
            cache_creation: header.written.or_zero(),
            cache_read: header.read.or_zero(),
            output: header.output.or_zero(),
            reasoning: header.reasoning.or_zero(),
        };
        let (before, old) = self.sums.replace((calls, sum)).unwrap_or_default();
        if calls != before {
            // Of several requests none is known.
            let one = sum
                .checked_sub(old)
                .filter(|one| calls == before + 1 && one.prompt() > 0);
            self.pending = one;
        }
    }

    fn row(&mut self, row: &Row<'_>, out: &mut Sink<'_>) {
        let at = row.at.unwrap_or(0.0);
        out.set_time(Timestamp::from_microsecond((at * 1e6) as i64).ok());
        let key = Key::of_number("hermes", row.id.or_zero());
        if row.rewound == Some(true) {
            return out.skip_node("rewound", Node::new(Some(key), Part::Link, Vec::new()));
        }
        if (at - self.last).abs() > TOGETHER {
            self.together = None;
        }
        self.last = at;
        let (first, has_summary) = *self.together.get_or_insert((key, false));
        let text = row.content.or_empty();
        let is_summary = SUMMARY.iter().any(|mark| text.starts_with(mark));
        if is_summary && !has_summary {
            self.together = Some((first, true));
            let reset = Reset::new(Gone::Compaction, Cause::Unlogged, Kept::from(Some(first)));
            out.reset(reset);
        }
        let mut usage = None;
        let node = match row.role.or_empty() {
            _ if is_summary => {
                let item = out.text(Role::Container, Kind::Summary, text);
                Node::new(Some(key), Part::Injected, vec![item])
            }
            "user" => {
                let item = out.text(Role::User, Kind::Text, text);
                Node::new(Some(key), Part::Input, vec![item])
            }
            "tool" => {
                let tool = row.tool.get().or(self.tools.get(row.call.get()));
                let item = out.tool_result(tool, row.call.get()).text(text).done();
                Node::new(Some(key), Part::Result, vec![item])
            }
            "assistant" => {
                let items = self.output(row, text, out);
                let id = self.meta.id.as_deref().unwrap_or_default();
                let request = Key::of_parts(&["hermes", id, &row.id.or_zero().to_string()]);
                // Written again, it is no response.
                let request = Some(request).filter(|_| first == key);
                if let Some(request) = request
                    && let Some(billed) = self.pending.take()
                {
                    usage = Some(report(request, billed));
                }
                Node::output(Some(key), request, items)
            }
            other => return out.unknown(format!("{other} message")),
        };
        out.node(node);
        usage.into_iter().for_each(|usage| out.usage(usage));
    }

    /// The items of a response.
    fn output(&mut self, row: &Row<'_>, text: &str, out: &mut Sink<'_>) -> Vec<NewItem> {
        let mut items = Vec::new();
        let texts = [
            (Kind::Thinking, row.reasoning.or_empty()),
            (Kind::Text, text),
        ];
        for (kind, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            items.push(out.text(Role::Assistant, kind, text));
        }
        for call in &row.calls {
            let function = call.function.clone().unwrap_or_default();
            self.tools.insert(call.id.get(), function.name.or_empty());
            let item = out.tool_call(function.name.get(), call.id.get());
            let item = item.text(function.name.or_empty());
            items.push(match function.arguments {
                Some(arguments) => lenient::raw(item, arguments).done(),
                None => item.done(),
            });
        }
        items
    }
}

fn report(request: Key, billed: Billed) -> Usage {
    Usage {
        cached: billed.cache_read,
        output: Some(billed.output),
        reasoning: Some(billed.reasoning),
        billed,
        ..Usage::reported(request, billed.prompt())
    }
}
