//! Hermes Agent.
//!
//! All sessions are in `state.db`. After its sources (`hermes_state*.py`, `agent/context_compressor.py`), checked on
//! runs of 0.19:
//!
//! * A row of `messages` is a message as Chat Completions has it. Rows are only added.
//! * `sessions` has the sums of a session's requests and how many there were, rewritten after each; those of
//!   compactions are not in them. So a request is known if the sums were read before and after it, or if it
//!   is the only one; of the others the sum is. `input_tokens` is without the cache.
//! * A compaction adds all messages that stay once more, and the summary, which begins with a mark. Their times
//!   are the same to a millisecond, or the old ones. Older rows are then `compacted`. A rewind leaves rows that are neither
//!   `compacted` nor `active`.
//! * The system prompt is in `sessions`, the tools are nowhere.
//! * `hermes sessions export` writes a session a line: its row of `sessions` with its rows of `messages`.
//! * It compacts at 0.75 of windows below 512,000 tokens, at half of larger ones (`compression.threshold`), and never
//!   below 64,000; with Codex's provider at 0.85 of some models' windows (`agent/auxiliary_client.py`).

use decode::anthropic::ToolNames;
use decode::lenient::{Count, Raw, ReportedCount, Text, record};
use decode::rows::{self, Line};
use decode::sums::ReportedSums;
use formats::database::{DatabaseSpec, Schema, object};
use formats::settings::{Settings, SettingsFile, tokens_of};
use formats::{
    Claim, Decoder, Format, Recognition, Root, StoreKind, Totals, WITH_CACHE_AND_REASONING, decoder,
};
use jiff::Timestamp;
use model::event::{
    BilledUsage, Cause, EventSink, Key, Meta, NewItem, Node, Part, Reset, RetainedItems, Usage,
};
use model::window::{Compaction, ModelWindow, Overrides};
use model::{Kind, Role};

/// The format.
pub static HERMES: Format = Format {
    id: "hermes",
    roots: &[
        Root::home(".hermes", "").env("HERMES_HOME").flat(),
        Root::home(".hermes", "profiles").env("HERMES_HOME"),
    ],
    claims: &|path| (path.file_name()? == "state.db").then(|| Claim::database(&STORE)),
    recognition: Recognition::new(&export::recognise).kept_in(&|head| {
        // A single line is a line, too.
        StoreKind::database(&STORE, head)
            .or_else(|| export::recognise(head).then_some(StoreKind::Lines))
    }),
    decoder: &decoder::<HermesDecoder>,
    totals: Totals::new(WITH_CACHE_AND_REASONING).cached_beside(),
    settings: Some(&Settings::new(
        &[SettingsFile::Agent("config.yaml")],
        overrides,
    )),
    ..Format::DEFAULT
};

mod export;

/// Reads the settings in `config.yaml`, as lines such as Hermes itself writes.
fn overrides(files: &[&[u8]]) -> Overrides {
    let text = files.first().map(|file| String::from_utf8_lossy(file));
    let mut overrides = Overrides::default();
    let (mut section, mut raises) = ("", true);
    for line in text.as_deref().unwrap_or_default().lines() {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let value = value.split('#').next().unwrap_or_default().trim();
        match (section, name.trim()) {
            _ if !line.starts_with(' ') => section = name,
            ("model", "provider") => {
                overrides.provider = value.trim_matches(['"', '\'']).to_owned()
            }
            ("model", "context_length") => overrides.window = tokens_of(value),
            ("model", "max_tokens") => overrides.output = tokens_of(value),
            ("compression", "threshold") => {
                let share = value.parse().ok();
                overrides.share = share.filter(|share| *share > 0.0 && *share <= 1.0);
            }
            ("compression", "codex_gpt55_autoraise") => raises = value != "false",
            ("compression", "enabled") if value == "false" => {
                overrides.compaction = Compaction::Off;
            }
            _ => {}
        }
    }
    if overrides.provider == "openai-codex" {
        overrides.models = codex_models(overrides.share, raises);
    }
    overrides
}

