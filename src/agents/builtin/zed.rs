//! Zed's agent.
//!
//! All threads are in `threads/threads.db`, each a document of its own, compressed by zstd (`data_type`), whose
//! messages are read as rows. After its sources (zed-industries/zed, `crates/agent/src/db.rs` and `thread.rs`,
//! version 0.3.0 of its documents) and a public reader (getagentseal/codeburn, `docs/providers/zed.md`):
//!
//! * A message is `User`, `Agent` (a response with the results of its calls), `Compaction`, or the word `Resume`.
//! * `request_token_usage` has the last request of each user turn, by the id of the user's message; those
//!   before it in the turn are known nowhere. `cumulative_token_usage` is the sum of all, and a cost alone.
//!   `input_tokens` is without the cache.
//! * A compaction is put before the user's message that waits for an answer, or between two responses. Then the
//!   user's newest messages stay, up to 80,000 bytes, and what comes after it.
//! * What is mentioned in a message is sent with it. The system prompt and the tools are not logged.
//! * Documents of other versions, up to 2025, are not read.

use decode::anthropic::ToolNames;
use decode::image;
use decode::lenient::{self, Count, Raw, Text, record};
use decode::rows::{self, Line};
use decode::sums::PendingResponse;
use formats::database::{DatabaseSpec, Schema};
use formats::settings::{Layers, Settings, SettingsFile};
use formats::{
    ANTHROPIC, Base, Claim, Decoder, Format, Recognition, Root, StoreKind, Totals, decoder,
};
use json::each_field;
use model::event::{
    BilledUsage, Cause, EventSink, Key, Meta, NewItem, Node, Part, Reset, RetainedItems, Usage,
};
use model::window::Overrides;
use model::{Kind, Role};
use serde_json::Value;
use std::collections::HashMap;

/// The format.
pub static ZED: Format = Format {
    id: "zed",
    roots: &[
        Root::new(Base::XdgData("zed"), "threads").flat(),
        Root::home("Library/Application Support/Zed", "threads").flat(),
        Root::home("AppData/Local/Zed", "threads").flat(),
        Root::home(".var/app/dev.zed.Zed/data/zed", "threads").flat(),
    ],
    claims: &|path| (path.file_name()? == "threads.db").then(|| Claim::database(&STORE)),
    recognition: Recognition::DEFAULT.kept_in(&|head| StoreKind::database(&STORE, head)),
    decoder: &decoder::<ZedDecoder>,
    harmless: "Resume",
    totals: Totals::new(ANTHROPIC).cached_beside(),
    settings: Some(&Settings::new(
        &[SettingsFile::Agent("../../../.config/zed/settings.json")],
        overrides,
    )),
    ..Format::DEFAULT
};

/// Returns the share in `90%`.
fn share_of(percent: &str) -> Option<f64> {
    let percent: f64 = percent.strip_suffix('%')?.trim().parse().ok()?;
    Some(percent / 100.0).filter(|share| *share > 0.0 && *share <= 1.0)
}

/// Reads the threshold: a share as a text (`90%`), the tokens at which it compacts, or as a negative number the tokens that
/// remain then.
fn overrides(files: &[&[u8]]) -> Overrides {
    let layers = Layers::jsonc(files);
    let whole = Overrides {
        share: Some(1.0),
        ..Overrides::default()
    };
    match layers.find("/agent/auto_compact/threshold", Some) {
        Some(Value::String(percent)) => Overrides {
            share: share_of(percent),
            ..Overrides::default()
        },
        Some(Value::Number(tokens)) => match tokens.as_i64() {
            Some(used @ 1..) => Overrides {
                budget: Some(used.unsigned_abs()),
                ..whole
            },
            Some(left @ ..=-1) => Overrides {
                reserve: Some(left.unsigned_abs() - 1),
                ..whole
            },
            _ => Overrides::default(),
        },
        _ => Overrides::default(),
    }
}

static STORE: DatabaseSpec = DatabaseSpec { schemas: &[Schema {
    sessions: "SELECT id, r.parent_id, unixepoch(updated_at) * 1000, updated_at, octet_length(data) FROM threads AS r",
    header: "SELECT json_object('id', CAST(id AS TEXT), 'title', CAST(summary AS TEXT),
        'parent', CAST(parent_id AS TEXT),
        'cwd', substr(folder_paths, 1, instr(folder_paths || char(10), char(10)) - 1),
        'model', CAST(valid ->> '$.model.model' AS TEXT),
        'provider', CAST(valid ->> '$.model.provider' AS TEXT),
        'sums', valid -> '$.cumulative_token_usage',
        'usage', valid -> '$.request_token_usage')
        FROM (SELECT *, iif(json_valid(document), document, '{}') AS valid FROM (SELECT id, summary, r.parent_id AS parent_id,
            CAST(r.folder_paths AS TEXT) AS folder_paths,
            iif(data_type = 'zstd', unzstd(data), CAST(data AS TEXT)) AS document FROM threads AS r WHERE id = ?1))",
    from: "(SELECT key AS n, type, value, lead(substr(value, 1, 8)) OVER (ORDER BY key) AS next FROM json_each((
        SELECT iif(json_valid(document), document, '{}') FROM (SELECT
            iif(data_type = 'zstd', unzstd(data), CAST(data AS TEXT)) AS document FROM threads WHERE id = ?1)),
        '$.messages'))",
    order: "n",
    line: r#"iif(r.type = 'object', substr(r.value, 1, length(r.value) - 1), '{"Word":' || json_quote(r.value))
        || iif(r.value LIKE '{"Compaction"%' AND r.next LIKE '{"User"%', ',"waits":true}', '}')"#,
    changed: "octet_length(r.value)",
    // Older databases have neither of them.
    optional: &["r.parent_id", "r.folder_paths"],
    ..Schema::DEFAULT
}]};

