//! Crush.
//!
//! Each project has a database, mostly `.crush/crush.db` in its folder; `projects.json` in Crush's own folder lists
//! them since 2026. After its sources (charmbracelet/crush, `internal/agent`, `internal/db`, `internal/message`),
//! checked on a database of August 2025 with 29 responses:
//!
//! * A row of `messages` is a message, which is rewritten while it streams. Calls and their results are rows of
//!   their own.
//! * `sessions` has the prompt and the output of the newest request, written before the end of its message
//!   (`finish`). Of the others nothing is kept, so they are known only where they were followed.
//! * The cost of the request for a title is added to the first response: the agent's number, not the
//!   provider's. So are those of Claude models: input that is written to a cache is not in them.
//! * Until February 2026 the output had in it what was read from a cache, and the prompt had not.
//! * A summary is a message of the model's, after which a new context begins (`is_summary_message`; in older
//!   databases `summary_message_id` names the newest). Its request is not part of the conversation.
//! * The system prompt and the tools are not logged. A database does not name its folder, and a session of a
//!   sub-agent names its parent.

use decode::anthropic::ToolNames;
use decode::image;
use decode::lenient::{Count, ReportedCount, Text, full_length, record};
use decode::rows::{self, Line};
use decode::sums::PendingResponse;
use formats::database::{DatabaseSpec, Schema, object};
use formats::settings::{Layers, Settings, SettingsFile};
use formats::{Base, Claim, Decoder, Format, Recognition, Root, StoreKind, Totals, decoder};
use jiff::Timestamp;
use model::event::{
    BilledUsage, Cause, EventSink, Key, Meta, NewItem, Node, Part, Reset, RetainedItems, Usage,
};
use model::window::{Compaction, Overrides};
use model::{Kind, Role};
use serde_json::Value;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The format.
pub static CRUSH: Format = Format {
    id: "crush",
    roots: &[
        Root::new(Base::XdgData("crush"), "projects.json")
            .env("CRUSH_GLOBAL_DATA")
            .listing("", projects)
            .flat(),
        Root::home("AppData/Local/crush", "projects.json")
            .listing("", projects)
            .flat(),
        Root::new(Base::At("."), ".crush").flat(),
    ],
    claims: &|path| (path.file_name()? == "crush.db").then(|| Claim::database(&STORE)),
    recognition: Recognition::DEFAULT.kept_in(&|head| StoreKind::database(&STORE, head)),
    decoder: &decoder::<CrushDecoder>,
    totals: Totals::new(&[("input", |b| b.input), ("output", |b| b.output)]),
    settings: Some(&Settings::new(
        &[
            SettingsFile::Project(".crush.json"),
            SettingsFile::Project("crush.json"),
        ],
        |files| Overrides {
            compaction: match Layers::json(files)
                .find("/options/disable_auto_summarize", Value::as_bool)
            {
                Some(true) => Compaction::Off,
                _ => Compaction::Usual,
            },
            ..Overrides::default()
        },
    )),
    ..Format::DEFAULT
};

/// Returns the data folders of the projects in `projects.json`.
fn projects(list: &[u8]) -> Vec<PathBuf> {
    let list: Value = serde_json::from_slice(list).unwrap_or_default();
    let projects = list.get("projects").and_then(Value::as_array);
    let folder = |project: &Value| {
        let data = project.get("data_dir").and_then(Value::as_str);
        let folder = Path::new(project.get("path")?.as_str()?);
        Some(folder.join(data.unwrap_or(".crush")))
    };
    projects.into_iter().flatten().filter_map(folder).collect()
}

