//! Who has heard what.

use super::envelope::{Envelope, Given, Line, Payload, one, texts};
use crate::agents::lenient::{self, Piece};
use crate::model::event::{
    Billed, Event, ItemBuilder, Kept, Key, Lane, Meta, NewItem, Node, Part, Place, Reset, Sink,
    Usage,
};
use crate::model::{Gone, Kind, Role, Source};
use jiff::Timestamp;
use serde_json::value::RawValue;
use std::collections::{HashMap, HashSet};

/// A participant that has a context.
struct Listener {
    id: Box<str>,
    lane: Lane,
    /// Envelopes that it holds, in the order in which they came, with their tokens as it counts.
    held: Vec<(Key, u64)>,
    own: Own,
    /// Envelopes that it has heard.
    heard: HashSet<Key>,
}

impl Listener {
    fn hear(&mut self, key: Key, item: NewItem, part: Part, spot: Spot, out: &mut Sink<'_>) {
        self.heard.insert(key);
        self.held.push((key, own_tokens(&item)));
        push_node(self.lane, key, item, part, spot, out);
    }

    /// How many of the oldest envelopes hold so many tokens.
    fn oldest(&self, mut tokens: u64) -> usize {
        let gone = self.held.iter().take_while(|(_, own)| {
            let goes = tokens > 0;
            tokens = tokens.saturating_sub(*own);
            goes
        });
        gone.count()
    }

    fn forget(&mut self, loss: &Loss<'_>, key: Key, spot: Spot, out: &mut Sink<'_>) {
        self.held.drain(..loss.oldest.min(self.held.len()));
        let reset = Event::Reset(Box::new(Reset {
            key: Some(Key::of_number("reset", key.0)),
            gone: loss.gone,
            cause: loss.cause.into(),
            before: self
                .own
                .before
                .filter(|before| Some(*before) > self.own.newest),
            after: None,
            kept: Kept::Nodes(self.held.iter().map(|(key, _)| *key).collect()),
        }));
        out.push(self.lane, spot.place, spot.at, reset);
    }

    /// Hands on what it said after a compaction.
    fn settle(&mut self, spot: Spot, out: &mut Sink<'_>) {
        if let Some(usage) = self.own.after.take() {
            out.push(
                self.lane,
                spot.place,
                spot.at,
                Event::Usage(Box::new(usage)),
            );
        }
    }
}

/// A message as participants count it: four characters a token.
fn own_tokens(item: &NewItem) -> u64 {
    item.size.chars.div_ceil(4)
}

/// All participants of a space.
#[derive(Default)]
pub(super) struct Talk {
    listeners: Vec<Listener>,
    /// Requests and proposals, by their ids.
    asked: HashMap<Key, Asked>,
    /// Envelopes that were seen.
    seen: HashSet<Key>,
    /// What was said before anybody had a context.
    early: Vec<(Key, u64)>,
    space: Option<Box<str>>,
}

/// What was asked for.
#[derive(Clone)]
struct Asked {
    /// By whom.
    by: Box<str>,
    /// Which tool, where it is a call of one.
    tool: Option<Box<str>>,
}

/// What a context loses: how many of the oldest envelopes, and why.
struct Loss<'l> {
    gone: Gone,
    cause: &'l str,
    oldest: usize,
}

/// What a participant said of its own context, in tokens.
#[derive(Default)]
struct Own {
    newest: Option<u64>,
    before: Option<u64>,
    /// What it said after a compaction on request, until it has told how much that took.
    after: Option<Usage>,
}

/// Where and when an envelope stands.
#[derive(Clone, Copy)]
struct Spot {
    place: Place,
    at: Option<Timestamp>,
}

/// Whether somebody is a person, by the names that people are given.
fn is_person(id: &str) -> bool {
    ["human", "user"].iter().any(|name| id.starts_with(name))
}

fn is_gateway(id: &str) -> bool {
    id.is_empty() || id == "gateway" || id == "system" || id.starts_with("system:")
}

