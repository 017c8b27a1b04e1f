//! Cline: its command line, and its extension since it keeps its sessions the same way.
//!
//! A session is one JSON document, `<id>/<id>.messages.json`, rewritten as a whole with every message.
//! After its sources (cline/cline, `sdk/packages/core/src`: `session/`, `services/session-data.ts`,
//! `extensions/context/`), checked on whole runs of 3.0.65:
//!
//! * A response's numbers are beside its message, `metrics`. `inputTokens` is the whole prompt, what was
//!   cached included.
//! * The system prompt is in the document, the tools' schemas are in no file.
//! * The document is never shortened. A compaction is in `<id>.compaction.json`: the messages that take
//!   the place of the first `source_message_count`, those that stay under their old ids. Each compaction
//!   replaces that file, so an earlier one only shows by a prompt that fell.
//! * A summary (`agentic`) keeps the newest 20,000 tokens, by its own count, from the last typed prompt on at
//!   the latest. The mode `basic` cuts and drops messages instead; what it cuts keeps its full size here.
//! * Strings of a tool's result above 8,000 characters are sent without their middle
//!   (`message-builder.ts`), the tags around what the user typed are not sent.
//! * It compares with its limit a third of the characters of the request's JSON (`estimateTokens`). After a
//!   first compaction it counts results as they were before their middle was cut.
//! * The title and the folder are in `<id>.json`. A sub-agent's document is in its parent's folder.

mod sent;
mod settings;

use decode::anthropic::{self, ToolNames, part_of};
use decode::lenient::{self, Count, LostFields, Millis, Raw, Text, record};
use formats::names;
use formats::{
    ArrayName, Claim, Decoder, FilesBeside, Format, Recognition, Root, StateUpdate, StoreKind,
    Totals, WITH_CACHE, decoder, head,
};
use model::event::{
    BilledUsage, Cause, EventSink, Key, Meta, NewItem, Node, Part, Reset, RetainedItems, Usage,
};
use model::{Kind, Role};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Tokens that a summary leaves unchanged, and the characters of one token, by Cline's own count.
const KEPT_TOKENS: u64 = 20_000;
const PER_TOKEN: u64 = 3;
/// Characters of JSON around the text of an item: ids, times, numbers.
const AROUND: u64 = 60;
/// A prompt below this share of the last total follows a compaction.
const FELL: f64 = 0.8;

/// The format.
pub static CLINE: Format = Format {
    id: "cline",
    roots: &[
        Root::home(".cline/data", "sessions").env("CLINE_DATA_DIR"),
        Root::named("CLINE_DIR", "data/sessions"),
        Root::named("CLINE_SESSION_DATA_DIR", ""),
    ],
    claims: &claims,
    recognition: Recognition::new(&recognise)
        .kept_in(&|_| Some(StoreKind::Document))
        .list(ArrayName::Json("messages")),
    decoder: &decoder::<ClineDecoder>,
    totals: Totals::new(WITH_CACHE),
    settings: Some(&settings::SETTINGS),
    beside: FilesBeside::states(states),
    ..Format::DEFAULT
};

/// Claims `<id>/<id>.messages.json`, and a sub-agent's `<id>/<agent>.messages.json`.
fn claims(path: &Path) -> Option<Claim> {
    let (session, file) = parts(path)?;
    let claim = if session == file {
        Claim::session(session)
    } else {
        Claim::session(&format!("{session}__{file}")).child_of(session)
    };
    Some(claim.kept_in(StoreKind::Document))
}

/// Returns the session and the file's own name.
fn parts(path: &Path) -> Option<(&str, &str)> {
    let mut names = names(path);
    let file = names.next()?.strip_suffix(".messages.json")?;
    Some((names.next()?, file))
}

/// Returns the paths of the files with the session's facts and with its newest compaction.
fn states(log: &Path) -> Vec<PathBuf> {
    let Some((session, file)) = parts(log) else {
        return Vec::new();
    };
    let compaction = if session == file {
        log.with_file_name(format!("{session}.compaction.json"))
    } else {
        let own = format!("{session}__{file}");
        let folder = log.parent().unwrap_or(log).with_file_name(&own);
        folder.join(own + ".compaction.json")
    };
    vec![log.with_file_name(format!("{session}.json")), compaction]
}

