//! The participants of a space, and which envelopes each of them has in its context.

use super::MEW;
use super::participant::{CompactedContext, Participant, own_tokens};
use super::wire::{Envelope, Line, Payload, ToolResult};
use decode::lenient::{self, LostFields, Text};
use decode::openai;
use formats::Decoder;
use jiff::Timestamp;
use model::event::{
    Cause, Conversation, Event, EventSink, ItemBuilder, Key, Meta, NewItem, Node, Part, Place,
    Reset, RetainedItems, Usage,
};
use model::{Kind, LeaveReason, Role};
use std::collections::{HashMap, HashSet};

/// Decodes the history of one space, for all of its participants.
#[derive(Default)]
pub(super) struct Space {
    participants: Vec<Participant>,
    /// Requests and proposals, by their ids.
    requests: HashMap<Key, Request>,
    /// Envelopes that were read.
    seen: HashSet<Key>,
    /// Chat from before the first participant had a context.
    early: Vec<Chat>,
    /// Chat so far, while somebody may yet turn out to have a context, and who received it.
    chats: Vec<Chat>,
    delivered: HashMap<Box<str>, Vec<usize>>,
    /// Agents whose name is a person's name.
    agents: HashSet<Box<str>>,
    /// True if lines show which of the received envelopes were delivered or rejected.
    shows_fates: bool,
    /// An envelope that was received: its line, where that is, and its id.
    received: Option<(Place, String, Option<Key>)>,
    id: Option<Box<str>>,
}

/// A chat message.
#[derive(Clone)]
struct Chat {
    key: Key,
    from: Box<str>,
    item: NewItem,
    place: Place,
    at: Option<Timestamp>,
}

/// A request or a proposal.
#[derive(Clone)]
struct Request {
    /// The participant whose request it is.
    by: Box<str>,
    /// The tool, where it is a call of one.
    tool: Option<Box<str>>,
}

/// Returns true if a participant is a person, by the names that people are given.
fn is_person(id: &str) -> bool {
    ["human", "user"].iter().any(|name| id.starts_with(name))
}

fn is_gateway(id: &str) -> bool {
    id.is_empty() || id == "gateway" || id == "system" || id.starts_with("system:")
}

impl Decoder for Space {
    /// Takes in a line. What was received is taken in with the next one: it may say that the gateway
    /// rejected it.
    fn read_line(&mut self, text: &str, out: &mut EventSink<'_>) {
        let lost = LostFields::default();
        let line: Line<'_> = match lenient::parse(text, &lost) {
            Ok(line) => line,
            Err(why) => return out.unreadable(why),
        };
        out.set_time(line.timestamp.time());
        lost.report(out);
        let of_envelope = line.envelope.as_ref().map(|envelope| &envelope.id);
        let id = line.id.key().or(of_envelope.and_then(Text::key));
        let event = line.event.or_empty();
        self.shows_fates |= matches!(event, "delivered" | "rejected");
        let place = out.place();
        if let Some((before, held, held_id)) = self.received.take() {
            if event == "rejected" && held_id == id {
                self.seen.extend(id)
            } else {
                out.begin(before);
                let held = lenient::parse(&held, &LostFields::default());
                held.into_iter().for_each(|line| self.read(&line, out));
                out.begin(place);
            }
        }
        let may_be_rejected = event == "received" && self.shows_fates && id.is_some();
        if may_be_rejected && id.is_some_and(|id| !self.seen.contains(&id)) {
            self.received = Some((place, text.to_owned(), id))
        } else {
            self.read(&line, out)
        }
    }
}

impl Space {
    fn read(&mut self, line: &Line<'_>, out: &mut EventSink<'_>) {
        out.set_time(line.timestamp.time());
        let Some(envelope) = &line.envelope else {
            return MEW.pass_over(line.event.get().unwrap_or("(no envelope)"), out);
        };
        if !matches!(line.event.or_empty(), "received" | "delivered") {
            return MEW.pass_over(line.event.get().unwrap_or("(no event)"), out);
        }
        self.id = self.id.take().or(line.space_id.boxed());
        out.set_time(out.time().or(envelope.ts.time()));
        let id = envelope.id.key().or(line.id.key());
        let key = id.unwrap_or(Key::of_number("mew", out.place().id()));
        self.envelope(key, envelope, out);
        if let ("delivered", Some(to)) = (line.event.or_empty(), line.participant.get()) {
            self.deliver(key, to);
        }
    }

