//! Codex CLI: `$CODEX_HOME/sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`.
//!
//! A rollout is a list of lines `{timestamp, type, payload}`. The history is its `response_item`s,
//! replaced as a whole by `compacted`; `event_msg`s repeat it for the screen and are passed over, but
//! for `token_count`.
//!
//! A `token_count` is written after the tools of its response have run, yet does not count their
//! outputs. So what the model wrote since the count before is one request's output, and outputs that
//! stand before its count come after it in the context.

mod fragment;
mod item;
mod turn;
mod usage;
mod wire;

#[cfg(test)]
mod tests;

use super::{Base, Claim, Decoder, Format, Input, Root, Shape, Term};
use crate::model::event::{
    Billed, Event, Kept, Key, Lane, Meta, NewItem, Node, Part, Place, Reset, Sink, Usage,
};
use crate::model::{Gone, Kind, Role, Source};
use item::Setting;
use jiff::{SignedDuration, Timestamp};
use serde_json::value::RawValue;
use std::collections::HashMap;
use std::path::Path;
use turn::Turns;
use usage::{Meter, Report};
use wire::{Item, Line, SessionMeta, TokenUsage, str_of};

/// The format.
pub struct Codex;

impl Format for Codex {
    fn id(&self) -> &'static str {
        "codex"
    }

    fn label(&self) -> &'static str {
        "codex"
    }

    fn roots(&self) -> &'static [Root] {
        &[
            Root {
                env: Some("CODEX_HOME"),
                base: Base::Home(".codex"),
                logs: "sessions",
            },
            Root {
                env: Some("CODEX_HOME"),
                base: Base::Home(".codex"),
                logs: "archived_sessions",
            },
        ]
    }

    /// `rollout-2026-08-01T10-00-00-<thread>.jsonl`; a reverted thread's name has `_<rollout>` behind
    /// the thread.
    fn claims(&self, path: &Path) -> Option<Claim> {
        let name = path.file_name()?.to_str()?;
        let rest = name.strip_prefix("rollout-")?.strip_suffix(".jsonl")?;
        let thread = rest
            .get("2026-08-01T10-00-00-".len()..)
            .and_then(|ids| ids.split('_').next())
            .filter(|thread| !thread.is_empty());
        Some(Claim {
            shape: Shape::Lines,
            id: thread.map(Into::into),
            parent: None,
        })
    }

    fn recognise(&self, head: &[u8]) -> bool {
        head.split(|byte| *byte == b'\n')
            .take(3)
            .any(|line| begins_a_rollout(line))
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<Reader>::default()
    }

    fn reset_marks(&self) -> &'static [&'static str] {
        &["\"type\":\"compacted\"", "\"type\": \"compacted\""]
    }

    fn terms(&self) -> &'static [Term] {
        &[
            ("input", |billed| billed.input),
            ("cached", |billed| billed.cache_read),
            ("output", |billed| billed.output),
            ("reasoning", |billed| billed.reasoning),
        ]
    }
}

/// Whether a line, of which the end may be missing, is a rollout's. Within a string of another log the
/// quotes would be escaped.
fn begins_a_rollout(line: &[u8]) -> bool {
    let head = String::from_utf8_lossy(&line[..line.len().min(400)]);
    let has = |key: &str, value: &str| {
        head.split_once(key)
            .is_some_and(|(_, rest)| rest.trim_start_matches([':', ' ']).starts_with(value))
    };
    let typed = ["session_meta", "response_item", "event_msg", "turn_context"]
        .iter()
        .any(|kind| has("\"type\"", &format!("\"{kind}\"")));
    let bare =
        head.starts_with("{\"id\"") && has("\"timestamp\"", "\"") && has("\"instructions\"", "");
    typed || bare
}

/// Lines of a parent's history are stamped with the time at which they were copied into a sub-agent's
/// file, all in a moment; its own first response takes longer than this.
const COPIED_WITHIN: SignedDuration = SignedDuration::from_secs(1);

/// The most that Codex keeps of the user's words at a compaction that says no more than its summary:
/// 20,000 tokens at four bytes a token.
const LEGACY_KEPT_BYTES: u64 = 80_000;