static STORE: DatabaseSpec = DatabaseSpec { schemas: &[Schema {
    sessions: "SELECT id, parent_session_id, iif(updated_at > 100000000000, updated_at, updated_at * 1000),
        prompt_tokens, completion_tokens, title, summary_message_id,
        (SELECT max(rowid) FROM messages WHERE session_id = s.id),
        (SELECT octet_length(parts) + coalesce(finished_at, 0) FROM messages WHERE session_id = s.id
            ORDER BY rowid DESC LIMIT 1)
        FROM sessions AS s WHERE EXISTS (SELECT 1 FROM messages WHERE session_id = s.id)",
    header: object!(
        from "sessions AS r WHERE id = ?1";
        text id, text title, text parent = "r.parent_session_id",
        text cwd = "(SELECT substr(file, 1, length(file) - 16) FROM pragma_database_list
            WHERE file LIKE '%/.crush/crush.db' AND name = 'main')",
        count prompt = "r.prompt_tokens", count output = "r.completion_tokens",
        text answer = "(SELECT id FROM messages WHERE session_id = ?1 AND role = 'assistant'
            AND finished_at IS NOT NULL ORDER BY rowid DESC LIMIT 1)",
        integer answers = "(SELECT count(*) FROM (SELECT 1 FROM messages WHERE session_id = ?1
            AND role = 'assistant' AND finished_at IS NOT NULL LIMIT 2))",
    ),
    from: "messages WHERE session_id = ?1",
    order: "rowid",
    line: object!(
        text id, text role, text model, text provider, integer at = "r.created_at",
        flag summary = "coalesce(r.is_summary_message,
            r.id = (SELECT summary_message_id FROM sessions WHERE id = ?1))",
        json parts,
    ),
    settled: "r.role <> 'assistant' OR r.finished_at IS NOT NULL",
    // The last part, `finish`, contains nothing about the context.
    changed: r#"coalesce(nullif(instr(r.parts, ',{"type":"finish"'), 0), length(r.parts))
        + 1000000000 * coalesce(r.is_summary_message,
            r.id = (SELECT summary_message_id FROM sessions WHERE id = ?1), 0)"#,
    optional: &["r.provider", "r.is_summary_message"],
}]};

record! {
    struct Header<'a> {
        prompt: ReportedCount,
        output: ReportedCount,
        answer: Text<'a>,
        answers: Count,
    }

    struct Row<'a> {
        id: Text<'a>,
        role: Text<'a>,
        model: Text<'a>,
        provider: Text<'a>,
        at: Count,
        summary: Option<bool>,
        parts: Vec<Piece<'a>>,
    }

    struct Piece<'a> {
        kind: Text<'a> = "type",
        data: Option<Data<'a>>,
    }

    struct Data<'a> {
        text: Text<'a>,
        thinking: Text<'a>,
        signature: Text<'a>,
        id: Text<'a>,
        name: Text<'a>,
        input: Text<'a>,
        call: Text<'a> = "tool_call_id",
        content: Text<'a>,
        image: Text<'a> = "Data" | "data",
        reason: Text<'a>,
    }
}

/// A response without a report.
struct Response {
    pending: PendingResponse,
    is_old: bool,
    is_claude: bool,
    /// The bytes that were written, hidden ones too.
    written: u64,
    /// The bytes of the texts before it.
    before: u64,
}

/// The time at which Crush's numbers changed: until then the output included the tokens that were read from a cache,
/// and the prompt did not (charmbracelet/crush, pull request 2004, in releases of February 2026).
const CHANGED: Timestamp = Timestamp::constant(1_769_904_000, 0);

/// The bytes of a token, for an estimate.
const BYTES_OF_TOKEN: u64 = 4;

/// No provider caches fewer tokens.
const LEAST_CACHED: u64 = 1_024;

impl Response {
    /// Returns true if this number is larger than the response's output can be: no token is shorter than a byte. The
    /// output of a newer one may contain thinking that is not logged, so it may be longer than the logged text, but
    /// hardly longer than the prompt.
    fn is_too_short_for(&self, output: u64, prompt: u64) -> bool {
        let is_cached = output >= LEAST_CACHED && output > self.written;
        is_cached && (self.is_old || output > prompt)
    }
}

/// Decodes one session.
#[derive(Default)]
struct CrushDecoder {
    meta: Meta,
    /// The newest request: its response, its prompt and its output, and whether it is the first.
    newest: Option<(Key, u64, u64, bool)>,
    /// The responses that were not reported.
    responses: HashMap<Key, Response>,
    tools: ToolNames,
    /// The bytes of the texts in the context.
    bytes: u64,
}

impl Decoder for CrushDecoder {
    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        match rows::read(line, &mut self.meta, out) {
            Some(Line::Session(header)) => self.header(&header),
            Some(Line::Row(row)) => self.row(&row, out),
            None => {}
        }
        self.report(out);
    }
}

impl CrushDecoder {
    fn header(&mut self, header: &Header<'_>) {
        let parts = ReportedCount::whole([header.prompt, header.output]);
        let [prompt, output] = parts.map(Count::or_zero);
        let is_first = header.answers.or_zero() < 2;
        let answer = header.answer.key().filter(|_| prompt > 0);
        self.newest = answer.map(|answer| (answer, prompt, output, is_first));
    }