    fn envelope(&mut self, key: Key, envelope: &Envelope<'_>, out: &mut EventSink<'_>) {
        let (from, kind) = (envelope.from.or_empty(), envelope.kind.or_empty());
        let payload = &envelope.payload;
        let is_new = self.seen.insert(key);
        if is_new && kind != "participant/compact-done" {
            let sender = self.participants.iter_mut().find(|one| &*one.id == from);
            sender.into_iter().for_each(|one| one.flush(out));
        }
        let is_participant = match kind {
            "chat" | "reasoning/thought" | "mcp/request" | "mcp/proposal" => true,
            "participant/status" => payload.max_tokens.0.is_some(),
            _ => false,
        };
        // People neither think aloud nor count tokens.
        let is_agent = matches!(kind, "reasoning/thought" | "participant/status");
        if is_participant && is_agent && is_person(from) {
            self.agents.insert(from.into());
        }
        if is_participant {
            self.participant(from, out);
        }
        match kind {
            "chat" => {
                for name in envelope.to.iter() {
                    self.participant(name, out);
                }
                self.chat(key, from, payload.text.or_empty(), out);
            }
            "reasoning/thought" => {
                let text = payload.reasoning.get().or(payload.message.get());
                let text = text.or(payload.text.get()).unwrap_or_default();
                let item = out.item(Role::Assistant, Kind::Thinking).text(text).done();
                self.add(key, from, item, Part::Output, out);
            }
            "mcp/request" | "mcp/proposal" => self.request(key, envelope, out),
            "mcp/response" => self.result(key, envelope, out),
            "participant/status" if is_new => self.status(key, envelope, out),
            "participant/compact-done" if is_new => {
                if let Some(participant) = self.participant(from, out) {
                    if payload.skipped != Some(true) {
                        participant.compact(payload, key, out);
                    }
                    participant.flush(out);
                }
            }
            "participant/clear" | "participant/restart" if is_new => {
                for name in envelope.to.iter() {
                    if let Some(participant) = self.participant(name, out) {
                        let cause = Cause::named(kind.trim_start_matches("participant/"));
                        let reset = Reset {
                            before: participant.tokens,
                            ..Reset::new(LeaveReason::Clear, cause, RetainedItems::Nothing)
                        };
                        participant.reset(reset, usize::MAX, key, out);
                    }
                }
            }
            "participant/forget" if is_new => {
                for name in envelope.to.iter() {
                    self.forget(name, payload, out);
                }
            }
            "" if is_new => out.unknown("(no kind)"),
            kind if is_new => MEW.pass_over(kind, out),
            _ => {}
        }
    }

    /// Returns the participant of this name, if it has a context: it begins when it is first seen.
    fn participant(&mut self, id: &str, out: &mut EventSink<'_>) -> Option<&mut Participant> {
        if is_gateway(id) || is_person(id) && !self.agents.contains(id) {
            return None;
        }
        let known = self.participants.iter().position(|one| &*one.id == id);
        let ix = known.unwrap_or_else(|| {
            let conversation = if self.participants.is_empty() {
                Conversation::Main
            } else {
                Conversation::Side(Key::of(id))
            };
            let mut new = Participant::new(id, conversation);
            let (place, at) = (out.place(), out.time());
            // The first one has received what was sent before; that is emitted already, as its own
            // messages are, but for who wrote them.
            for chat in std::mem::take(&mut self.early) {
                new.hold(chat.key, own_tokens(&chat.item));
                if *chat.from == *id {
                    chat.emit(&new, out);
                }
            }
            for ix in self.delivered.remove(id).unwrap_or_default() {
                let chat = &self.chats[ix];
                if !new.received.contains(&chat.key) {
                    new.hold(chat.key, own_tokens(&chat.item));
                    chat.emit(&new, out);
                }
            }
            out.begin(place);
            out.set_time(at);
            out.set_conversation(conversation);
            out.meta(new.meta(self.id.as_deref().unwrap_or("space")));
            self.participants.push(new);
            self.participants.len() - 1
        });
        self.participants.get_mut(ix)
    }