fn recognise(head: &[u8]) -> bool {
    let start = head::solid(head, 400);
    let marks = [r#""agent":""#, r#""sessionId":""#];
    start.starts_with(br#"{"version":1,"updated_at":""#)
        && marks.iter().all(|mark| head::has(&start, mark))
}

record! {
    struct Document<'a> {
        session_id: Text<'a> = "sessionId",
        origin: Origin<'a>,
        system_prompt: Text<'a>,
        messages: Option<Vec<Raw<'a>>>,
    }

    struct Origin<'a> {
        version: Text<'a>,
        parent: Text<'a> = "parentThreadId",
    }

    struct Message<'a> {
        id: Text<'a>,
        role: Text<'a>,
        content: anthropic::Content<'a>,
        ts: Option<Millis>,
        model: Model<'a> = "modelInfo",
        metrics: Option<Metrics>,
        metadata: About<'a>,
    }

    struct Model<'a> {
        id: Text<'a>,
        provider: Text<'a>,
    }

    #[derive(Copy)]
    mended [input => output] whole struct Metrics {
        input: Count = "inputTokens",
        output: Count = "outputTokens",
        cache_read: Count = "cacheReadTokens",
        cache_write: Count = "cacheWriteTokens",
    }

    struct About<'a> {
        kind: Text<'a>,
        title: Text<'a>,
        before: Count = "tokensBefore",
    }

    /// A document beside the log: facts about the session, or a compaction.
    struct SideDocument<'a> {
        session_id: Text<'a>,
        cwd: Text<'a>,
        model: Text<'a>,
        provider: Text<'a>,
        metadata: About<'a>,
        count: Count = "source_message_count",
        messages: Option<Raw<'a>>,
    }
}

impl Message<'_> {
    /// Returns the whole prompt of the request that it answers.
    fn prompt(&self) -> Option<u64> {
        self.metrics?.input.0.filter(|prompt| *prompt > 0)
    }
}

/// A compaction: how many messages it replaces, and the list of those that take their place, as JSON.
#[derive(Clone)]
struct Compaction {
    count: u64,
    messages: Arc<str>,
}

/// A message that was read, as Cline counts it when it compacts.
#[derive(Clone, Copy, Default)]
struct ReadMessage {
    key: Option<Key>,
    characters: u64,
    part: Part,
}

/// Decodes one session.
#[derive(Clone, Default)]
struct ClineDecoder {
    beside: Meta,
    compaction: Option<Compaction>,
    seen: Vec<ReadMessage>,
    /// The last prompt and its output since the last reset.
    total: u64,
    has_compacted: bool,
    tools: ToolNames,
    meta: Meta,
}

impl Decoder for ClineDecoder {
    fn read_state(&mut self, document: &str, out: &mut EventSink<'_>) -> Option<StateUpdate> {
        let beside: SideDocument<'_> = lenient::state(document, out)?;
        match (beside.count.0, beside.messages) {
            (Some(count), Some(messages)) => {
                let messages = messages.get().into();
                self.compaction = Some(Compaction { count, messages });
            }
            _ => {
                self.beside = Meta {
                    id: beside.session_id.boxed(),
                    title: beside.metadata.title.boxed(),
                    cwd: beside.cwd.boxed(),
                    ..Meta::of_model_at(model(&beside.model), beside.provider.boxed())
                };
            }
        }
        Some(StateUpdate::Accepted)
    }

    fn read_document(&mut self, document: &str, out: &mut EventSink<'_>) {
        let Some(document) = lenient::object::<Document<'_>>(document, out) else {
            return;
        };
        if document.messages.is_none() {
            return out.unreadable("no messages");
        }
        let id = document.session_id.boxed();
        let is_own = id == self.beside.id;
        let meta = Meta {
            version: document.origin.version.boxed(),
            parent: document.origin.parent.boxed(),
            title: self.beside.title.clone().filter(|_| is_own),
            id,
            ..self.beside.clone()
        };
        out.meta(meta.changes(&mut self.meta));
        if let Some(prompt) = document.system_prompt.get() {
            let item = out.text(Role::Container, Kind::Prompt, prompt);
            let key = Some(Key::of("cline system prompt"));
            out.node(Node::new(key, Part::Front, vec![item]));
        }
    }

    fn read_line(&mut self, element: &str, out: &mut EventSink<'_>) {
        self.compact(out);
        let Some(message) = lenient::object::<Message<'_>>(element, out) else {
            return self.seen.push(ReadMessage::default());
        };
        out.set_time(message.ts.and_then(Millis::time));
        self.message(&message, out);
    }

    fn copy(&self) -> Option<Box<dyn Decoder>> {
        Some(Box::new(self.clone()))
    }

    fn read_end(&mut self, out: &mut EventSink<'_>) {
        self.compact(out);
    }
}

/// Returns a model's id, as other tables name it.
fn model(id: &Text<'_>) -> Option<Box<str>> {
    let id = id.get().filter(|id| !id.is_empty())?;
    Some(lenient::model_name(id).into())
}

impl ClineDecoder {
    fn message(&mut self, message: &Message<'_>, out: &mut EventSink<'_>) {
        let key = message.id.get().map(|id| Key::of_parts(&["cline", id]));
        let (mut cut, mut request) = (0, None);
        let node = match message.role.or_empty() {
            "assistant" => {
                self.look_at_prompt(message, out);
                let nth = Key::of_number("cline response", out.place().line());
                request = Some(key.map_or(nth, |key| key.under("cline response")));
                let mut items = anthropic::assistant_items(&message.content, &mut self.tools, out);
                items.iter_mut().for_each(counted);
                Node::output(key, request, items)
            }
            "user" => {
                let counts_whole = self.has_compacted;
                let (items, without) =
                    sent::items(&message.content, &self.tools, counts_whole, out);
                cut = without;
                Node::new(key, part_of(&items), items)
            }
            other => {
                self.seen.push(ReadMessage {
                    key,
                    ..ReadMessage::default()
                });
                return out.unknown(format!("{other} message"));
            }
        };
        let characters = cut + node.items.iter().map(characters).sum::<u64>();
        self.seen.push(ReadMessage {
            key,
            characters,
            part: node.part,
        });
        out.node(node);
        if let Some(request) = request {
            self.report(message, request, out);
        }
    }