record! {
    struct Header<'a> {
        id: Text<'a>,
        sums: Option<Numbers>,
        usage: Option<Raw<'a>>,
    }

    #[derive(Copy)]
    mended [input + written + read => output] whole struct Numbers {
        input: Count = "input_tokens",
        output: Count = "output_tokens",
        written: Count = "cache_creation_input_tokens",
        read: Count = "cache_read_input_tokens",
    }

    struct Row<'a> {
        word: Text<'a> = "Word",
        user: Option<Message<'a>> = "User",
        agent: Option<Message<'a>> = "Agent",
        compaction: Option<Summary<'a>> = "Compaction",
        /// True if the user waits for an answer after this compaction.
        waits: Option<bool>,
    }

    struct Summary<'a> {
        text: Text<'a> = "Summary",
    }

    struct Message<'a> {
        id: Text<'a>,
        content: Vec<Piece<'a>>,
        results: Option<Raw<'a>> = "tool_results",
    }

    struct Piece<'a> {
        text: Text<'a> = "Text",
        mention: Option<Mention<'a>> = "Mention",
        image: Option<Source<'a>> = "Image",
        thinking: Option<Thinking<'a>> = "Thinking",
        redacted: Text<'a> = "RedactedThinking",
        call: Option<Call<'a>> = "ToolUse",
    }

    struct Mention<'a> {
        content: Text<'a>,
    }

    struct Source<'a> {
        source: Text<'a>,
    }

    struct Thinking<'a> {
        text: Text<'a>,
        signature: Text<'a>,
    }

    struct Call<'a> {
        id: Text<'a>,
        name: Text<'a>,
        input: Option<Raw<'a>>,
    }

    struct Output<'a> {
        tool: Text<'a> = "tool_name",
        content: Option<Raw<'a>>,
    }
}

/// Bytes of the user's newest messages that a compaction keeps.
const KEPT_BYTES: usize = 80_000;
/// Tokens of an image whose size cannot be read.
const IMAGE: u64 = 1_500;

/// Decodes one thread.
#[derive(Default)]
struct ZedDecoder {
    meta: Meta,
    /// The last request of each turn, by the id of the user's message.
    usage: HashMap<Key, Numbers>,
    /// The turn, and its newest response.
    turn: Option<Key>,
    newest: Option<PendingResponse>,
    /// The user's messages and their bytes.
    users: Vec<(Key, usize)>,
    tools: ToolNames,
}

impl Decoder for ZedDecoder {
    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        match rows::read(line, &mut self.meta, out) {
            Some(Line::Session(header)) => self.header(&header, out),
            Some(Line::Row(row)) => self.row(&row, out),
            None => {}
        }
    }

    fn read_end(&mut self, out: &mut EventSink<'_>) {
        self.end_turn(out);
    }
}

impl ZedDecoder {
    fn header(&mut self, header: &Header<'_>, out: &mut EventSink<'_>) {
        let lost = lenient::LostFields::default();
        let billed = header.sums.unwrap_or_default().billed();
        if billed.prompt() > 0 {
            let request = Key::of_parts(&["zed", header.id.or_empty()]);
            out.billed_sum(request, billed);
        }
        self.usage.clear();
        // Unreadable numbers leave their turn unknown.
        let _ = each_field(header.usage.map_or("{}", Raw::get), &mut |id, value| {
            let numbers = lenient::parse(value.get(), &lost).unwrap_or_default();
            self.usage.insert(Key::of(id), numbers);
        });
        lost.report(out);
    }