    /// Notes who received a chat message, where it is not known yet whether he has a context.
    fn deliver(&mut self, key: Key, to: &str) {
        let newest = self.chats.last().filter(|chat| chat.key == key);
        let is_known = self.participants.iter().any(|one| *one.id == *to);
        if newest.is_some() && !is_known && !is_gateway(to) {
            let newest = self.chats.len() - 1;
            let delivered = self.delivered.entry(to.into()).or_default();
            if delivered.last() != Some(&newest) {
                delivered.push(newest);
            }
        }
    }

    /// Takes in a chat message, which everybody receives.
    fn chat(&mut self, key: Key, from: &str, text: &str, out: &mut EventSink<'_>) {
        let is_new = self.chats.last().is_none_or(|chat| chat.key != key);
        if is_new && self.early.iter().all(|early| early.key != key) {
            let chat = Chat {
                key,
                from: from.into(),
                item: out.item(Role::User, Kind::Text).text(text).done(),
                place: out.place(),
                at: out.time(),
            };
            if self.participants.is_empty() {
                self.early.push(chat.clone());
                out.set_conversation(Conversation::Main);
                out.node(Node::new(Some(key), Part::Input, vec![chat.item.clone()]));
            }
            self.chats.push(chat);
        }
        for participant in &mut self.participants {
            let (role, part) = participant.class(from);
            if !participant.received.contains(&key) {
                let item = out.item(role, Kind::Text).text(text).done();
                participant.add(key, item, part, out);
            }
        }
    }

    /// Adds an item to the context of one participant.
    fn add(&mut self, key: Key, to: &str, item: NewItem, part: Part, out: &mut EventSink<'_>) {
        if let Some(participant) = self.participant(to, out)
            && !participant.received.contains(&key)
        {
            participant.add(key, item, part, out);
        }
    }

    /// A tool is called, by whoever may, or a call is proposed to somebody who may.
    fn request(&mut self, key: Key, envelope: &Envelope<'_>, out: &mut EventSink<'_>) {
        let from = envelope.from.or_empty();
        let params = &envelope.payload.params;
        // Whoever fulfils a proposal makes the request for whoever proposed it.
        let proposal = envelope.correlation_id().map(Key::of);
        let proposed = proposal.and_then(|id| self.requests.get(&id).cloned());
        let is_own = proposed.is_none();
        let request = proposed.unwrap_or_else(|| Request {
            by: from.into(),
            tool: params.name.boxed(),
        });
        self.requests.insert(key, request);
        if !is_own || params.name.get().is_none() {
            return;
        }
        let item = out
            .item(Role::Assistant, Kind::ToolCall)
            .tool(params.name.get())
            .call(envelope.id.get());
        let item = lenient::raw(item, params.arguments).done();
        self.add(key, from, item, Part::Output, out);
    }

