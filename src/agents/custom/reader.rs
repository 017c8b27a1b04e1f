//! Reads a log as a mapping says.

use super::history::History;
use super::mapping::{Mapping, Speaker, Written};
use super::message::Message;
use super::pointer::Pointers;
use crate::agents::lenient::{self, Count};
use crate::agents::{Decoder, Input};
use crate::model::event::{
    Billed, Event, Kept, Key, Lane, Meta, Node, Parent, Part, Place, Reset, Sink, Usage,
};
use crate::model::{Gone, Source};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;

/// Numbers of seconds since 1970 are smaller than this; of milliseconds, larger.
const SECONDS: f64 = 1e11;

/// Reads one file.
#[derive(Clone)]
pub(super) struct CustomDecoder {
    mapping: &'static Mapping,
    sessions: HashMap<Lane, Session>,
    /// The session that came first: the file's own.
    first: Option<Key>,
    /// The session of the record before: those that name none go on with it.
    newest: Lane,
}

/// One session of a file.
#[derive(Clone, Default)]
struct Session {
    /// The facts that were told last.
    told: Meta,
    /// Tool names by call.
    tools: HashMap<Key, Box<str>>,
    /// The newest request: whose usage it is that stands in a record of its own.
    request: Option<Key>,
    history: History,
}

/// Whose, where and when a record is.
#[derive(Clone, Copy)]
pub(super) struct At {
    lane: Lane,
    place: Place,
    time: Option<Timestamp>,
}

impl At {
    pub(super) fn push(self, event: Event, out: &mut Sink<'_>) {
        out.push(self.lane, self.place, self.time, event);
    }

    pub(super) fn node(self, node: Node, out: &mut Sink<'_>) {
        self.push(Event::Node(Box::new(node)), out);
    }
}

