//! Goose.
//!
//! All sessions are in one database. After its sources (`session/session_manager.rs`, `context_mgmt/mod.rs`,
//! `token_usage.rs`; schemas 1 to 16), checked on a database of schema 15 with nine requests:
//!
//! * A row of `messages` is a message: `content_json` is a list of its pieces, `metadata_json` has who sees it and, for
//!   the first row of a response, the provider's usage. A response with several calls is several rows of
//!   the same second.
//! * Since schema 15 each request is a row of `usage_ledger`, too, written before the rows of its response.
//!   Those of compactions, and of responses without a message, are costs alone. In older schemas the
//!   session's own row has the usage of the newest request and the sums of all (`accumulated_…`).
//! * `input_tokens` contains what was read from a cache and written to it.
//! * A compaction hides all rows from the model (`agentVisible`), in place or by writing all of them again, and adds
//!   two rows that are hidden from the user: a summary, as the user's, and an instruction to go on, as the
//!   model's. Then follows a copy of the user's last message, unless he asked for the compaction.
//! * The system prompt, the tools and a reminder at the end of each prompt are not logged.

mod store;

use decode::anthropic::{ToolNames, part_of};
use decode::image;
use decode::lenient::{self, Count, LostFields, Pieces, Raw, Text, Window, full_length, record};
use decode::rows::{self, Line};
use decode::sums::{PendingResponse, ReportedSums};
use formats::settings::{Layers, Settings};
use formats::{
    Base, Claim, Decoder, Format, Recognition, Root, StoreKind, Totals, WITH_CACHE, decoder,
};
use model::event::{
    BilledUsage, Cause, Event, EventSink, ItemBuilder, Key, Meta, NewItem, Node, Part, Reset,
    RetainedItems, Usage,
};
use model::window::{Compaction, Overrides};
use model::{Kind, Role};
use store::STORE;

/// The format.
pub static GOOSE: Format = Format {
    id: "goose",
    roots: &[
        Root::new(Base::XdgData("goose"), "sessions").flat(),
        Root::new(Base::XdgData("Block/goose"), "sessions").flat(),
        Root::named("GOOSE_PATH_ROOT", "data/sessions").flat(),
        Root::home("AppData/Roaming/Block/goose", "data/sessions").flat(),
    ],
    claims: &|path| (path.file_name()? == "sessions.db").then(|| Claim::database(&STORE)),
    recognition: Recognition::DEFAULT.kept_in(&|head| StoreKind::database(&STORE, head)),
    decoder: &decoder::<GooseDecoder>,
    totals: Totals::new(WITH_CACHE),
    settings: Some(
        &Settings::new(&[], overrides)
            .env(&["GOOSE_AUTO_COMPACT_THRESHOLD", "GOOSE_CONTEXT_LIMIT"]),
    ),
    ..Format::DEFAULT
};

fn overrides(files: &[&[u8]]) -> Overrides {
    let layers = Layers::json(files);
    let share: Option<f64> = layers.find("/env/GOOSE_AUTO_COMPACT_THRESHOLD", |value| {
        value.as_str()?.parse().ok()
    });
    Overrides {
        share: share.filter(|share| *share > 0.0 && *share < 1.0),
        compaction: match share {
            Some(share) if share <= 0.0 || share >= 1.0 => Compaction::Off,
            _ => Compaction::Usual,
        },
        window: layers.tokens("/env/GOOSE_CONTEXT_LIMIT"),
        ..Overrides::default()
    }
}

/// Tokens of an image whose size cannot be read.
const IMAGE: u64 = 1_500;