    /// Adds the result of a tool, or the list of a participant's tools.
    fn result(&mut self, key: Key, envelope: &Envelope<'_>, out: &mut EventSink<'_>) {
        let Some(result) = envelope.payload.result else {
            return;
        };
        let call = envelope.correlation_id();
        let request = call.and_then(|id| self.requests.get(&Key::of(id)).cloned());
        let (by, tool) = request.map_or((None, None), |request| (Some(request.by), request.tool));
        // Read from the middle, the request is missing: it came from whoever is addressed, and the tool
        // is named by its owner.
        let mut addressed = envelope.to.iter();
        let addressed = addressed.find(|to| !is_person(to) && !is_gateway(to));
        let tool = tool.as_deref().or(envelope.from.get());
        let to = by.or_else(|| addressed.map(Into::into));
        if let Some(to) = &to {
            self.participant(to, out);
        }
        let is_list = result.get().trim_start().starts_with(r#"{"tools""#);
        let (item, part) = if is_list {
            let item = out.item(Role::Container, Kind::ToolList);
            (lenient::tools(item, result), Part::Injected)
        } else {
            let object = Some(result).filter(|result| result.get().starts_with('{'));
            let parts: ToolResult<'_> = lenient::value(object, "result", out);
            let mut texts = openai::texts(&parts.content).peekable();
            let item = out.tool_result(tool, call);
            let item = match texts.peek() {
                Some(_) => texts.fold(item, ItemBuilder::text),
                None => lenient::raw(item, result),
            };
            (item, Part::Result)
        };
        let item = item.done();
        match to {
            Some(to) => self.add(key, &to, item, part, out),
            None => {
                out.set_conversation(Conversation::Main);
                out.node(Node::new(Some(key), part, vec![item]));
            }
        }
    }

    /// Takes in a participant's own count of its context.
    fn status(&mut self, key: Key, envelope: &Envelope<'_>, out: &mut EventSink<'_>) {
        let payload = &envelope.payload;
        let Some(most) = payload.max_tokens.0 else {
            return;
        };
        let Some(participant) = self.participant(envelope.from.or_empty(), out) else {
            return;
        };
        out.set_conversation(participant.conversation);
        out.meta(Meta::of_window(Some(most)));
        let Some(tokens) = payload.tokens.get() else {
            return;
        };
        let before = participant.tokens.replace(tokens);
        participant.compacted = None;
        let usage = Usage::estimated(key, tokens);
        // A compaction on request is reported in an envelope that follows on the new size, or comes before.
        let is_requested = envelope.correlation_id().is_some();
        let is_compacted = payload.status.get() == Some("compacted");
        if is_compacted && is_requested && before != Some(tokens) {
            participant.compacted = Some(CompactedContext { before, usage });
            return;
        }
        let freed = before.unwrap_or(0).saturating_sub(tokens);
        if is_compacted && freed > 0 {
            let reset = Reset {
                before,
                ..Reset::compaction(Cause::Automatic, RetainedItems::Nothing)
            };
            participant.reset(reset, participant.oldest(freed), key, out);
        }
        out.usage(usage);
        if payload.status.get() == Some("near_limit") {
            let item = out.item(Role::Container, Kind::Reminder);
            let label = format!("near limit: {tokens} of {most} tokens");
            let item = item.label(&label).done();
            out.node(Node::new(Some(key), Part::Injected, vec![item]));
            out.emit(Event::cleared_node(key));
        }
    }

    fn forget(&mut self, of: &str, payload: &Payload<'_>, out: &mut EventSink<'_>) {
        let Some(participant) = self.participant(of, out) else {
            return;
        };
        let all = participant.held.len();
        // Without a number: half of them.
        let entries = payload.entries.0.map(usize::try_from);
        let entries = entries.map_or(all.div_ceil(2), |n| n.unwrap_or(all).min(all));
        let gone: Vec<(Key, u64)> = match payload.direction.get() {
            Some("newest") => participant.held.split_off(all - entries),
            _ => participant.held.drain(..entries).collect(),
        };
        out.set_conversation(participant.conversation);
        let gone = gone.into_iter().map(|(key, _)| key);
        out.emit(Event::cleared(gone.collect(), Vec::new()));
    }
}

impl Chat {
    /// Emits it for a participant that received it before it was known to have a context.
    fn emit(&self, to: &Participant, out: &mut EventSink<'_>) {
        let (role, part) = to.class(&self.from);
        let item = NewItem {
            role,
            ..self.item.clone()
        };
        let node = Node::new(Some(self.key), part, vec![item]);
        out.push(
            to.conversation,
            self.place,
            self.at,
            Event::Node(Box::new(node)),
        );
    }
}