    /// Emits the compaction before a prompt that fell.
    fn look_at_prompt(&mut self, message: &Message<'_>, out: &mut EventSink<'_>) {
        let name = model(&message.model.id);
        let is_same = name.is_none() || name == self.meta.model;
        let named = Meta::of_model_at(name, message.model.provider.boxed());
        out.meta(named.changes(&mut self.meta));
        let prompt = message.prompt();
        if is_same && prompt.is_some_and(|prompt| (prompt as f64) < self.total as f64 * FELL) {
            let kept = self.kept().iter().filter_map(|seen| seen.key).collect();
            let reset = Reset::compaction(Cause::Unlogged, RetainedItems::Nodes(kept));
            self.reset(reset, out);
        }
    }

    /// Emits the numbers of a response.
    fn report(&mut self, message: &Message<'_>, request: Key, out: &mut EventSink<'_>) {
        let (Some(metrics), Some(prompt)) = (message.metrics, message.prompt()) else {
            return;
        };
        let output = metrics.output.or_zero();
        self.total = prompt + output;
        let billed = BilledUsage::new(prompt, output)
            .with_cache(metrics.cache_read.or_zero(), metrics.cache_write.or_zero());
        out.usage(Usage {
            model: self.meta.model.clone(),
            output: metrics.output.0,
            ..Usage::billed(request, prompt, billed)
        });
    }

    /// Returns the messages that a summary leaves unchanged (`findCutIndex`).
    fn kept(&self) -> &[ReadMessage] {
        let mut sum = 0;
        let newest = self.seen.iter().rposition(|seen| {
            sum += seen.characters;
            sum >= KEPT_TOKENS * PER_TOKEN
        });
        let is = |part: Part| move |seen: &ReadMessage| seen.part == part;
        let typed = self.seen.iter().rposition(is(Part::Input));
        let typed = typed.filter(|at| *at > 0).unwrap_or(usize::MAX);
        let mut cut = newest.unwrap_or(0).min(typed);
        while cut > 0 && self.seen.get(cut).is_some_and(is(Part::Result)) {
            cut -= 1;
        }
        if cut == 0 {
            // It was not such a compaction. What came since the last response was sent.
            let output = self.seen.iter().rposition(is(Part::Output));
            cut = output.map_or(0, |at| at + 1);
        }
        self.seen.get(cut..).unwrap_or_default()
    }

    /// Emits the compaction in the file beside the log, if this is its place.
    fn compact(&mut self, out: &mut EventSink<'_>) {
        let here = self.seen.len() as u64;
        let Some(compaction) = self.compaction.take_if(|one| one.count == here) else {
            return;
        };
        let lost = LostFields::default();
        let raw: Result<Raw<'_>, _> = serde_json::from_str(&compaction.messages);
        let read = |raw| lost.at("messages").read::<Vec<Message<'_>>>(raw);
        let messages = raw.ok().and_then(read).unwrap_or_default();
        let known = |message: &Message<'_>| {
            let key = message.id.get().map(|id| Key::of_parts(&["cline", id]))?;
            let was_read = self.seen.iter().any(|seen| seen.key == Some(key));
            was_read.then_some(key)
        };
        let kept: Vec<Key> = messages.iter().filter_map(known).collect();
        let new: Vec<&Message<'_>> = messages.iter().filter(|m| known(m).is_none()).collect();
        let before = new.iter().find_map(|message| message.metadata.before.0);
        let reset = Reset::compaction(Cause::Unlogged, RetainedItems::Nodes(kept));
        self.reset(Reset { before, ..reset }, out);
        for message in new {
            let kind = match message.metadata.kind.get() {
                Some("compaction_summary") => Kind::Summary,
                _ => Kind::Reminder,
            };
            let items = anthropic::injected_texts(&message.content, kind, out);
            out.node(Node::new(None, Part::Injected, items));
        }
        lost.report(out);
    }

    fn reset(&mut self, reset: Reset, out: &mut EventSink<'_>) {
        (self.total, self.has_compacted) = (0, true);
        out.reset(reset);
    }
}

/// Sets what Cline counts for an item.
fn counted(item: &mut NewItem) {
    item.size.own_bytes = u32::try_from(u64::from(item.size.bytes) + AROUND).ok();
}

/// Returns the characters that Cline counts for an item.
fn characters(item: &NewItem) -> u64 {
    item.size.own_bytes.unwrap_or(item.size.bytes).into()
}

#[cfg(test)]
mod tests;