impl Decoder for CustomDecoder {
    fn read(&mut self, input: Input<'_>, out: &mut Sink<'_>) {
        let (place, bytes) = match input {
            Input::Line(_, line) if line.trim_ascii().is_empty() => return,
            Input::Line(place, line) => (place, line),
            Input::Document(bytes) => (Place::default(), bytes),
        };
        let read = match (self.mapping.shape, input) {
            (Written::Lines, _) => self.line(place, bytes, out),
            (Written::Document, Input::Document(_)) => self.document(bytes, out),
            (Written::Document, Input::Line(..)) => match serde_json::from_slice(bytes) {
                Ok(record) => {
                    self.record(place, &record, out);
                    Ok(())
                }
                Err(error) => Err(error.to_string().into()),
            },
        };
        if let Err(why) = read {
            out.push(Lane::Main, place, None, Event::Unreadable(why));
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

    /// The session that a record is of, by the id that it names.
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

    fn line(&mut self, place: Place, line: &[u8], out: &mut Sink<'_>) -> Result<(), Box<str>> {
        let value: Value = lenient::object(line)?;
        let mapping = self.mapping;
        let at = At {
            lane: self.lane(&value),
            place,
            time: time(&mapping.record.time, &value),
        };
        let session = self.sessions.entry(at.lane).or_default();
        if let Some(word) = mapping
            .record
            .skip
            .iter()
            .find_map(|skip| skip.word(&value))
        {
            at.push(Event::Skipped(word.into()), out);
            return Ok(());
        }
        session.facts(&mapping, at, &value, out);
        match mapping.messages.as_ref() {
            None => session.record(&mapping, at, &value, out),
            Some(list) => match list.find(&value) {
                Some(Value::Array(list)) => {
                    let tools = &mut session.tools;
                    session.history.take(&mapping, at, list, tools, out);
                    session.answer(&mapping, at, &value, out);
                }
                _ => at.push(Event::Skipped("no list of messages".into()), out),
            },
        }
        Ok(())
    }

    fn document(&mut self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Box<str>> {
        let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let mapping = self.mapping;
        let list = match &mapping.messages {
            Some(pointer) => pointer.find(&value),
            None => Some(&value),
        };
        let Some(Value::Array(list)) = list else {
            return Err("no list of messages".into());
        };
        let whole = At {
            lane: Lane::Main,
            place: Place::default(),
            time: None,
        };
        let session = self.sessions.entry(Lane::Main).or_default();
        session.facts(&mapping, whole, &value, out);
        for (line, record) in (1..).zip(list) {
            let place = Place {
                line,
                ..Place::default()
            };
            self.record(place, record, out);
        }
        Ok(())
    }

    /// A record of a document's list.
    fn record(&mut self, place: Place, record: &Value, out: &mut Sink<'_>) {
        let mapping = self.mapping;
        let at = At {
            lane: Lane::Main,
            place,
            time: time(&mapping.record.time, record),
        };
        let mut skips = mapping.record.skip.iter();
        match skips.find_map(|skip| skip.word(record)) {
            Some(word) => at.push(Event::Skipped(word.into()), out),
            None => {
                let session = self.sessions.entry(at.lane).or_default();
                session.record(&mapping, at, record, out);
            }
        }
    }
}

impl Session {
    /// Tells facts about the session that are news.
    fn facts(&mut self, mapping: &Mapping, at: At, value: &Value, out: &mut Sink<'_>) {
        let keys = &mapping.session;
        // What a record does not say holds on.
        let fact = |of: &[&Pointers], told: &Option<Box<str>>| {
            let found = of.iter().find_map(|pointers| pointers.text(value));
            found.map(Into::into).or_else(|| told.clone())
        };
        let told = &self.told;
        let now = Meta {
            id: fact(&[&keys.id], &told.id),
            title: fact(&[&keys.title], &told.title),
            cwd: fact(&[&keys.cwd], &told.cwd),
            model: fact(&[&mapping.record.model, &keys.model], &told.model),
            version: fact(&[&keys.version], &told.version),
            parent: fact(&[&keys.parent], &told.parent),
            ..Meta::default()
        };
        if now != self.told {
            at.push(Event::Meta(Box::new(now.clone())), out);
            self.told = now;
        }
    }

    /// A record that is a message, a report of usage, or both.
    fn record(&mut self, mapping: &Mapping, at: At, value: &Value, out: &mut Sink<'_>) {
        let id = mapping.record.id.text(value);
        let key = id.as_deref().map(|id| Key::of_parts(&[&mapping.id, id]));
        let parent = match mapping.record.parent.text(value) {
            Some(parent) => Parent::Key(Key::of_parts(&[&mapping.id, &parent])),
            None if key.is_some() && !mapping.record.parent.is_empty() => Parent::Root,
            None => Parent::Previous,
        };
        match Message::read(mapping, value) {
            Ok(message) => {
                let part = message.part();
                let request =
                    (part == Part::Output).then(|| request_of(mapping, id.as_deref(), at));
                self.request = request.or(self.request);
                let node = Node {
                    key,
                    parent,
                    part,
                    request,
                    turn: part == Part::Input,
                    items: message.items(&mut self.tools, out),
                };
                if message.speaker == Speaker::Summary {
                    // The summary stands in the reset's own place.
                    at.push(Event::Reset(Box::new(reset(key))), out);
                    let parent = Parent::Previous;
                    at.node(Node { parent, ..node }, out);
                } else {
                    at.node(node, out);
                }
            }
            Err(why) => {
                // Numbers alone are no message, and meant to be so.
                if self.usage(mapping, value).is_none() {
                    at.push(Event::Skipped(why), out);
                }
                if key.is_some() {
                    let link = Node {
                        key,
                        parent,
                        ..Node::default()
                    };
                    at.node(link, out);
                }
            }
        }
        if let Some(usage) = self.usage(mapping, value) {
            let request = self
                .request
                .unwrap_or_else(|| request_of(mapping, None, at));
            at.push(Event::Usage(Box::new(Usage { request, ..usage })), out);
        }
    }

    /// What a request was answered, and what it cost.
    fn answer(&mut self, mapping: &Mapping, at: At, value: &Value, out: &mut Sink<'_>) {
        let request = request_of(mapping, mapping.record.id.text(value).as_deref(), at);
        let mut items = Vec::new();
        let replies = mapping.reply.elements(value).into_iter();
        for reply in replies.filter(|reply| !reply.is_null()) {
            match Message::read(mapping, reply) {
                Ok(message) => items.extend(message.items(&mut self.tools, out)),
                Err(why) => at.push(Event::Skipped(why), out),
            }
        }
        self.history.answered(at, request, items, out);
        if let Some(usage) = self.usage(mapping, value) {
            at.push(Event::Usage(Box::new(Usage { request, ..usage })), out);
        }
    }

    /// The numbers in a record, of no request yet; `None`: there are none.
    fn usage(&self, mapping: &Mapping, value: &Value) -> Option<Usage> {
        let keys = &mapping.usage;
        let prompt = tokens(&keys.prompt, value).filter(|prompt| *prompt > 0)?;
        let cached = tokens(&keys.cached, value).unwrap_or(0).min(prompt);
        let output = tokens(&keys.output, value);
        let reasoning = tokens(&keys.reasoning, value);
        Some(Usage {
            request: Key(0),
            model: self.told.model.clone(),
            prompt,
            cached,
            output,
            reasoning,
            source: Source::Reported,
            billed: Billed {
                input: prompt,
                cache_creation: 0,
                cache_read: cached,
                output: output.unwrap_or(0),
                reasoning: reasoning.unwrap_or(0),
            },
        })
    }
}

/// The request that a record of this id answers.
fn request_of(mapping: &Mapping, id: Option<&str>, at: At) -> Key {
    let agent = &mapping.id;
    match (id, at.time) {
        (Some(id), time) => {
            let time = time.map(|time| time.to_string());
            Key::of_parts(&[agent, "request", id, &time.unwrap_or_default()])
        }
        // Documents have no offsets, lines perhaps no numbers.
        (None, _) => {
            let place = at.place.offset.wrapping_add(at.place.line << 40);
            let place = if at.place.len > 0 {
                at.place.offset
            } else {
                place
            };
            Key::of_parts(&[agent, "request", &place.to_string()])
        }
    }
}

fn reset(key: Option<Key>) -> Reset {
    Reset {
        key,
        gone: Gone::Compaction,
        cause: "unknown".into(),
        before: None,
        after: None,
        kept: Kept::Nothing,
    }
}

/// A time as text, or as seconds or milliseconds since 1970.
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

/// The sum of the numbers of tokens that these point at; `None`: there is none.
fn tokens(pointers: &Pointers, value: &Value) -> Option<u64> {
    let found = pointers.each(value).into_iter();
    let counts = found.filter_map(|found| Count::deserialize(found).ok()?.0);
    counts.reduce(u64::saturating_add)
}