record! {
    struct Header<'a> {
        id: Text<'a>,
        config: Text<'a>,
        ledger: Vec<Numbers>,
        /// Before schema 15: those of all requests.
        sums: Option<Numbers>,
    }

    struct Config<'a> {
        model_name: Text<'a>,
        context_limit: Window,
    }

    /// A request of the ledger, or what a message has of it.
    #[derive(Copy)]
    whole struct Numbers {
        id: Count,
        at: Count,
        input: Count = "input" | "inputTokens",
        output: Count = "output" | "outputTokens",
        cache_read: Count,
        cache_write: Count,
        compaction: Count,
    }

    struct Row<'a> {
        id: Count,
        role: Text<'a>,
        at: Count,
        metadata: Metadata,
        content: Vec<Block<'a>>,
    }

    struct Metadata {
        user_visible: Option<bool> = "userVisible",
        agent_visible: Option<bool> = "agentVisible",
        usage: Option<Numbers>,
    }

    struct Block<'a> {
        kind: Text<'a> = "type",
        id: Text<'a>,
        text: Text<'a>,
        thinking: Text<'a>,
        signature: Text<'a>,
        data: Text<'a>,
        call: Option<Call<'a>> = "toolCall",
        result: Option<Outcome<'a>> = "toolResult",
        content: Pieces<Block<'a>>,
    }

    struct Call<'a> {
        value: Option<Function<'a>>,
    }

    struct Function<'a> {
        name: Text<'a>,
        arguments: Option<Raw<'a>>,
    }

    struct Outcome<'a> {
        value: Pieces<Block<'a>>,
        error: Text<'a>,
    }
}

/// The newest response.
struct Response {
    pending: PendingResponse,
    at: u64,
    own: Option<Numbers>,
    is_reported: bool,
}

/// Decodes one session.
#[derive(Default)]
struct GooseDecoder {
    id: Box<str>,
    /// The newest facts.
    meta: Meta,
    ledger: Vec<Numbers>,
    /// The request of the ledger that was reported last, and those that were billed.
    reported: u64,
    billed: u64,
    /// The cost of all requests where the ledger lacks some.
    sums: BilledUsage,
    emitted: ReportedSums,
    tools: ToolNames,
    newest: Option<Response>,
    /// True if a response was given the numbers of the one after it.
    is_wrong: bool,
    /// The row before.
    last: Option<Key>,
    /// The rows since the last compaction that the model does not see.
    hidden: Vec<Key>,
}

impl Decoder for GooseDecoder {
    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        match rows::read(line, &mut self.meta, out) {
            Some(Line::Session(header)) => self.header(header, out),
            Some(Line::Row(row)) => self.row(&row, out),
            None => {}
        }
    }

    fn read_end(&mut self, out: &mut EventSink<'_>) {
        self.report(true, out);
        if let Some(rest) = self.emitted.rest(self.sums) {
            let request = Key::of_parts(&["goose sums", &self.id, &self.billed.to_string()]);
            out.billed_rest(request, rest);
        }
        let hidden = std::mem::take(&mut self.hidden);
        let hidden = hidden.into_iter();
        hidden.for_each(|node| out.emit(Event::cleared_node(node)));
    }

    fn is_wrong(&self) -> bool {
        self.is_wrong
    }
}

impl GooseDecoder {
    fn header(&mut self, header: Header<'_>, out: &mut EventSink<'_>) {
        let config = header.config.get();
        let config = config.and_then(|json| lenient::parse(json, &LostFields::default()).ok());
        let config: Config<'_> = config.unwrap_or_default();
        let config = Meta {
            model: config.model_name.boxed(),
            ..Meta::of_window(config.context_limit.0)
        };
        out.meta(config.changes(&mut self.meta));
        self.id = header.id.or_empty().into();
        self.ledger = header.ledger;
        let time = out.time();
        for numbers in after(&self.ledger, self.billed) {
            self.billed = numbers.id.or_zero();
            let billed = numbers.billed();
            self.emitted.add(billed);
            let at = numbers.at.0.and_then(|_| numbers.at.time());
            out.set_time(at.or(time));
            out.billed(numbers.request(&self.id), billed);
        }
        out.set_time(time);
        self.sums = header.sums.map(Numbers::billed).unwrap_or_default();
    }