/// Reads one rollout.
#[derive(Debug, Default)]
struct Reader {
    thread: Thread,
    turns: Turns,
    meter: Meter,
    /// The request whose output is being written.
    open: Option<Key>,
    /// How often a request's key has come, to tell equal ones apart.
    keys: HashMap<Key, u64>,
    /// Tools by the id of their call, until the output comes.
    tools: HashMap<Key, Box<str>>,
    /// What the user said since the last compaction: node, bytes.
    said: Vec<(Key, u64)>,
    /// What the harness put in before the model first spoke.
    opening: Vec<Key>,
    spoken: bool,
    model: Option<Box<str>>,
    cwd: Option<Box<str>>,
    window: Option<u64>,
}

/// Whose history the lines are.
#[derive(Debug, Default)]
struct Thread {
    /// The id of the file's own thread.
    id: Option<Box<str>>,
    /// The newest `session_meta`'s id: a fork's file repeats its parent's.
    latest: Box<str>,
    sub_agent: bool,
    /// The ordinal of a sub-agent's own first line.
    own_from: Option<u64>,
    /// When the lines of the parent were copied, while they last.
    copied_at: Option<Timestamp>,
}

/// Where and when a line was written.
#[derive(Debug, Clone, Copy)]
struct Stamp {
    place: Place,
    at: Option<Timestamp>,
    ordinal: Option<u64>,
}

impl Decoder for Reader {
    fn read(&mut self, input: Input<'_>, out: &mut Sink<'_>) {
        let (place, bytes) = match input {
            Input::Line(place, bytes) => (place, bytes),
            Input::Document(_) => return,
        };
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        let text = String::from_utf8_lossy(bytes);
        match serde_json::from_str::<Line<'_>>(&text) {
            Ok(line) => self.line(&line, &text, place, out),
            Err(error) => {
                let why = error.to_string().into();
                out.push(Lane::Main, place, None, Event::Unreadable(why));
            }
        }
    }
}

impl Reader {
    fn line(&mut self, line: &Line<'_>, text: &str, place: Place, out: &mut Sink<'_>) {
        let stamp = Stamp {
            place,
            at: str_of(&line.timestamp).parse().ok(),
            ordinal: line.ordinal,
        };
        let kind = str_of(&line.kind);
        let Some(payload) = line.payload.map(RawValue::get) else {
            return self.bare_line(line, text, stamp, out);
        };
        let done = match kind {
            "session_meta" => self.session_meta(payload, stamp, out),
            "turn_context" => self.turn_context(payload, stamp, out),
            "response_item" | "inter_agent_communication" => {
                self.history(kind, payload, stamp, out)
            }
            "compacted" => self.compacted(payload, stamp, out),
            "event_msg" => self.event_msg(payload, stamp, out),
            _ => Ok(Done::Skipped),
        };
        match done {
            Ok(Done::Read) => {}
            Ok(Done::Skipped) => {
                let of = match kind {
                    "event_msg" | "response_item" => wire::type_of(payload),
                    _ => "".into(),
                };
                push(out, stamp, skipped(kind, &of));
            }
            Err(error) => push(out, stamp, Event::Unreadable(error.to_string().into())),
        }
    }

    /// Before September 2025 lines had no payload: the first is the session's, then each is an item of
    /// history or a `{"record_type": "state"}`.
    fn bare_line(&mut self, line: &Line<'_>, text: &str, stamp: Stamp, out: &mut Sink<'_>) {
        let kind = str_of(&line.kind);
        if kind.is_empty() && line.record_type.is_none() && line.id.is_some() {
            if self.thread.id.is_none() && stamp.place.line != 0 {
                let id: Box<str> = str_of(&line.id).into();
                self.thread.latest = id.clone();
                self.thread.id = Some(id.clone());
                let meta = Meta {
                    id: Some(id),
                    ..Meta::default()
                };
                return push(out, stamp, Event::Meta(Box::new(meta)));
            }
            return push(out, stamp, skipped("session_meta", ""));
        }
        match self.history("", text, stamp, out) {
            Ok(Done::Read) => {}
            _ if line.record_type.is_some() => {
                push(
                    out,
                    stamp,
                    skipped("record_type", str_of(&line.record_type)),
                );
            }
            _ => push(
                out,
                stamp,
                skipped(if kind.is_empty() { "unknown" } else { kind }, ""),
            ),
        }
    }