/// Returns the rows of the models that it takes from Codex's provider: their windows, and the shares that it raises a
/// threshold to. `raises`: those of large models, too.
fn codex_models(threshold: Option<f64>, raises: bool) -> Vec<ModelWindow> {
    let row = |id: &str, window, share: Option<f64>| ModelWindow {
        id: id.to_owned(),
        window: Some(window),
        share: share.map(|share| share.max(threshold.unwrap_or(0.0))),
        from: "config.yaml",
        ..ModelWindow::default()
    };
    let large = |id| row(id, 272_000, raises.then_some(0.85));
    let mut rows = vec![row("gpt-5.3-codex-spark", 128_000, Some(0.7))];
    rows.extend(["gpt-5.4*", "gpt-5.5*", "gpt-5.6*"].map(large));
    rows
}

static STORE: DatabaseSpec = DatabaseSpec {
    schemas: &[Schema {
        sessions: "SELECT id, parent_session_id, (SELECT max(timestamp) FROM messages WHERE session_id = s.id) * 1000,
            s.api_call_count, input_tokens, output_tokens, title, message_count,
            (SELECT id FROM messages WHERE session_id = s.id ORDER BY timestamp DESC LIMIT 1)
            FROM sessions AS s WHERE EXISTS (SELECT 1 FROM messages WHERE session_id = s.id)",
        header: object!(
            from "sessions AS r WHERE id = ?1";
            text id, text title, text cwd, text model, text parent = "r.parent_session_id",
            text provider = "r.billing_provider", text system_prompt, integer api_call_count,
            count input_tokens, count output_tokens, count cache_read_tokens, count cache_write_tokens,
            count reasoning_tokens,
        ),
        // There is no index of a session's rows in their order.
        from: "messages WHERE id IN (SELECT id FROM messages WHERE session_id = ?1)",
        order: "id",
        line: object!(
            json id, text role, real timestamp, integer active, integer compacted,
            text content = "coalesce(r.api_content, r.content)",
            text reasoning = "coalesce(r.reasoning_content, r.reasoning)", text tool_call_id, text tool_name, json tool_calls,
        ),
        settled: "1",
        changed: "r.id * 2 + coalesce(r.active = 0 AND coalesce(r.compacted, 0) = 0, 0)",
        // Schema 6, of May 2026, has none of them, 17 has no `api_content`.
        optional: &[
            "r.cwd", "s.api_call_count", "r.api_call_count", "r.active", "r.compacted", "r.api_content",
            "r.reasoning_content", "r.billing_provider",
        ],
    }]};

record! {
    struct Session<'a> {
        id: Text<'a>,
        title: Text<'a>,
        cwd: Text<'a>,
        model: Text<'a>,
        provider: Text<'a> = "billing_provider",
        parent: Text<'a> = "parent_session_id",
        started_at: Option<f64>,
        prompt: Text<'a> = "system_prompt",
        calls: ReportedCount = "api_call_count",
        input: ReportedCount = "input_tokens",
        output: ReportedCount = "output_tokens",
        read: ReportedCount = "cache_read_tokens",
        written: ReportedCount = "cache_write_tokens",
        reasoning: ReportedCount = "reasoning_tokens",
        /// In an export.
        rows: Vec<Row<'a>> = "messages",
    }

    struct Row<'a> {
        id: Count,
        role: Text<'a>,
        at: Option<f64> = "timestamp",
        active: Count,
        compacted: Count,
        content: Text<'a>,
        sent: Text<'a> = "api_content",
        reasoning: Text<'a>,
        reasoning_content: Text<'a>,
        call: Text<'a> = "tool_call_id",
        tool: Text<'a> = "tool_name",
        calls: Vec<Call<'a>> = "tool_calls",
    }

    struct Call<'a> {
        id: Text<'a>,
        function: Option<Function<'a>>,
    }

    struct Function<'a> {
        name: Text<'a>,
        arguments: Option<Raw<'a>>,
    }
}

/// The beginnings of a compaction's summary.
const SUMMARY: [&str; 2] = ["[CONTEXT COMPACTION", "[PRIOR CONTEXT"];
/// Rows that are written together follow each other within this many seconds.
const TOGETHER: f64 = 0.005;

/// Decodes one session.
#[derive(Default)]
struct HermesDecoder {
    meta: Meta,
    /// The system prompt's length.
    prompt: usize,
    /// The number of requests, and their sums.
    sums: Option<(u64, BilledUsage)>,
    /// The newest request: the sums are written before its response.
    pending: Option<BilledUsage>,
    reported: ReportedSums,
    tools: ToolNames,
    /// The time of the row before, and the latest of any, in seconds since 1970.
    last: f64,
    latest: f64,
    /// The first of the rows that were written together with it.
    first: Option<Key>,
    /// True if a row is new since the last compaction.
    is_fresh: bool,
    /// True if the session is not the first one of an export.
    is_side: bool,
}