    fn row(&mut self, row: &Row<'_>, out: &mut EventSink<'_>) {
        let at = row.at.seconds();
        out.set_time(row.at.time());
        let key = Key::of_number("goose", row.id.or_zero());
        let is_of_harness = row.metadata.user_visible == Some(false);
        let (role, kind) = if is_of_harness {
            (Role::Container, Kind::Summary)
        } else {
            (Role::User, Kind::Text)
        };
        match row.role.or_empty() {
            "assistant" if is_of_harness => self.compaction(key, row, out),
            "assistant" => self.response(key, at, row, out),
            "user" => {
                let items = self.items(row, role, kind, out);
                out.node(Node::new(Some(key), part_of(&items), items));
            }
            other => out.unknown(format!("{other} message")),
        }
        if row.metadata.agent_visible == Some(false) {
            self.hidden.push(key);
        }
        self.last = Some(key);
    }

    /// Takes in an instruction to go on. The summary is the row before it.
    fn compaction(&mut self, key: Key, row: &Row<'_>, out: &mut EventSink<'_>) {
        let is_manual = |block: &Block<'_>| block.text.or_empty().contains("user's request");
        let cause = if row.content.iter().any(is_manual) {
            Cause::Manual
        } else {
            Cause::Automatic
        };
        self.hidden.clear();
        out.reset(Reset::compaction(cause, RetainedItems::from(self.last)));
        let items = self.items(row, Role::Container, Kind::Reminder, out);
        out.node(Node::new(Some(key), Part::Injected, items));
    }

    fn response(&mut self, key: Key, at: u64, row: &Row<'_>, out: &mut EventSink<'_>) {
        let mut items = self.items(row, Role::Assistant, Kind::Text, out);
        if items.is_empty() {
            // A notice.
            return out.node(Node::new(Some(key), Part::Link, items));
        }
        let own = row.metadata.usage;
        let same = self.newest.as_ref();
        let same = same.filter(|newest| own.is_none() && newest.at == at);
        let own_key = || Key::of_parts(&["goose", &self.id, &row.id.or_zero().to_string()]);
        let request = match same {
            Some(newest) => newest.pending.request,
            // With the key of the ledger a response and its cost are one.
            None => logged(&self.ledger, self.reported, at, own, false)
                .filter(|numbers| numbers.at.0.is_some())
                .map_or_else(own_key, |numbers| numbers.request(&self.id)),
        };
        // Each row of a response repeats its thinking.
        items.retain(|item| same.is_none() || item.kind != Kind::Thinking);
        if same.is_none() {
            self.newest = Some(Response {
                pending: PendingResponse::new(request, out),
                at,
                own,
                is_reported: false,
            });
        }
        out.node(Node::output(Some(key), Some(request), items));
        self.report(false, out);
    }

    /// Reports the newest response, once its request is in the ledger.
    fn report(&mut self, is_end: bool, out: &mut EventSink<'_>) {
        let Some(newest) = self.newest.as_mut().filter(|newest| !newest.is_reported) else {
            return;
        };
        let logged = logged(&self.ledger, self.reported, newest.at, newest.own, is_end);
        // The session's row is written before the response's: read between the two, its numbers went to the response
        // before.
        let is_taken = |numbers: &Numbers| numbers.id.or_zero() == self.reported;
        self.is_wrong |= is_end
            && logged.is_none()
            && self.reported > 0
            && (self.ledger.last()).is_some_and(|last| last.at.0.is_none() && is_taken(last));
        self.reported = logged.map_or(self.reported, |numbers| numbers.id.or_zero());
        let Some(numbers) = logged.copied().or(newest.own) else {
            return;
        };
        newest.is_reported = true;
        let prompt = numbers.input.or_zero();
        if prompt > 0 {
            newest.pending.begin(out);
            // Its cost is in the ledger.
            out.usage(Usage {
                cached: numbers.cache_read.or_zero(),
                output: numbers.output.0,
                ..Usage::reported(newest.pending.request, prompt)
            });
        }
    }