    fn session_meta(&mut self, payload: &str, stamp: Stamp, out: &mut Sink<'_>) -> Read {
        let meta: SessionMeta<'_> = serde_json::from_str(payload)?;
        let id = str_of(&meta.id);
        self.thread.latest = id.into();
        let fact = |text: &Option<wire::Text<'_>>| {
            Some(str_of(text).into()).filter(|s: &Box<str>| !s.is_empty())
        };
        match &self.thread.id {
            Some(own) if **own == *id => {
                // Resumed: the folder and the version may have changed.
                self.cwd = fact(&meta.cwd).or(self.cwd.take());
                let meta = Meta {
                    cwd: fact(&meta.cwd),
                    version: fact(&meta.cli_version),
                    ..Meta::default()
                };
                push(out, stamp, Event::Meta(Box::new(meta)));
                return Ok(Done::Read);
            }
            Some(_) => {
                if self.thread.sub_agent {
                    self.thread.copied_at = stamp.at;
                }
                return Ok(Done::Skipped);
            }
            // Begun in the middle of the file: this may be a parent's.
            None if stamp.place.line == 0 => return Ok(Done::Skipped),
            None => {}
        }
        let (parent, title) = lineage(&meta);
        self.thread.id = Some(id.into());
        self.thread.sub_agent = parent.is_some();
        self.thread.own_from = meta.subagent_history_start_ordinal;
        self.cwd = fact(&meta.cwd);
        let facts = Meta {
            id: fact(&meta.id),
            title,
            cwd: fact(&meta.cwd),
            version: fact(&meta.cli_version),
            parent,
            ..Meta::default()
        };
        push(out, stamp, Event::Meta(Box::new(facts)));
        let items = prefix(&meta, out);
        if !items.is_empty() {
            let node = Node {
                key: Some(prefix_key()),
                part: Part::Injected,
                items,
                ..Node::default()
            };
            push(out, stamp, Event::Node(Box::new(node)));
        }
        Ok(Done::Read)
    }

    fn turn_context(&mut self, payload: &str, stamp: Stamp, out: &mut Sink<'_>) -> Read {
        let context: wire::TurnContext<'_> = serde_json::from_str(payload)?;
        self.turns.settings();
        let new = |old: &Option<Box<str>>, said: &Option<wire::Text<'_>>| {
            let said = str_of(said);
            (!said.is_empty() && old.as_deref() != Some(said)).then(|| said.into())
        };
        let meta = Meta {
            model: new(&self.model, &context.model),
            cwd: new(&self.cwd, &context.cwd),
            ..Meta::default()
        };
        if meta == Meta::default() {
            return Ok(Done::Skipped);
        }
        self.model = meta.model.clone().or(self.model.take());
        self.cwd = meta.cwd.clone().or(self.cwd.take());
        push(out, stamp, Event::Meta(Box::new(meta)));
        Ok(Done::Read)
    }

    /// An item of the history, as a line of its own.
    fn history(&mut self, of: &str, payload: &str, stamp: Stamp, out: &mut Sink<'_>) -> Read {
        let mut item: Item<'_> = serde_json::from_str(payload)?;
        if of == "inter_agent_communication" {
            item.kind = Some(wire::Text(of.into()));
        }
        let call = item.call_id.as_ref().map(|id| Key::of(&id.0));
        let tool = call.and_then(|call| self.tools.remove(&call));
        let setting = Setting {
            tool: tool.as_deref(),
            summary: "",
            opens: self.turns.opens(),
        };
        let Some(piece) = item::piece(&item, setting, out) else {
            return Ok(Done::Skipped);
        };
        let mut node = Node {
            part: piece.part,
            items: piece.items,
            ..Node::default()
        };
        match node.part {
            Part::Output => {
                self.spoken = true;
                self.turns.spoke(str_of(&item.kind) == "message");
                node.request = Some(self.request(&item, payload));
                if let (Some(call), Some(name)) = (call, item::tool_name(&item)) {
                    self.tools.insert(call, name.into());
                }
            }
            Part::Result => self.turns.returned(),
            _ => {
                let key = Key::of_number("codex", stamp.place.offset);
                node.key = Some(key);
                if piece.said {
                    node.turn = self.turns.said();
                    if node.turn {
                        self.open = None;
                    }
                    self.said.push((key, bytes(&node.items)));
                } else if !self.spoken {
                    self.opening.push(key);
                }
            }
        }
        push(out, stamp, Event::Node(Box::new(node)));
        Ok(Done::Read)
    }

    /// The request that this output belongs to: the open one, or a new one, named after its first
    /// output, so that a copy of it in a fork's file has the same name.
    fn request(&mut self, first: &Item<'_>, payload: &str) -> Key {
        if let Some(open) = self.open {
            return open;
        }
        let name = [&first.encrypted_content, &first.call_id, &first.id]
            .into_iter()
            .map(str_of)
            .find(|name| name.len() >= UNIQUE_NAME);
        let key = match name {
            Some(name) => Key::of_parts(&["codex", name]),
            // What is short or mere text may come again elsewhere: the spend so far tells it apart.
            None => {
                let spent = format!("{:?}", self.meter.total());
                Key::of_parts(&["codex", &self.thread.latest, &spent, payload])
            }
        };
        let key = self.once(key);
        self.open = Some(key);
        key
    }

    /// A request's key, made another one where it has come before in this file.
    fn once(&mut self, key: Key) -> Key {
        let times = self.keys.entry(key).or_default();
        *times += 1;
        match *times {
            1 => key,
            nth => Key::of_number("codex again", key.0 ^ nth),
        }
    }

    fn compacted(&mut self, payload: &str, stamp: Stamp, out: &mut Sink<'_>) -> Read {
        let compacted: wire::Compacted<'_> = serde_json::from_str(payload)?;
        let mut kept = vec![prefix_key()];
        if compacted.replacement_history.is_none() {
            kept.append(&mut self.opening.clone());
            kept.extend(self.newest_said(LEGACY_KEPT_BYTES));
        }
        let reset = Reset {
            key: None,
            gone: Gone::Compaction,
            cause: self.cause().into(),
            before: None,
            after: None,
            kept: Kept::Nodes(kept),
        };
        push(out, stamp, Event::Reset(Box::new(reset)));
        self.turns.rebuilt();
        self.open = None;
        let message = str_of(&compacted.message);
        match &compacted.replacement_history {
            Some(history) => self.rebuild(history, message, stamp, out),
            None if !message.is_empty() => {
                let summary = out.item(Role::Container, Kind::Summary).text(message);
                let node = Node {
                    part: Part::Injected,
                    items: vec![summary.done()],
                    ..Node::default()
                };
                push(out, stamp, Event::Node(Box::new(node)));
            }
            None => {}
        }
        Ok(Done::Read)
    }

    /// The history as a compaction leaves it.
    fn rebuild(&mut self, history: &[&RawValue], message: &str, stamp: Stamp, out: &mut Sink<'_>) {
        self.said.clear();
        self.opening.clear();
        for (nth, raw) in history.iter().enumerate() {
            let Ok(item) = serde_json::from_str::<Item<'_>>(raw.get()) else {
                continue;
            };
            let setting = Setting {
                tool: None,
                summary: message,
                opens: false,
            };
            let Some(piece) = item::piece(&item, setting, out) else {
                continue;
            };
            // A line is longer than the number of its items, so no other node has this number.
            let number = stamp.place.offset.saturating_add(nth as u64);
            let key = Key::of_number("codex", number);
            if piece.said {
                self.said.push((key, bytes(&piece.items)));
            }
            let node = Node {
                key: Some(key),
                part: piece.part,
                items: piece.items,
                ..Node::default()
            };
            push(out, stamp, Event::Node(Box::new(node)));
        }
    }

    /// The newest of what the user said, as much as fits.
    fn newest_said(&mut self, mut left: u64) -> Vec<Key> {
        let fits = self.said.iter().rev().take_while(|(_, bytes)| {
            let fits = *bytes <= left;
            left = left.saturating_sub(*bytes);
            fits
        });
        let from = self.said.len() - fits.count();
        self.said.drain(..from);
        self.said.iter().map(|(key, _)| *key).collect()
    }

    /// The log does not say what caused a compaction. Within a turn it is never the user; before the
    /// user's message it is where the context was far from full.
    fn cause(&self) -> &'static str {
        let used = self.meter.last_total();
        match self.window {
            Some(window) if self.turns.waits() && used < window / 10 * 9 => "manual",
            _ => "auto",
        }
    }

    fn event_msg(&mut self, payload: &str, stamp: Stamp, out: &mut Sink<'_>) -> Read {
        let kind = wire::type_of(payload);
        match &*kind {
            "token_count" => {
                let event: wire::EventMsg<'_> = serde_json::from_str(payload)?;
                let Some(info) = event.info else {
                    return Ok(Done::Skipped);
                };
                self.learn_window(info.model_context_window, stamp, out);
                let report = self
                    .meter
                    .read(info.total_token_usage, info.last_token_usage);
                Ok(self.report(report, stamp, out))
            }
            "task_started" | "turn_started" => {
                let event: wire::EventMsg<'_> = serde_json::from_str(payload)?;
                self.turns.started();
                self.open = None;
                self.learn_window(event.model_context_window, stamp, out);
                Ok(Done::Skipped)
            }
            "thread_rolled_back" => {
                let event: wire::EventMsg<'_> = serde_json::from_str(payload)?;
                let Some(turns) = event.num_turns else {
                    return Ok(Done::Skipped);
                };
                let left = (self.said.len() as u64).saturating_sub(turns.0);
                self.said
                    .truncate(usize::try_from(left).unwrap_or(usize::MAX));
                self.open = None;
                push(out, stamp, Event::Rollback { turns: turns.0 });
                Ok(Done::Read)
            }
            "thread_name_updated" => {
                let event: wire::EventMsg<'_> = serde_json::from_str(payload)?;
                let meta = Meta {
                    title: event.thread_name.map(|name| name.0.into()),
                    ..Meta::default()
                };
                push(out, stamp, Event::Meta(Box::new(meta)));
                Ok(Done::Read)
            }
            _ => Ok(Done::Skipped),
        }
    }

    /// The window in a log is what Codex uses of it already: 95 % of the model's.
    fn learn_window(&mut self, window: Option<wire::Count>, stamp: Stamp, out: &mut Sink<'_>) {
        let window = window.map(|window| window.0).filter(|window| *window > 0);
        if window.is_some() && window != self.window {
            self.window = window;
            let meta = Meta {
                window,
                ..Meta::default()
            };
            push(out, stamp, Event::Meta(Box::new(meta)));
        }
    }

    fn report(&mut self, report: Report, stamp: Stamp, out: &mut Sink<'_>) -> Done {
        let (last, billed) = match report {
            Report::Nothing => return Done::Skipped,
            Report::Estimate(total) => {
                let usage = Usage {
                    request: Key::of_number("codex estimate", stamp.place.offset),
                    model: self.model.clone(),
                    prompt: total,
                    cached: 0,
                    output: None,
                    reasoning: None,
                    source: Source::Agent,
                    billed: Billed::default(),
                };
                push(out, stamp, Event::Usage(Box::new(usage)));
                return Done::Read;
            }
            Report::Call(last, billed) => (last, billed),
        };
        let request = match self.open.take() {
            Some(request) => request,
            // A call of which no line shows the output, such as one that wrote a summary.
            None => {
                let spent = format!("{:?} {last:?}", self.meter.total());
                self.once(Key::of_parts(&["codex", &self.thread.latest, &spent]))
            }
        };
        let TokenUsage {
            input,
            cached,
            output,
            reasoning,
            ..
        } = last;
        let prompt = input.map_or(0, |n| n.0);
        let output = output.map(|n| n.0);
        let usage = Usage {
            request,
            model: self.model.clone(),
            prompt,
            cached: cached.map_or(0, |n| n.0.min(prompt)),
            output,
            reasoning: reasoning.map(|n| n.0.min(output.unwrap_or(0))),
            source: Source::Reported,
            billed: if self.thread.is_copied(stamp) {
                Billed::default()
            } else {
                billed
            },
        };
        push(out, stamp, Event::Usage(Box::new(usage)));
        Done::Read
    }
}