impl Decoder for HermesDecoder {
    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        if export::is_session(line, out) {
            return self.exported(line, out);
        }
        match rows::read(line, &mut self.meta, out) {
            Some(Line::Session(session)) => self.header(&session, out),
            Some(Line::Row(row)) => self.row(&row, out),
            None => {}
        }
    }

    /// Reports the part of the sums that is not of the known requests.
    fn read_end(&mut self, out: &mut EventSink<'_>) {
        let Some((calls, sum)) = self.sums else {
            return;
        };
        let sum = sum.saturating_sub(self.pending.unwrap_or_default());
        if let Some(rest) = self.reported.rest(sum) {
            let id = self.meta.id.as_deref().unwrap_or_default();
            let request = Key::of_parts(&["hermes sums", id, &calls.to_string()]);
            out.billed_rest(request, rest);
        }
    }
}

impl HermesDecoder {
    fn header(&mut self, session: &Session<'_>, out: &mut EventSink<'_>) {
        let prompt = session.prompt.or_empty();
        if self.prompt != prompt.len() {
            self.prompt = prompt.len();
            let item = out.text(Role::Container, Kind::Prompt, prompt);
            let key = Key::of("hermes system prompt");
            out.node(Node::new(Some(key), Part::Front, vec![item]));
        }
        let parts = [
            session.calls,
            session.input,
            session.written,
            session.read,
            session.output,
            session.reasoning,
        ];
        if parts.contains(&ReportedCount::Unreadable) {
            self.pending = None;
            return;
        }
        let [calls, input, cache_creation, cache_read, output, reasoning] =
            ReportedCount::whole(parts).map(Count::or_zero);
        let sum = BilledUsage::new(input, output)
            .with_cache(cache_read, cache_creation)
            .with_reasoning(reasoning);
        let (before, old) = self.sums.replace((calls, sum)).unwrap_or_default();
        if calls != before {
            // Of several requests none is known.
            let one = sum
                .checked_sub(old)
                .filter(|one| calls == before + 1 && one.prompt() > 0);
            self.pending = one;
        }
    }

    fn row(&mut self, row: &Row<'_>, out: &mut EventSink<'_>) {
        let at = row.at.unwrap_or(0.0);
        out.set_time(time(at));
        let key = Key::of_number("hermes", row.id.or_zero());
        if row.active.0 == Some(0) && row.compacted.or_zero() == 0 {
            return out.skip_node("rewound", Node::new(Some(key), Part::Link, Vec::new()));
        }
        let text = row.sent.get().unwrap_or(row.content.or_empty());
        let is_summary = SUMMARY.iter().any(|mark| text.starts_with(mark));
        // Rows that are written again have their old times, or all the same. A second summary among them has any.
        if !is_summary || self.is_fresh {
            let is_new = at > self.latest + TOGETHER;
            if is_new || at < self.last - TOGETHER {
                self.first = Some(key);
            }
            self.is_fresh |= is_new;
            (self.last, self.latest) = (at, self.latest.max(at));
        }
        if is_summary && std::mem::take(&mut self.is_fresh) {
            let kept = RetainedItems::from(self.first);
            out.reset(Reset::compaction(Cause::Unlogged, kept));
        }
        let (part, item) = match row.role.or_empty() {
            _ if is_summary => {
                let item = out.text(Role::Container, Kind::Summary, text);
                (Part::Injected, item)
            }
            "user" => (Part::Input, out.text(Role::User, Kind::Text, text)),
            "tool" => {
                let tool = row.tool.get().or(self.tools.get(row.call.get()));
                let item = out.tool_result(tool, row.call.get()).text(text);
                (Part::Result, item.done())
            }
            "assistant" => {
                let items = self.output(row, text, out);
                let id = self.meta.id.as_deref().unwrap_or_default();
                let request = Key::of_parts(&["hermes", id, &row.id.or_zero().to_string()]);
                let billed = self.pending.take();
                self.reported.add(billed.unwrap_or_default());
                out.node(Node::output(Some(key), Some(request), items));
                return out.usage(billed.map(|billed| Usage {
                    output: Some(billed.output),
                    reasoning: Some(billed.reasoning),
                    ..Usage::billed(request, billed.prompt(), billed)
                }));
            }
            other => return out.unknown(format!("{other} message")),
        };
        out.node(Node::new(Some(key), part, vec![item]));
    }