    /// Reports the newest response, once its request is known.
    fn report(&mut self, out: &mut EventSink<'_>) {
        let Some((answer, prompt, output, is_first)) = self.newest else {
            return;
        };
        let Some(response) = self.responses.remove(&answer) else {
            return;
        };
        let request = response.pending.request;
        response.pending.begin(out);
        if response.is_too_short_for(output, prompt) {
            // Together they are all of the context. Which part was output is not known.
            let all = prompt.saturating_add(output);
            let own = response.written / BYTES_OF_TOKEN;
            let prompt = all.saturating_sub(own.min(output));
            out.usage(Usage::estimated(request, prompt));
            return out.billed_sum(request, BilledUsage::new(all, 0));
        }
        if response.is_claude && prompt < response.before / BYTES_OF_TOKEN {
            return out.billed(request, BilledUsage::new(prompt, output));
        }
        let usage = if is_first || response.is_claude {
            Usage::estimated(request, prompt)
        } else {
            Usage::reported(request, prompt)
        };
        out.usage(Usage {
            output: Some(output),
            billed: BilledUsage::new(prompt, output),
            ..usage
        });
    }

    fn row(&mut self, row: &Row<'_>, out: &mut EventSink<'_>) {
        out.set_time(row.at.time());
        let key = row.id.key();
        let role = row.role.or_empty();
        let is_summary = row.summary == Some(true);
        let user = match is_summary {
            true => (Role::Container, Kind::Summary),
            false if role == "user" => (Role::User, Kind::Text),
            false => (Role::Assistant, Kind::Text),
        };
        let items = self.items(&row.parts, user, out);
        let before = self.bytes;
        let bytes = items.iter().map(|item| u64::from(item.size.bytes));
        self.bytes += bytes.sum::<u64>();
        let node = match role {
            _ if is_summary => {
                let failed = |piece: &Piece<'_>| {
                    let reason = piece.data.as_ref().and_then(|data| data.reason.get());
                    matches!(reason, Some("error" | "canceled"))
                };
                if row.parts.iter().any(failed) {
                    return out.skip("failed summary");
                }
                self.bytes -= before;
                out.reset(Reset::compaction(Cause::Unlogged, RetainedItems::Nothing));
                Node::new(key, Part::Injected, items)
            }
            "user" => Node::new(key, Part::Input, items),
            "tool" => Node::new(key, Part::Result, items),
            "assistant" => {
                let model = Meta::of_model_at(row.model.boxed(), row.provider.boxed());
                out.meta(model.changes(&mut self.meta));
                let request = Key::of_parts(&["crush", row.id.or_empty()]);
                let response = Response {
                    pending: PendingResponse::new(request, out),
                    is_old: out.time().is_some_and(|time| time < CHANGED),
                    is_claude: row.model.or_empty().contains("claude"),
                    written: items.iter().map(written).sum(),
                    before,
                };
                self.responses.extend(key.map(|key| (key, response)));
                Node::output(key, Some(request), items)
            }
            other => return out.unknown(format!("{other} message")),
        };
        out.node(node);
    }

    /// Returns the items of a message; `text` is what its texts are.
    fn items(
        &mut self,
        parts: &[Piece<'_>],
        text: (Role, Kind),
        out: &mut EventSink<'_>,
    ) -> Vec<NewItem> {
        let mut items = Vec::new();
        for piece in parts {
            let Some(data) = &piece.data else { continue };
            let (role, kind) = text;
            items.push(match piece.kind.or_empty() {
                "text" if !data.text.or_empty().is_empty() => {
                    out.text(role, kind, data.text.or_empty())
                }
                "reasoning" => {
                    let item = out.item(Role::Assistant, Kind::Thinking);
                    let item = item.text(data.thinking.or_empty());
                    item.opaque(full_length(data.signature.or_empty())).done()
                }
                "tool_call" => {
                    let (id, name) = (data.id.get(), data.name.get());
                    self.tools
                        .written_call(id, name, data.input.or_empty(), out)
                }
                "tool_result" => {
                    let tool = self.tools.get(data.call.get());
                    let item = out.tool_result(tool, data.call.get());
                    item.text(data.content.or_empty()).done()
                }
                "binary" => {
                    let tokens = image::tokens(data.image.or_empty(), image::claude, IMAGE);
                    out.item(role, kind).fixed(tokens, "[image]").done()
                }
                "text" | "finish" => continue,
                other => {
                    out.unknown(format!("{other} part"));
                    continue;
                }
            });
        }
        items
    }
}

/// Returns the bytes of an item that the model wrote.
fn written(item: &NewItem) -> u64 {
    u64::from(item.size.bytes) + u64::from(item.size.opaque)
}

