//! Decodes a log by a mapping.

use super::history::History;
use super::mapping::{Author, Mapping, Written};
use super::message::Message;
use super::pointer::Pointers;
use format::Decoder;
use jiff::Timestamp;
use kit::lenient::Count;
use model::Gone;
use model::event::{
    Billed, Cause, Event, Kept, Key, Lane, Meta, Node, Parent, Part, Place, Reset, Sink, Usage,
};
use serde_json::Value;
use std::collections::HashMap;

/// Numbers of seconds since 1970 are smaller than this; of milliseconds, larger.
const SECONDS: f64 = 1e11;

/// Decodes one file.
#[derive(Clone)]
pub(super) struct CustomDecoder {
    mapping: &'static Mapping,
    sessions: HashMap<Lane, Session>,
    /// The session that came first: the file's own.
    first: Option<Key>,
    /// The session of the previous record: those that name none continue it.
    newest: Lane,
}

/// One session of a file.
#[derive(Clone, Default)]
struct Session {
    /// The newest facts.
    known: Meta,
    /// Tool names by call.
    tools: HashMap<Key, Box<str>>,
    /// The newest request, for usage that is in a record of its own.
    request: Option<Key>,
    history: History,
}

impl Decoder for CustomDecoder {
    fn read_line(&mut self, line: &str, out: &mut Sink<'_>) {
        match (serde_json::from_str(line), self.mapping.shape) {
            (Ok(record), Written::Document) => self.record(&record, out),
            (Ok(value @ Value::Object(_)), Written::Lines) => self.line(&value, out),
            (Ok(_), Written::Lines) => out.unreadable("not a JSON object"),
            (Err(error), _) => out.unreadable(error.to_string()),
        }
    }

    fn read_document(&mut self, document: &str, out: &mut Sink<'_>) {
        match serde_json::from_str(document) {
            Ok(value) => self.document(&value, out),
            Err(error) => out.unreadable(error.to_string()),
        }
    }

    fn copy(&self) -> Option<Box<dyn Decoder>> {
        Some(Box::new(self.clone()))
    }
}

impl CustomDecoder {
    pub(super) fn new(mapping: &'static Mapping) -> CustomDecoder {
        CustomDecoder {
            mapping,
            sessions: HashMap::new(),
            first: None,
            newest: Lane::Main,
        }
    }

    /// Returns the session of a record, by the id that it names.
    fn lane(&mut self, value: &Value) -> Lane {
        if let Some(id) = self.mapping.session.id.text(value) {
            let key = Key::of(&id);
            self.newest = match *self.first.get_or_insert(key) {
                first if first == key => Lane::Main,
                _ => Lane::Side(key),
            };
        }
        self.newest
    }

    fn line(&mut self, value: &Value, out: &mut Sink<'_>) {
        let mapping = self.mapping;
        let lane = self.lane(value);
        out.set_lane(lane);
        out.set_time(time(&mapping.record.time, value));
        let session = self.sessions.entry(lane).or_default();
        if let Some(word) = mapping.record.skipped(value) {
            return out.skip(word);
        }
        session.emit_meta(mapping, value, out);
        match mapping.messages.as_ref() {
            None => session.record(mapping, value, out),
            Some(list) => match list.find(value) {
                Some(Value::Array(list)) => {
                    let tools = &mut session.tools;
                    session.history.add_request(mapping, list, tools, out);
                    session.add_reply(mapping, value, out);
                }
                _ => out.unknown("no list of messages"),
            },
        }
    }

    fn document(&mut self, value: &Value, out: &mut Sink<'_>) {
        let list = match &self.mapping.messages {
            Some(pointer) => pointer.find(value),
            None => Some(value),
        };
        let Some(Value::Array(list)) = list else {
            return out.unreadable("no list of messages");
        };
        let session = self.sessions.entry(Lane::Main).or_default();
        session.emit_meta(self.mapping, value, out);
        for (line, record) in (1..).zip(list) {
            out.begin(Place::of_line(line));
            self.record(record, out);
        }
    }

    /// Reads a record of a document's list.
    fn record(&mut self, record: &Value, out: &mut Sink<'_>) {
        out.set_time(time(&self.mapping.record.time, record));
        match self.mapping.record.skipped(record) {
            Some(word) => out.skip(word),
            None => {
                let session = self.sessions.entry(Lane::Main).or_default();
                session.record(self.mapping, record, out);
            }
        }
    }
}

impl Session {
    /// Emits the facts about the session, where they have changed.
    fn emit_meta(&mut self, mapping: &Mapping, value: &Value, out: &mut Sink<'_>) {
        let keys = &mapping.session;
        // Facts that a record leaves out stay unchanged.
        let fact = |of: &[&Pointers], known: &Option<Box<str>>| {
            let found = of.iter().find_map(|pointers| pointers.text(value));
            found.map(Into::into).or_else(|| known.clone())
        };
        let known = &self.known;
        let now = Meta {
            id: fact(&[&keys.id], &known.id),
            title: fact(&[&keys.title], &known.title),
            cwd: fact(&[&keys.cwd], &known.cwd),
            model: fact(&[&mapping.record.model, &keys.model], &known.model),
            version: fact(&[&keys.version], &known.version),
            parent: fact(&[&keys.parent], &known.parent),
            ..Meta::default()
        };
        if now != self.known {
            out.meta(now.clone());
            self.known = now;
        }
    }