    fn row(&mut self, row: &Row<'_>, out: &mut EventSink<'_>) {
        let key = Key::of_number("zed", out.place().line());
        if let Some(message) = &row.user {
            self.end_turn(out);
            self.turn = message.id.key();
            let items = self.items(message, Role::User, out);
            let bytes = items.iter().map(|item| item.size.bytes as usize).sum();
            self.users.push((key, bytes));
            out.node(Node::new(Some(key), Part::Input, items));
        } else if let Some(message) = &row.agent {
            let (id, line) = (self.meta.id.as_deref(), out.place().line().to_string());
            let request = Key::of_parts(&["zed", id.unwrap_or_default(), &line]);
            self.newest = Some(PendingResponse::new(request, out));
            let items = self.items(message, Role::Assistant, out);
            out.node(Node::output(Some(key), Some(request), items));
            let results = self.results(message, out);
            if !results.is_empty() {
                out.node(Node::new(None, Part::Result, results));
            }
        } else if let Some(summary) = &row.compaction {
            if row.waits == Some(true) {
                self.end_turn(out);
            }
            let mut left = KEPT_BYTES;
            let kept = self.users.iter().rev().take_while(|(_, bytes)| {
                let had = left;
                left = left.saturating_sub(*bytes);
                had > 0
            });
            let kept = RetainedItems::Nodes(kept.map(|(key, _)| *key).collect());
            out.reset(Reset::compaction(Cause::Unlogged, kept));
            let item = out.text(Role::Container, Kind::Summary, summary.text.or_empty());
            out.node(Node::new(Some(key), Part::Injected, vec![item]));
        } else {
            match row.word.get() {
                Some(word) => ZED.pass_over(word, out),
                None => out.unknown("message"),
            }
        }
    }

    /// Reports the last request of the turn.
    fn end_turn(&mut self, out: &mut EventSink<'_>) {
        let turn = self.turn.and_then(|turn| self.usage.get(&turn));
        let numbers = turn.copied().unwrap_or_default();
        let prompt = numbers.billed().prompt();
        let Some(newest) = self.newest.take_if(|_| prompt > 0) else {
            return;
        };
        let here = out.place();
        newest.begin(out);
        // Its cost is in the sum of the thread.
        out.usage(Usage {
            cached: numbers.read.or_zero(),
            output: numbers.output.0,
            ..Usage::reported(newest.request, prompt)
        });
        out.begin(here);
    }

    /// Returns the items of a message's content; `role` is that of its texts.
    fn items(
        &mut self,
        message: &Message<'_>,
        role: Role,
        out: &mut EventSink<'_>,
    ) -> Vec<NewItem> {
        let mut items = Vec::new();
        for piece in &message.content {
            if let Some(text) = piece.text.get() {
                items.push(out.text(role, Kind::Text, text));
            } else if let Some(mention) = &piece.mention {
                items.push(out.text(Role::Container, Kind::Reminder, mention.content.or_empty()));
            } else if let Some(image) = &piece.image {
                let tokens = image::tokens(image.source.or_empty(), image::claude, IMAGE);
                items.push(out.item(role, Kind::Text).fixed(tokens, "[image]").done());
            } else if let Some(call) = &piece.call {
                let (id, name) = (call.id.get(), call.name.get());
                items.push(self.tools.call(id, name, call.input, out));
            } else {
                let thinking = piece.thinking.clone().unwrap_or_default();
                let hidden = thinking.signature.or_empty().len() + piece.redacted.or_empty().len();
                let item = out.item(Role::Assistant, Kind::Thinking);
                let item = item.text(thinking.text.or_empty());
                items.push(item.opaque(hidden as u64).done());
            }
        }
        items
    }

    /// Returns the results of the calls in a response.
    fn results(&mut self, message: &Message<'_>, out: &mut EventSink<'_>) -> Vec<NewItem> {
        let mut items = Vec::new();
        let lost = lenient::LostFields::default();
        let results = message.results.map_or("{}", Raw::get);
        // Those that cannot be read are missing.
        let _ = each_field(results, &mut |id, value| {
            let output: Output<'_> = lenient::parse(value.get(), &lost).unwrap_or_default();
            let tool = output.tool.get().or(self.tools.get(Some(id)));
            let item = out.tool_result(tool, Some(id));
            items.push(lenient::strings(item, output.content).done());
        });
        lost.report(out);
        items
    }
}

impl Numbers {
    fn billed(self) -> BilledUsage {
        BilledUsage::new(self.input.or_zero(), self.output.or_zero())
            .with_cache(self.read.or_zero(), self.written.or_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_threshold_is_a_share_a_size_or_what_remains() {
        let of = |threshold: &str| {
            let file = format!("{{\"agent\":{{\"auto_compact\":{{\"threshold\":{threshold},}}}}}}");
            let set = overrides(&[file.as_bytes()]);
            (set.share, set.budget, set.reserve)
        };
        assert_eq!(of("\"80%\""), (Some(0.8), None, None));
        assert_eq!(of("120000"), (Some(1.0), Some(120_000), None));
        assert_eq!(of("-16000"), (Some(1.0), None, Some(15_999)));
        for other in ["\"many\"", "\"140%\"", "0", "[]"] {
            assert_eq!(of(other), (None, None, None), "{other}");
        }
    }
}