/// Tokens of an image whose size cannot be read.
const IMAGE: u64 = 1_500;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use model::Source;
    use model::event::Event;

    #[test]
    fn each_response_is_reported_to_who_follows() {
        let header = |answer: &str, answers: u64, prompt: u64| {
            format!(
                r#"{{"id":"s","prompt":{prompt},"output":7,"answer":"{answer}","answers":{answers}}}"#
            )
        };
        let answer = |id: &str, model: &str| {
            let parts = r#"[{"type":"text","data":{"text":"Seven tokens at most."}}]"#;
            format!(
                r#"{{"id":"{id}","role":"assistant","model":"{model}","at":1,"parts":{parts}}}"#
            )
        };
        let moments = [
            (0, header("", 0, 0)),
            (1, answer("a", "glm-5")),
            (0, header("a", 1, 100)),
            // The title's cost was added.
            (0, header("a", 1, 160)),
            // Its session's row is written before the end of its own.
            (2, answer("b", "glm-5")),
            (0, header("a", 2, 130)),
            (0, header("b", 2, 130)),
            // After a summary.
            (0, header("b", 2, 0)),
            (3, answer("c", "claude-sonnet-5")),
            (0, header("c", 2, 90)),
        ];
        let (entries, _) = testing::read_rows(&CRUSH, moments);
        let usages = entries.iter().filter_map(|entry| match &entry.event {
            Event::Usage(usage) => Some((entry.place.line(), usage.prompt, usage.source)),
            _ => None,
        });
        let usages: Vec<_> = usages.collect();
        let expected = [
            (1, 100, Source::Agent),
            (2, 130, Source::Reported),
            (3, 90, Source::Agent),
        ];
        assert_eq!(usages, expected);
    }

    #[test]
    fn a_prompt_that_is_smaller_than_its_texts_is_no_context() {
        let text = "the ledger of the granary ".repeat(100);
        let read = |model: &str| {
            let header =
                r#"{"id":"s","prompt":250,"output":60,"answer":"b","answers":2}"#.to_owned();
            let user = format!(
                r#"{{"id":"a","role":"user","at":1,"parts":[{{"type":"text","data":{{"text":"{text}"}}}}]}}"#
            );
            let answer = format!(
                r#"{{"id":"b","role":"assistant","model":"{model}","at":1790000000,"parts":[{{"type":"text","data":{{"text":"Twelve."}}}}]}}"#
            );
            let moments = [(0, header), (1, user), (2, answer)];
            let (entries, _) = testing::read_rows(&CRUSH, moments);
            let numbers = entries.iter().filter_map(|entry| match &entry.event {
                Event::Usage(usage) => Some((usage.prompt, true)),
                Event::Billed { billed, .. } => Some((billed.input, false)),
                _ => None,
            });
            numbers.collect::<Vec<_>>()
        };
        // It lacks the part that was written to the cache.
        assert_eq!(read("claude-sonnet-5"), [(250, false)]);
        assert_eq!(read("glm-5"), [(250, true)]);
    }

    #[test]
    fn what_was_read_from_a_cache_is_no_output() {
        let read = |at: u64, prompt: u64, output: u64| {
            let header = format!(
                r#"{{"id":"s","prompt":{prompt},"output":{output},"answer":"b","answers":2}}"#
            );
            let row = format!(
                r#"{{"id":"b","role":"assistant","model":"glm-5","at":{at},"parts":[{{"type":"text","data":{{"text":"Done, all six."}}}}]}}"#
            );
            let (entries, _) = testing::read_rows(&CRUSH, [(0, header), (1, row)]);
            let numbers = entries.iter().filter_map(|entry| match &entry.event {
                Event::Usage(usage) => Some((usage.prompt, usage.output, usage.source.is_known())),
                Event::Billed { billed, of, .. } => {
                    Some((billed.input, Some(billed.output), of.is_sum()))
                }
                _ => None,
            });
            numbers.collect::<Vec<_>>()
        };
        let (old, new) = (1_768_336_868, 1_786_000_000);
        let sum = [(41_327, None, false), (41_330, Some(0), true)];
        assert_eq!(read(old, 1_200, 40_130), sum);
        assert_eq!(
            read(new, 1_200, 40_130),
            sum,
            "a client that was not updated"
        );
        // Its end, and what it thought.
        assert_eq!(read(old, 1_200, 39), [(1_200, Some(39), true)]);
        let thought = [(41_330, Some(2_000), true)];
        assert_eq!(read(new, 41_330, 2_000), thought);
    }
}