impl Thread {
    /// Whether a line of a sub-agent's file is its parent's history: spent there, not here.
    fn is_copied(&self, stamp: Stamp) -> bool {
        match (self.own_from, stamp.ordinal) {
            (Some(own_from), Some(ordinal)) => ordinal < own_from,
            _ => match (self.copied_at, stamp.at) {
                (Some(copied_at), Some(at)) => at.duration_since(copied_at) <= COPIED_WITHIN,
                _ => false,
            },
        }
    }
}

/// What became of a line.
enum Done {
    Read,
    Skipped,
}

type Read = Result<Done, serde_json::Error>;

/// The shortest name of an item that no other session gives: `call_` with 24 letters, encrypted text.
/// Some providers' calls are named `call_0`.
const UNIQUE_NAME: usize = 24;

fn push(out: &mut Sink<'_>, stamp: Stamp, event: Event) {
    out.push(Lane::Main, stamp.place, stamp.at, event);
}

/// A record that is passed over, by its type and its payload's.
fn skipped(kind: &str, of: &str) -> Event {
    let mut name: String = kind.chars().take(40).collect();
    if !of.is_empty() {
        name.push('/');
        name.extend(of.chars().take(40));
    }
    Event::Skipped(name.into())
}

fn bytes(items: &[NewItem]) -> u64 {
    items.iter().map(|item| item.size.bytes).sum()
}

