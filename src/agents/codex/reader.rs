//! Reads one rollout, line by line.

use super::thread::Thread;
use super::turn::Turns;
use super::usage::{Meter, Report};
use super::wire::{self, Line, TokenUsage, str_of};
use crate::agents::{Decoder, Input};
use crate::model::Source;
use crate::model::event::{Billed, Event, Key, Lane, Meta, Place, Sink, Usage};
use jiff::Timestamp;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

/// Reads one rollout.
#[derive(Debug, Default)]
pub(super) struct CodexDecoder {
    pub(super) thread: Thread,
    pub(super) turns: Turns,
    pub(super) meter: Meter,
    /// The request whose output is being written.
    pub(super) open: Option<Key>,
    /// How often a request's key has come, to tell equal ones apart.
    pub(super) keys: HashMap<Key, u64>,
    /// Tools by the id of their call, until the output comes.
    pub(super) tools: HashMap<Key, Box<str>>,
    /// What the user said since the last compaction: node, bytes.
    pub(super) said: Vec<(Key, u64)>,
    /// What the harness put in before the model first spoke.
    pub(super) opening: Vec<Key>,
    pub(super) spoken: bool,
    pub(super) model: Option<Box<str>>,
    pub(super) cwd: Option<Box<str>>,
    pub(super) window: Option<u64>,
}

/// Where and when a line was written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stamp {
    pub(super) place: Place,
    pub(super) at: Option<Timestamp>,
    pub(super) ordinal: Option<u64>,
}

/// What became of a line.
pub(super) enum Done {
    Read,
    Skipped,
}

pub(super) type Read = Result<Done, serde_json::Error>;

impl Decoder for CodexDecoder {
    fn read(&mut self, input: Input<'_>, out: &mut Sink<'_>) {
        let (place, bytes) = match input {
            Input::Line(place, bytes) => (place, bytes),
            Input::Document(_) => return,
        };
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return;
        }
        if let Some((at, kind)) = passed_over(&bytes[..bytes.len().min(HEAD)]) {
            let event = skipped("event_msg", kind);
            return out.push(Lane::Main, place, at.parse().ok(), event);
        }
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => String::from_utf8_lossy(bytes),
        };
        match serde_json::from_str::<Line<'_>>(&text) {
            Ok(line) => self.line(&line, &text, place, out),
            Err(error) => {
                let why = error.to_string().into();
                out.push(Lane::Main, place, None, Event::Unreadable(why));
            }
        }
    }
}

impl CodexDecoder {
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
            _ => {
                let record = str_of(&line.record_type);
                let event = match record {
                    "" => skipped(kind, ""),
                    record => skipped("record_type", record),
                };
                push(out, stamp, event);
            }
        }
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
            "turn_aborted" => {
                self.turns.aborted();
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
            "thread_name_updated" if !self.thread.is_copied(stamp) => {
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

/// The events that tell of the context. All others repeat what the history holds, for the screen.
const EVENTS: [&str; 6] = [
    "token_count",
    "task_started",
    "turn_started",
    "turn_aborted",
    "thread_rolled_back",
    "thread_name_updated",
];

/// How much of a line is looked at to pass it over.
const HEAD: usize = 160;

/// The time and type of an event that tells nothing, from its line's beginning alone: such lines are
/// a third of a log, and their bodies need not be parsed.
fn passed_over(head: &[u8]) -> Option<(&str, &str)> {
    let head = match std::str::from_utf8(head) {
        Ok(head) => head,
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).ok()?,
    };
    let (at, rest) = head.strip_prefix("{\"timestamp\":\"")?.split_once('"')?;
    let rest = rest.strip_prefix(",\"type\":\"event_msg\",\"payload\":{\"type\":\"")?;
    let (kind, _) = rest.split_once('"')?;
    (!EVENTS.contains(&kind)).then_some((at, kind))
}

pub(super) fn push(out: &mut Sink<'_>, stamp: Stamp, event: Event) {
    out.push(Lane::Main, stamp.place, stamp.at, event);
}

/// A record that is passed over, by its type and its payload's.
fn skipped(kind: &str, of: &str) -> Event {
    let kind = if kind.is_empty() { "unknown" } else { kind };
    let mut name: String = kind.chars().take(40).collect();
    if !of.is_empty() {
        name.push('/');
        name.extend(of.chars().take(40));
    }
    Event::Skipped(name.into())
}