impl Talk {
    pub(super) fn line(&mut self, place: Place, line: &[u8], out: &mut Sink<'_>) {
        let line: Line<'_> = match lenient::object(line) {
            Ok(line) => line,
            Err(why) => return out.push(Lane::Main, place, None, Event::Unreadable(why)),
        };
        let at = line.timestamp.time();
        let Some(envelope) = one(&line.envelope) else {
            let kind = line.event.get().unwrap_or("line without an envelope");
            return out.push(Lane::Main, place, at, Event::Skipped(kind.into()));
        };
        if !matches!(line.event.or_empty(), "received" | "delivered") {
            let kind = line.event.get().unwrap_or("no event");
            return out.push(Lane::Main, place, at, Event::Skipped(kind.into()));
        }
        self.space = self.space.take().or(line.space_id.boxed());
        let at = at.or(envelope.ts.time());
        let id = envelope.id.get().or(line.id.get());
        let key = id.map_or(Key::of_number("mew", place.offset), Key::of);
        self.envelope(key, envelope, Spot { place, at }, out);
    }

    fn envelope(&mut self, key: Key, envelope: &Envelope<'_>, spot: Spot, out: &mut Sink<'_>) {
        let from = envelope.from.or_empty();
        let nothing = Payload::default();
        let payload = one(&envelope.payload).unwrap_or(&nothing);
        let is_new = self.seen.insert(key);
        if is_new && envelope.kind.or_empty() != "participant/compact-done" {
            let waiting = self.listeners.iter_mut().find(|one| &*one.id == from);
            waiting.into_iter().for_each(|one| one.settle(spot, out));
        }
        let speaks = match envelope.kind.or_empty() {
            "chat" | "reasoning/thought" | "mcp/request" | "mcp/proposal" => true,
            "participant/status" => payload.max_tokens.or_zero() > 0,
            _ => false,
        };
        if speaks {
            self.listener(from, spot, out);
        }
        match envelope.kind.or_empty() {
            "chat" => {
                for name in texts(&envelope.to) {
                    self.listener(name, spot, out);
                }
                self.tell_all(key, from, spot, out, |role, out| {
                    out.item(role, Kind::Text)
                        .text(payload.text.or_empty())
                        .done()
                });
            }
            "reasoning/thought" => {
                let text = payload.reasoning.get().or(payload.message.get());
                let text = text.or(payload.text.get()).unwrap_or_default();
                let item = out.item(Role::Assistant, Kind::Thinking).text(text).done();
                self.tell(key, from, item, Part::Output, spot, out);
            }
            "mcp/request" | "mcp/proposal" => self.ask(key, envelope, payload, spot, out),
            "mcp/response" => self.result(key, envelope, payload, spot, out),
            "participant/status" if is_new => self.status(key, envelope, payload, spot, out),
            "participant/compact-done" if is_new => {
                let freed = payload.freed_messages.or_zero();
                let loss = Loss {
                    gone: Gone::Compaction,
                    cause: "manual",
                    oldest: usize::try_from(freed).unwrap_or(usize::MAX),
                };
                if let Some(listener) = self.listener(from, spot, out) {
                    if payload.skipped != Some(true) {
                        listener.forget(&loss, key, spot, out);
                    }
                    listener.settle(spot, out);
                }
            }
            kind @ ("participant/clear" | "participant/restart") if is_new => {
                let loss = Loss {
                    gone: Gone::Clear,
                    cause: kind.trim_start_matches("participant/"),
                    oldest: usize::MAX,
                };
                for name in texts(&envelope.to) {
                    self.reset(key, name, &loss, spot, out);
                }
            }
            "participant/forget" if is_new => {
                for name in texts(&envelope.to) {
                    self.forget(name, payload, spot, out);
                }
            }
            kind if is_new => {
                let kind = if kind.is_empty() { "no kind" } else { kind };
                out.push(Lane::Main, spot.place, spot.at, Event::Skipped(kind.into()));
            }
            _ => {}
        }
    }

    /// The participant of this name, if it has a context: it begins when it is first seen.
    fn listener(&mut self, id: &str, spot: Spot, out: &mut Sink<'_>) -> Option<&mut Listener> {
        if is_person(id) || is_gateway(id) {
            return None;
        }
        let known = self
            .listeners
            .iter()
            .position(|listener| &*listener.id == id);
        let ix = known.unwrap_or_else(|| {
            let lane = match self.listeners.is_empty() {
                true => Lane::Main,
                false => Lane::Side(Key::of(id)),
            };
            let space = self.space.as_deref().unwrap_or("space");
            let meta = Meta {
                id: Some(format!("{space}/{id}").into()),
                title: Some(id.into()),
                ..Meta::default()
            };
            out.push(lane, spot.place, spot.at, Event::Meta(Box::new(meta)));
            // Whoever comes first has heard what was said before.
            let early = std::mem::take(&mut self.early);
            self.listeners.push(Listener {
                id: id.into(),
                lane,
                heard: early.iter().map(|(key, _)| *key).collect(),
                held: early,
                own: Own::default(),
            });
            self.listeners.len() - 1
        });
        self.listeners.get_mut(ix)
    }

    /// Everybody hears what was said.
    fn tell_all(
        &mut self,
        key: Key,
        from: &str,
        spot: Spot,
        out: &mut Sink<'_>,
        item: impl Fn(Role, &mut Sink<'_>) -> NewItem,
    ) {
        let is_early = self.listeners.is_empty();
        if is_early && self.early.iter().all(|(said, _)| *said != key) {
            let item = item(Role::User, out);
            self.early.push((key, own_tokens(&item)));
            push_node(Lane::Main, key, item, Part::Input, spot, out);
        }
        for listener in &mut self.listeners {
            let (role, part) = match &*listener.id == from {
                true => (Role::Assistant, Part::Output),
                false => (Role::User, Part::Input),
            };
            if !listener.heard.contains(&key) {
                listener.hear(key, item(role, out), part, spot, out);
            }
        }
    }

    /// Somebody with a context hears an item.
    fn tell(
        &mut self,
        key: Key,
        to: &str,
        item: NewItem,
        part: Part,
        spot: Spot,
        out: &mut Sink<'_>,
    ) {
        if let Some(listener) = self.listener(to, spot, out)
            && !listener.heard.contains(&key)
        {
            listener.hear(key, item, part, spot, out);
        }
    }

    /// A tool is called, by whoever may, or a call is proposed to somebody who may.
    fn ask(
        &mut self,
        key: Key,
        envelope: &Envelope<'_>,
        payload: &Payload<'_>,
        spot: Spot,
        out: &mut Sink<'_>,
    ) {
        let from = envelope.from.or_empty();
        // Who fulfils a proposal asks in the name of whoever proposed it.
        let proposed = texts(&envelope.correlation_id).next().map(Key::of);
        let asked = proposed.and_then(|id| self.asked.get(&id).cloned());
        let is_own = asked.is_none();
        let params = one(&payload.params).filter(|params| params.name.get().is_some());
        let asked = asked.unwrap_or_else(|| Asked {
            by: from.into(),
            tool: params.and_then(|params| params.name.boxed()),
        });
        self.asked.insert(key, asked);
        let Some(params) = params else {
            return;
        };
        if is_own {
            let item = out
                .item(Role::Assistant, Kind::ToolCall)
                .tool(params.name.get())
                .call(envelope.id.get());
            let item = match params.arguments {
                Some(arguments) => lenient::raw(item, arguments),
                None => item,
            };
            let item = item.done();
            self.tell(key, from, item, Part::Output, spot, out);
        }
    }

    /// What a tool gave back, or the list of somebody's tools.
    fn result(
        &mut self,
        key: Key,
        envelope: &Envelope<'_>,
        payload: &Payload<'_>,
        spot: Spot,
        out: &mut Sink<'_>,
    ) {
        let request = texts(&envelope.correlation_id).next();
        let asked = request.and_then(|id| self.asked.get(&Key::of(id)).cloned());
        let Some(result) = payload.result.or(payload.error) else {
            return;
        };
        // Read from the middle, the request is not there: whoever is addressed has asked.
        let addressed = texts(&envelope.to).find(|to| !is_person(to) && !is_gateway(to));
        // Whose tool it is tells the result where the call is not there.
        let tool = asked.as_ref().and_then(|asked| asked.tool.clone());
        let tool = tool.as_deref().or(envelope.from.get());
        let to = asked.as_ref().map(|asked| &*asked.by).or(addressed);
        let to: Option<Box<str>> = to.map(Into::into);
        if let Some(to) = &to {
            self.listener(to, spot, out);
        }
        let is_list = result.get().trim_start().starts_with(r#"{"tools""#);
        let item = match is_list {
            true => lenient::raw(out.item(Role::Container, Kind::ToolList), result),
            false => {
                let item = out.item(Role::Tool, Kind::ToolResult).call(request);
                given(item.tool(tool), result)
            }
        };
        let item = item.done();
        let part = if is_list {
            Part::Injected
        } else {
            Part::Result
        };
        match to {
            Some(to) => self.tell(key, &to, item, part, spot, out),
            None => push_node(Lane::Main, key, item, part, spot, out),
        }
    }

    /// What a participant says of its own context.
    fn status(
        &mut self,
        key: Key,
        envelope: &Envelope<'_>,
        payload: &Payload<'_>,
        spot: Spot,
        out: &mut Sink<'_>,
    ) {
        let Some(most) = payload.max_tokens.0.filter(|most| *most > 0) else {
            return;
        };
        let Some(listener) = self.listener(envelope.from.or_empty(), spot, out) else {
            return;
        };
        let lane = listener.lane;
        let push = |out: &mut Sink<'_>, event| out.push(lane, spot.place, spot.at, event);
        let meta = Meta {
            window: Some(most),
            ..Meta::default()
        };
        push(out, Event::Meta(Box::new(meta)));
        let Some(tokens) = payload.tokens.0 else {
            return;
        };
        let before = listener.own.newest.unwrap_or(0);
        listener.own = Own {
            newest: Some(tokens),
            before: listener.own.newest,
            after: None,
        };
        let usage = Usage {
            request: key,
            model: None,
            prompt: tokens,
            cached: 0,
            output: None,
            reasoning: None,
            source: Source::Agent,
            billed: Billed::default(),
        };
        // Whoever was asked to forget says so in the answer, which comes behind its new size.
        let asked = texts(&envelope.correlation_id).next().is_some();
        let compacted = payload.status.get() == Some("compacted");
        if compacted && asked {
            listener.own.after = Some(usage);
            return;
        }
        if compacted && tokens < before {
            let loss = Loss {
                gone: Gone::Compaction,
                cause: "auto",
                oldest: listener.oldest(before - tokens),
            };
            listener.forget(&loss, key, spot, out);
        }
        push(out, Event::Usage(Box::new(usage)));
        if payload.status.get() == Some("near_limit") {
            let item = out.item(Role::Container, Kind::Reminder);
            let label = format!("near limit: {tokens} of {most} tokens");
            let item = item.label(&label).done();
            push_node(lane, key, item, Part::Injected, spot, out);
            push(
                out,
                Event::Cleared {
                    nodes: vec![key],
                    calls: Vec::new(),
                },
            );
        }
    }

    fn reset(&mut self, key: Key, of: &str, loss: &Loss<'_>, spot: Spot, out: &mut Sink<'_>) {
        if let Some(listener) = self.listener(of, spot, out) {
            listener.forget(loss, key, spot, out);
        }
    }

    fn forget(&mut self, of: &str, payload: &Payload<'_>, spot: Spot, out: &mut Sink<'_>) {
        let Some(listener) = self.listener(of, spot, out) else {
            return;
        };
        let all = listener.held.len();
        // Not said: half of them.
        let entries = payload.entries.0.map(usize::try_from);
        let entries = entries.map_or(all.div_ceil(2), |n| n.unwrap_or(all).min(all));
        let gone: Vec<(Key, u64)> = match payload.direction.get() {
            Some("newest") => listener.held.split_off(all - entries),
            _ => listener.held.drain(..entries).collect(),
        };
        let nodes = gone.into_iter().map(|(key, _)| key).collect();
        let cleared = Event::Cleared {
            nodes,
            calls: Vec::new(),
        };
        out.push(listener.lane, spot.place, spot.at, cleared);
    }
}

fn push_node(lane: Lane, key: Key, item: NewItem, part: Part, spot: Spot, out: &mut Sink<'_>) {
    let node = Node {
        key: Some(key),
        part,
        turn: part == Part::Input,
        items: vec![item],
        ..Node::default()
    };
    out.push(lane, spot.place, spot.at, Event::Node(Box::new(node)));
}

/// Adds the texts of a result; the result as it is where it has none of its own.
fn given<'s, 'm>(item: ItemBuilder<'s, 'm>, result: &RawValue) -> ItemBuilder<'s, 'm> {
    let given: Given<'_> = serde_json::from_str(result.get()).unwrap_or_default();
    let texts = given.content.0.iter().filter_map(|piece| match piece {
        Piece::Text(text) => Some(&**text),
        Piece::Part(part) => part.text.get(),
    });
    let mut texts = texts.peekable();
    match texts.peek() {
        Some(_) => texts.fold(item, ItemBuilder::text),
        None => lenient::raw(item, result),
    }
}