    /// Reads a record that is a message, a report of usage, or both.
    fn record(&mut self, mapping: &Mapping, value: &Value, out: &mut Sink<'_>) {
        let id = mapping.record.id.text(value);
        let key = id.as_deref().map(|id| Key::of_parts(&[&mapping.id, id]));
        let parent = match mapping.record.parent.text(value) {
            Some(parent) => Parent::Key(Key::of_parts(&[&mapping.id, &parent])),
            None if key.is_some() && !mapping.record.parent.is_empty() => Parent::Root,
            None => Parent::Previous,
        };
        let usage = self.usage(mapping, value, out);
        match Message::read(mapping, value) {
            Ok(message) => {
                let part = message.part();
                let request =
                    (part == Part::Output).then(|| request_of(mapping, id.as_deref(), out));
                self.request = request.or(self.request);
                let node = Node {
                    parent,
                    request,
                    ..Node::new(key, part, message.items(&mut self.tools, out))
                };
                if message.author == Author::Summary {
                    // The summary takes the reset's own place.
                    out.reset(reset(key));
                    let parent = Parent::Previous;
                    out.node(Node { parent, ..node });
                } else {
                    out.node(node);
                }
            }
            Err(why) => {
                // Numbers alone are no message, and meant to be so.
                if usage.is_none() {
                    out.unknown(why);
                }
                if key.is_some() {
                    let link = Node {
                        key,
                        parent,
                        ..Node::default()
                    };
                    out.node(link);
                }
            }
        }
        if let Some(usage) = usage {
            let request = self
                .request
                .unwrap_or_else(|| request_of(mapping, None, out));
            out.usage(Usage { request, ..usage });
        }
    }

    /// Adds the response to a request, and its usage.
    fn add_reply(&mut self, mapping: &Mapping, value: &Value, out: &mut Sink<'_>) {
        let request = request_of(mapping, mapping.record.id.text(value).as_deref(), out);
        let mut items = Vec::new();
        let replies = mapping.reply.elements(value).into_iter();
        for reply in replies.filter(|reply| !reply.is_null()) {
            match Message::read(mapping, reply) {
                Ok(message) => items.extend(message.items(&mut self.tools, out)),
                Err(why) => out.unknown(why),
            }
        }
        self.history.add_reply(request, items, out);
        if let Some(usage) = self.usage(mapping, value, out) {
            out.usage(Usage { request, ..usage });
        }
    }

    /// Returns the numbers in a record, of no request yet; `None`: there are none.
    fn usage(&self, mapping: &Mapping, value: &Value, out: &mut Sink<'_>) -> Option<Usage> {
        let keys = &mapping.usage;
        let parts = [&keys.prompt, &keys.cached, &keys.output, &keys.reasoning];
        let [prompt, cached, output, reasoning] = parts.map(|part| tokens(part, value));
        if prompt.is_err() || cached.is_err() || output.is_err() || reasoning.is_err() {
            out.emit(Event::UnreadableUsage);
        }
        let prompt = prompt.ok()?.filter(|prompt| *prompt > 0)?;
        let cached = cached.ok().flatten().unwrap_or(0).min(prompt);
        let (output, reasoning) = (output.ok().flatten(), reasoning.ok().flatten());
        let billed = Billed::new(prompt, output.unwrap_or(0))
            .with_cache(cached, 0)
            .with_reasoning(reasoning.unwrap_or(0));
        Some(Usage {
            model: self.known.model.clone(),
            output,
            reasoning,
            ..Usage::billed(Key::new(0), prompt, billed)
        })
    }
}

/// Returns the request that a record of this id answers.
fn request_of(mapping: &Mapping, id: Option<&str>, out: &Sink<'_>) -> Key {
    let agent = &mapping.id;
    let time = out.time().map(|time| time.to_string()).unwrap_or_default();
    match id {
        Some(id) => Key::of_parts(&[agent, "request", id, &time]),
        None => Key::of_parts(&[agent, "request", &out.place().id().to_string()]),
    }
}

fn reset(key: Option<Key>) -> Reset {
    Reset {
        key,
        ..Reset::new(Gone::Compaction, Cause::Unlogged, Kept::Nothing)
    }
}

/// Returns a time as text, or as seconds or milliseconds since 1970.
fn time(pointers: &Pointers, value: &Value) -> Option<Timestamp> {
    let text = pointers.text(value)?;
    match text.parse::<f64>() {
        Ok(number) => {
            let millis = if number < SECONDS {
                number * 1e3
            } else {
                number
            };
            Timestamp::from_millisecond(millis as i64).ok()
        }
        Err(_) => text.parse().ok(),
    }
}

/// An error: a value that the pointers name is no number of tokens.
struct Unreadable;

/// Returns the sum of the numbers of tokens that these point at; `None`: there is none.
fn tokens(pointers: &Pointers, value: &Value) -> Result<Option<u64>, Unreadable> {
    let found = pointers.each(value).into_iter();
    let counts = found.filter(|found| !found.is_null());
    let mut sum: Option<u64> = None;
    for count in counts {
        let count = Count::of(&count.to_string()).0.ok_or(Unreadable)?;
        sum = Some(count.saturating_add(sum.unwrap_or(0)));
    }
    Ok(sum)
}