    /// Returns the items of a response.
    fn output(&mut self, row: &Row<'_>, text: &str, out: &mut EventSink<'_>) -> Vec<NewItem> {
        let mut items = Vec::new();
        let thought = row.reasoning_content.get().or(row.reasoning.get());
        let texts = [
            (Kind::Thinking, thought.unwrap_or_default()),
            (Kind::Text, text),
        ];
        for (kind, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
            items.push(out.text(Role::Assistant, kind, text));
        }
        for call in &row.calls {
            let function = call.function.clone().unwrap_or_default();
            let (name, arguments) = (function.name.get(), function.arguments);
            items.push(self.tools.call(call.id.get(), name, arguments, out));
        }
        items
    }
}

/// Returns a time from the seconds since 1970.
fn time(seconds: f64) -> Option<Timestamp> {
    Timestamp::from_microsecond((seconds * 1e6) as i64).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use model::event::Event;

    #[test]
    fn settings_are_read_from_the_config_file() {
        let read = |text: &str| overrides(&[text.as_bytes()]);
        let file = "model:\n  default: glm-5\n  provider: \"zai\"\n  context_length: 64000 # of one's own\ncompression:\n  threshold: 0.8\n";
        assert_eq!(read(file).window, Some(64_000));
        assert_eq!(read(file).share, Some(0.8));
        let low = read("compression:\n  threshold: 0.3\nother:\n  threshold: 0.9");
        assert_eq!(low.share, Some(0.3));
        assert!(read("compression:\n  threshold: 30").is_empty());
        assert_eq!(read("model:\n  max_tokens: 8000").output, Some(8_000));
        let off = read("compression:\n  enabled: false");
        assert_eq!(off.compaction, Compaction::Off);
    }

    #[test]
    fn a_provider_has_windows_and_shares_of_its_own() {
        let rows = |text: &str| {
            let file = format!("model:\n  provider: openai-codex\ncompression:\n{text}");
            let rows = overrides(&[file.as_bytes()]).models;
            let row = |id: &str| {
                let row = rows.iter().find(|row| row.id == id).expect("a row");
                (row.window, row.share)
            };
            (row("gpt-5.5*"), row("gpt-5.3-codex-spark"))
        };
        let large = |share| (Some(272_000), share);
        let spark = |share| (Some(128_000), Some(share));
        assert_eq!(rows(""), (large(Some(0.85)), spark(0.7)));
        // It never lowers a threshold.
        assert_eq!(rows("  threshold: 0.9"), (large(Some(0.9)), spark(0.9)));
        let off = rows("  codex_gpt55_autoraise: false");
        assert_eq!(off, (large(None), spark(0.7)));
        let another = overrides(&[b"model:\n  provider: openai\n"]);
        assert!(another.models.is_empty());
    }

    #[test]
    fn a_request_is_the_difference_of_the_sums_before_and_after_it() {
        let sums = |calls: u64, input: u64, read: u64| {
            format!(
                r#"{{"id":"s","api_call_count":{calls},"input_tokens":{input},"output_tokens":{calls},"cache_read_tokens":{read}}}"#
            )
        };
        let answer =
            |id: u64| format!(r#"{{"id":{id},"role":"assistant","timestamp":{id},"content":"."}}"#);
        let moments = [
            (0, sums(2, 300, 0)),
            (1, answer(1)),
            (2, answer(2)),
            (0, sums(3, 350, 200)),
            (3, answer(3)),
            // Two at once.
            (0, sums(5, 400, 700)),
            (4, answer(4)),
            (5, answer(5)),
            (0, sums(6, 410, 1000)),
            (6, answer(6)),
        ];
        let (entries, rest) = testing::read_rows(&HERMES, moments);
        let [Event::Billed { billed, of, .. }] = &rest[..] else {
            panic!("{rest:?}");
        };
        // The sums without the two requests that are known.
        assert_eq!(
            (billed.prompt(), billed.output, of.is_sum()),
            (850, 4, true)
        );
        let usages = entries.iter().filter_map(|entry| match &entry.event {
            Event::Usage(usage) => Some((entry.place.line(), usage.prompt, usage.cached)),
            _ => None,
        });
        assert_eq!(usages.collect::<Vec<_>>(), [(3, 250, 200), (6, 310, 300)]);
    }
}