/// The node of what stands before all history and stays at every compaction.
fn prefix_key() -> Key {
    Key::of("codex prefix")
}

/// The system prompt and the tools that a session's first line holds.
fn prefix(meta: &SessionMeta<'_>, out: &mut Sink<'_>) -> Vec<NewItem> {
    let mut items = Vec::new();
    if let Some(text) = meta
        .base_instructions
        .as_ref()
        .and_then(|b| b.text.as_ref())
    {
        items.push(out.item(Role::Container, Kind::Prompt).text(&text.0).done());
    }
    let tools = meta.dynamic_tools.map(RawValue::get);
    if let Some(tools) = tools.filter(|tools| tools.len() > "null".len()) {
        items.push(out.item(Role::Container, Kind::ToolList).text(tools).done());
    }
    items
}

/// Who started a session, and what kind of sub-agent it is. A fork has a past, not a parent.
fn lineage(meta: &SessionMeta<'_>) -> (Option<Box<str>>, Option<Box<str>>) {
    let origin = meta
        .source
        .and_then(|source| serde_json::from_str::<wire::Origin<'_>>(source.get()).ok())
        .and_then(|origin| origin.subagent);
    let word = origin.and_then(|raw| serde_json::from_str::<wire::Text<'_>>(raw.get()).ok());
    let subagent =
        origin.and_then(|raw| serde_json::from_str::<wire::Subagent<'_>>(raw.get()).ok());
    let (spawn, other) = subagent.map_or((None, None), |sub| (sub.thread_spawn, sub.other));
    let (spawner, name, role) = spawn.map_or((None, None, None), |spawn| {
        (
            spawn.parent_thread_id,
            spawn.agent_nickname,
            spawn.agent_role,
        )
    });
    let first = |texts: [&Option<wire::Text<'_>>; 2]| {
        texts
            .into_iter()
            .map(str_of)
            .find(|text| !text.is_empty())
            .map(Box::<str>::from)
    };
    let name = first([&meta.agent_nickname, &name]);
    let role = first([&meta.agent_role, &role]).or_else(|| first([&other, &word]));
    let title = match (name, role) {
        (Some(name), Some(role)) => Some(format!("{name} ({role})").into()),
        (name, role) => name.or(role),
    };
    (first([&meta.parent_thread_id, &spawner]), title)
}