    /// Returns the items of a message; `role` and `kind` are those of its text.
    fn items(
        &mut self,
        row: &Row<'_>,
        role: Role,
        kind: Kind,
        out: &mut EventSink<'_>,
    ) -> Vec<NewItem> {
        let mut items = Vec::new();
        // Thinking is written in the pieces in which it came.
        let thinking = |block: &&Block<'_>| block.kind.get() == Some("thinking");
        let parts = row.content.iter().filter(thinking);
        let text: String = parts
            .clone()
            .map(|block| block.thinking.or_empty())
            .collect();
        let hidden: usize = parts.map(|block| block.signature.or_empty().len()).sum();
        if !text.is_empty() || hidden > 0 {
            let item = out.item(Role::Assistant, Kind::Thinking);
            items.push(item.text(&text).opaque(hidden as u64).done());
        }
        for block in &row.content {
            let id = block.id.get();
            items.push(match (block.kind.or_empty(), &block.call, &block.result) {
                ("thinking" | "systemNotification", ..) => continue,
                ("redactedThinking", ..) => {
                    let item = out.item(Role::Assistant, Kind::Thinking);
                    item.opaque(full_length(block.data.or_empty())).done()
                }
                (_, Some(call), _) => {
                    let function = call.value.clone().unwrap_or_default();
                    self.tools
                        .call(id, function.name.get(), function.arguments, out)
                }
                (_, _, Some(result)) => {
                    let item = out.tool_result(self.tools.get(id), id);
                    add(item, &result.value)
                        .text(result.error.or_empty())
                        .done()
                }
                _ => add_block(out.item(role, kind), block).done(),
            });
        }
        items
    }
}

impl Numbers {
    /// Returns the key of a request of the ledger.
    fn request(&self, session: &str) -> Key {
        Key::of_parts(&["goose ledger", session, &self.id.or_zero().to_string()])
    }

    fn billed(self) -> BilledUsage {
        BilledUsage::new(self.input.or_zero(), self.output.or_zero())
            .with_cache(self.cache_read.or_zero(), self.cache_write.or_zero())
    }
}

/// Returns the request of a ledger, after the one with the id `reported`, that has a response's numbers. `at` is the
/// response's time in seconds, `own` what its first row has of them.
fn logged(
    ledger: &[Numbers],
    reported: u64,
    at: u64,
    own: Option<Numbers>,
    is_end: bool,
) -> Option<&Numbers> {
    after(ledger, reported).find(|numbers| {
        let is_equal = |own: Numbers| (own.input, own.output) == (numbers.input, numbers.output);
        // Before schema 15 there is no time, and only the newest request.
        let has_time = numbers.at.0.is_some();
        let is_later = if has_time {
            numbers.at.seconds() >= at
        } else {
            is_end
        };
        numbers.compaction.or_zero() == 0 && is_later && own.is_none_or(is_equal)
    })
}

/// Returns the requests of a ledger after the one with this id.
fn after(ledger: &[Numbers], id: u64) -> impl Iterator<Item = &Numbers> {
    let from = ledger.partition_point(|numbers| numbers.id.or_zero() <= id);
    ledger.get(from..).unwrap_or_default().iter()
}

fn add<'s, 'm>(item: ItemBuilder<'s, 'm>, content: &Pieces<Block<'_>>) -> ItemBuilder<'s, 'm> {
    content.0.iter().fold(item, add_block)
}

fn add_block<'s, 'm>(item: ItemBuilder<'s, 'm>, block: &Block<'_>) -> ItemBuilder<'s, 'm> {
    let item = match (block.text.get(), block.data.get()) {
        (Some(text), _) => item.text(text),
        (None, Some(data)) => item.fixed(image::tokens(data, image::claude, IMAGE), "[image]"),
        (None, None) => item,
    };
    add(item, &block.content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_threshold_is_a_share_or_off() {
        let read = |share: &str| {
            let env = format!("{{\"env\":{{\"GOOSE_AUTO_COMPACT_THRESHOLD\":\"{share}\"}}}}");
            overrides(&[env.as_bytes()])
        };
        assert_eq!(read("0.6").share, Some(0.6));
        assert_eq!(read("0").compaction, Compaction::Off);
        assert_eq!(read("1.0").compaction, Compaction::Off);
        assert!(read("often").is_empty());
        let limit = overrides(&[b"{\"env\":{\"GOOSE_CONTEXT_LIMIT\":\"64000\"}}"]);
        assert_eq!(limit.window, Some(64_000));
    }
}
