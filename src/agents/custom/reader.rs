//! Decodes a log by a mapping.

use super::mapping::{Author, LogForm, Mapping, SessionKeys, UsageKeys};
use super::message::{Message, NoMessage};
use super::pointer::Pointers;
use decode::anthropic::{ToolNames, part_of};
use decode::bodies::Numbers;
use decode::lenient::{self, Count, LostFields, Raw, Window};
use decode::prompts::{Block, Prompt, PromptHistory, mark_turns};
use decode::time::Time;
use formats::Decoder;
use jiff::Timestamp;
use model::event::{
    BilledUsage, Cause, Conversation, CostOf, Event, EventSink, Key, Meta, NewItem, Node, Parent,
    Part, Place, Reset, RetainedItems, Usage,
};
use model::window::matches;
use model::{Kind, LeaveReason};
use std::collections::HashMap;

/// Decodes one file.
#[derive(Clone)]
pub(super) struct CustomDecoder {
    mapping: &'static Mapping,
    sessions: HashMap<Conversation, Session>,
    /// The session that came first: the file's own.
    first: Option<Key>,
    /// The session of the previous record: those that name none continue it.
    newest: Conversation,
}

/// One session of a file.
#[derive(Clone, Default)]
struct Session {
    /// The newest facts.
    known: Meta,
    tools: ToolNames,
    /// The newest request, for usage that is in a record of its own.
    request: Option<Key>,
    /// True if the next record of the model goes on with its response.
    is_open: bool,
    /// True if there is anything in the context.
    has_begun: bool,
    has_answered: bool,
    conversation: PromptHistory,
}

impl Decoder for CustomDecoder {
    /// There is something before the end that a record may clear.
    fn skip_to_end(&mut self, _head: &Meta) {
        let main = self.sessions.entry(Conversation::Main).or_default();
        main.has_begun = true;
    }

    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let value = match lenient::raw_object(line) {
            Ok(value) => value,
            Err(why) => return out.unreadable(why),
        };
        let (conversation, lost) = (self.conversation(value), LostFields::default());
        out.set_conversation(conversation);
        self.reader(conversation, &lost).line(value, out);
        lost.report(out);
    }

    fn read_document(&mut self, document: &str, out: &mut EventSink<'_>) {
        match serde_json::from_str(document) {
            Ok(value) => self.document(value, out),
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
            newest: Conversation::Main,
        }
    }

    /// The session of a record, by the id that it names.
    fn conversation(&mut self, value: Raw<'_>) -> Conversation {
        let id = self.mapping.session.id.id(value, &LostFields::default());
        if let Some(id) = id.filter(|_| self.mapping.holds_several()) {
            let key = Key::of(&id);
            self.newest = match *self.first.get_or_insert(key) {
                first if first == key => Conversation::Main,
                _ => Conversation::Side(key),
            };
        }
        self.newest
    }

    fn reader<'r>(&'r mut self, conversation: Conversation, lost: &'r LostFields) -> Reader<'r> {
        Reader {
            mapping: self.mapping,
            session: self.sessions.entry(conversation).or_default(),
            lost,
        }
    }

    fn document(&mut self, value: Raw<'_>, out: &mut EventSink<'_>) {
        let list = match &self.mapping.messages {
            Some(pointer) => pointer.find(value),
            None => Some(value),
        };
        let mut records = Vec::new();
        let read = list.map(|list| json::each_element(list.get(), &mut |one| records.push(one)));
        if !matches!(read, Some(Ok(()))) {
            let name = self.mapping.messages.as_ref().filter(|_| read.is_some());
            name.into_iter()
                .for_each(|name| out.emit(Event::Lost(name.name())));
            return out.unreadable("no messages");
        }
        let (keys, lost) = (&self.mapping.session, LostFields::default());
        let mut reader = self.reader(Conversation::Main, &lost);
        reader.facts(Some(keys), value, out);
        reader.ledger(value, out);
        lost.report(out);
        for (line, record) in (1..).zip(records) {
            out.begin(Place::of_line(line));
            self.read_line(record.get(), out);
        }
    }
}

/// Reads a record of a session.
struct Reader<'r> {
    mapping: &'static Mapping,
    session: &'r mut Session,
    lost: &'r LostFields,
}

impl Reader<'_> {
    /// A line of a log, or a record of a document's list.
    fn line(&mut self, value: Raw<'_>, out: &mut EventSink<'_>) {
        let mapping = self.mapping;
        let is_line = mapping.shape == LogForm::Lines;
        out.set_time(self.time(value));
        if let Some(word) = mapping.skipped(value) {
            return out.skip(word.to_owned());
        }
        let has_facts = self.facts(is_line.then_some(&mapping.session), value, out);
        let is_header = || {
            let is_bare = has_facts && mapping.is_without_message(value, self.lost);
            is_bare && self.usage(&mapping.usage, value).is_none()
        };
        match mapping.messages.as_ref().filter(|_| is_line) {
            None if is_line && is_header() => out.skip("facts about the session"),
            None => self.record(value, out),
            Some(list) => match list.find(value) {
                Some(list) => self.request(list, value, out),
                None => out.unknown("no list of messages"),
            },
        }
    }

    /// Emits the costs in the document's list of numbers. Those of a message that has its own take their place.
    fn ledger(&mut self, document: Raw<'_>, out: &mut EventSink<'_>) {
        let Some(keys) = &self.mapping.ledger else {
            return;
        };
        let lists = keys.list.read(document, self.lost, |list| {
            let mut entries = Vec::new();
            let read = json::each_element(list.get(), &mut |one| entries.push(one));
            read.is_ok().then_some(entries)
        });
        for (nth, entry) in (0..).zip(lists.into_iter().flatten()) {
            out.set_time(self.time(entry));
            let Some(usage) = self.usage(&keys.usage, entry) else {
                continue;
            };
            let message = keys.message.id(entry, self.lost);
            out.emit(Event::Billed {
                request: match &message {
                    Some(id) => request_of(self.mapping, Some(id), out),
                    None => Key::of_number("ledger", nth),
                },
                billed: usage.billed,
                of: CostOf::Response,
                model: self
                    .mapping
                    .record
                    .model
                    .text(entry, self.lost)
                    .map(Box::from),
            });
        }
    }

    /// When the record was written.
    fn time(&self, value: Raw<'_>) -> Option<Timestamp> {
        let read = |value: Raw<'_>| {
            let lost = LostFields::default();
            let number = || json::string(value.get());
            let time = lost.at("time").read::<Time>(value);
            time.or_else(|| lost.at("time").read(Raw::of(&number()?)?))
        };
        let times = self.mapping.record.time.read(value, self.lost, read);
        times.first().map(|time| time.0)
    }

    /// Emits the facts about the session, where they have changed. What a record leaves out stays. Returns true if the record
    /// has one.
    fn facts(
        &mut self,
        of: Option<&'static SessionKeys>,
        value: Raw<'_>,
        out: &mut EventSink<'_>,
    ) -> bool {
        let (lost, record) = (self.lost, &self.mapping.record);
        let text = |places: &'static Pointers| places.text(value, lost).map(Box::from);
        let id = |places: &'static Pointers| places.id(value, lost).map(Box::from);
        let size = |places: &'static Pointers| {
            let read = |value: Raw<'_>| LostFields::default().at("window").read::<Window>(value);
            places.read(value, lost, read).first()?.0
        };
        let model = text(&record.model).or_else(|| text(&of?.model));
        let model = model.filter(|name| {
            let mut unnamed = self.mapping.session.no_model.iter();
            !unnamed.any(|pattern| matches(pattern, name))
        });
        let cwd = of.and_then(|keys| text(&keys.cwd));
        let now = Meta {
            id: of.and_then(|keys| id(&keys.id)),
            title: of.and_then(|keys| text(&keys.title)),
            cwd: cwd.map(|uri| uri.strip_prefix("file://").unwrap_or(&uri).into()),
            model: model.map(|model| lenient::model_name(&model).into()),
            version: of.and_then(|keys| id(&keys.version)),
            parent: of.and_then(|keys| id(&keys.parent)),
            window: size(&record.window).or_else(|| size(&of?.window)),
            ..Meta::default()
        };
        let has_one = now != Meta::default();
        let changes = now.changes(&mut self.session.known);
        if changes != Meta::default() {
            out.meta(changes);
        }
        has_one
    }

    /// A record that is a message, a report of usage, or both.
    fn record(&mut self, value: Raw<'_>, out: &mut EventSink<'_>) {
        let mapping = self.mapping;
        let id = mapping.record.id.id(value, self.lost);
        let key = |id: &str| key_of(&[&mapping.id, id], id);
        let parent = match mapping.record.parent.id(value, self.lost) {
            Some(parent) => Parent::Key(key(&parent)),
            None if id.is_some() && !mapping.record.parent.is_empty() => Parent::Root,
            None => Parent::Previous,
        };
        let key = id.as_deref().map(key);
        let usage = self.usage(&mapping.usage, value);
        match Message::read(mapping, value, self.lost) {
            Ok(message) if message.author == Author::Clear => self.clear(&message.word, out),
            Ok(message) => {
                if message.lacks_text {
                    out.unknown(format!("{} message without text", message.word));
                }
                let node = Node {
                    parent,
                    ..Node::new(key, Part::Link, Vec::new())
                };
                self.message(message, id.as_deref(), node, usage, out);
            }
            Err(why) => {
                // Numbers alone are no message, and meant to be so.
                match (why, &usage) {
                    (_, Some(_)) => {}
                    (NoMessage::NoRole(name), None) => out.unreadable(format!("no {name}")),
                    (NoMessage::OtherRole(word), None) => out.unknown(word),
                }
                if key.is_some() {
                    let link = Node {
                        key,
                        parent,
                        ..Node::default()
                    };
                    out.node(link);
                }
                self.report(self.session.request, usage, out);
            }
        }
    }

    /// Emits a message, whose place is that of the empty node, and the numbers in its record.
    fn message(
        &mut self,
        mut message: Message<'_>,
        id: Option<&str>,
        node: Node,
        usage: Option<Usage>,
        out: &mut EventSink<'_>,
    ) {
        let mapping = self.mapping;
        if message.is_output() {
            if message.blocks.is_empty() && mapping.message.text.is_empty() && usage.is_none() {
                return out.skip(format!("{} without numbers", message.word));
            }
            let goes_on = self.session.is_open && mapping.message.joined;
            let request = self.session.request.filter(|_| goes_on);
            let request = request.unwrap_or_else(|| request_of(mapping, id, out));
            self.session.request = Some(request);
            let items = self.items(message.blocks, out);
            let output = Node::output(node.key, Some(request), items);
            out.node(Node {
                parent: node.parent,
                ..output
            });
            (self.session.is_open, self.session.has_answered) = (true, true);
            self.session.has_begun = true;
            return self.report(Some(request), usage, out);
        }
        self.session.is_open = false;
        if message.author == Author::User
            && mapping.message.user_begins
            && self.session.has_answered
        {
            message.become_result();
        }
        let items = self.items(message.blocks, out);
        if message.author == Author::Summary {
            if items.is_empty() {
                return out.skip(format!("{} message", message.word));
            }
            self.reset(node.key, LeaveReason::Compaction, &message.word, out);
        }
        let parent = match message.author {
            // The summary takes the reset's own place.
            Author::Summary => Parent::Previous,
            _ => node.parent,
        };
        let part = match message.author {
            Author::Tool => Part::Result,
            Author::System | Author::Container | Author::Summary => Part::Injected,
            _ => part_of(&items),
        };
        self.session.has_begun = true;
        let node = Node {
            parent,
            ..Node::new(node.key, part, items)
        };
        if message.author != Author::Container {
            out.node(node);
            return self.report(self.session.request, usage, out);
        }
        // The numbers are of an answer that is not kept.
        let usage = usage.map(|usage| Usage {
            output: None,
            reasoning: None,
            ..usage
        });
        self.report(Some(request_of(mapping, id, out)), usage, out);
        out.node(node);
    }

    /// The user begins anew.
    fn clear(&mut self, word: &str, out: &mut EventSink<'_>) {
        if self.session.has_begun {
            self.reset(None, LeaveReason::Clear, word, out);
            self.session.has_begun = false;
        } else {
            out.skip("beginning of a talk");
        }
    }

    /// All that is in the context leaves, if there is anything.
    fn reset(&mut self, key: Option<Key>, gone: LeaveReason, word: &str, out: &mut EventSink<'_>) {
        if self.session.has_begun {
            let cause = self.mapping.causes.get(word);
            let cause = cause.map_or(Cause::Unlogged, |cause| Cause::named(cause));
            out.reset(Reset {
                key,
                ..Reset::new(gone, cause, RetainedItems::Nothing)
            });
        }
    }

    /// The items of these parts. The names of tools that are called are remembered.
    fn items(&mut self, blocks: Vec<Block<'_>>, out: &mut EventSink<'_>) -> Vec<NewItem> {
        let tools = &mut self.session.tools;
        let items = blocks.into_iter().map(|mut block| {
            let call = block.call.as_deref();
            match &block.tool {
                Some(tool) if block.kind == Kind::ToolCall => tools.insert(call, tool),
                Some(_) => {}
                None => block.tool = tools.get(call).map(|tool| tool.to_owned().into()),
            }
            block.item(out)
        });
        items.collect()
    }

    /// A request that carries its whole history, and its response.
    fn request(&mut self, list: Raw<'_>, value: Raw<'_>, out: &mut EventSink<'_>) {
        let mapping = self.mapping;
        let mut sent = Vec::new();
        if json::each_element(list.get(), &mut |one| sent.push(one)).is_err() {
            return out.unknown("no list of messages");
        }
        let mut blocks = self.blocks(sent, out);
        mark_turns(&mut blocks);
        let conversation = &mut self.session.conversation;
        conversation.add_request(&Prompt::of(&blocks), out);
        let id = mapping.record.id.id(value, self.lost);
        let request = request_of(mapping, id.as_deref(), out);
        let reply = self.blocks(mapping.reply.elements(value), out);
        let usage = self.usage(&mapping.usage, value);
        let usage = usage.map(|usage| Usage { request, ..usage });
        let conversation = &mut self.session.conversation;
        conversation.add_response(request, &reply, usage, out);
    }

    /// The parts of these messages.
    fn blocks<'v>(&self, messages: Vec<Raw<'v>>, out: &mut EventSink<'_>) -> Vec<Block<'v>> {
        let mut blocks = Vec::new();
        for message in messages {
            match Message::read(self.mapping, message, self.lost) {
                Ok(message) => blocks.extend(message.blocks),
                Err(why) => out.unknown(why.why()),
            }
        }
        blocks
    }

    /// Emits the numbers of a request.
    fn report(&self, request: Option<Key>, usage: Option<Usage>, out: &mut EventSink<'_>) {
        if let Some(usage) = usage {
            let request = request.unwrap_or_else(|| request_of(self.mapping, None, out));
            out.usage(Usage { request, ..usage });
        }
    }

    /// The numbers in a record, of no request yet; `None`: there are none.
    fn usage(&self, keys: &'static UsageKeys, value: Raw<'_>) -> Option<Usage> {
        let model = self.session.known.model.as_deref();
        if let Some(report) = keys.report.read(value, self.lost, Some).first() {
            let numbers = Numbers::read(*report, self.lost.at("usage"));
            return numbers.usage(Key::new(0), model);
        }
        let parts = [
            &keys.prompt,
            &keys.input,
            &keys.cached,
            &keys.written,
            &keys.output,
            &keys.reasoning,
        ];
        let [prompt, input, cached, written, output, reasoning] =
            parts.map(|part| tokens(part, value, self.lost));
        let counts = [&prompt, &input, &cached, &written, &output, &reasoning];
        if counts.iter().any(|count| count.is_err()) {
            self.lost.note_usage();
        }
        let parts = || match (&input, &cached, &written) {
            (Ok(Some(input)), Ok(cached), Ok(written)) => {
                Some(input + cached.unwrap_or(0) + written.unwrap_or(0))
            }
            _ => None,
        };
        let prompt = match prompt {
            Ok(prompt) => prompt.or_else(parts),
            Err(Unreadable) if keys.input.is_empty() => None,
            Err(Unreadable) => parts(),
        };
        let prompt = prompt.filter(|prompt| *prompt > 0)?;
        let [cached, written, output, reasoning] =
            [cached, written, output, reasoning].map(|count| count.ok().flatten());
        let (read, written) = (cached.unwrap_or(0), written.unwrap_or(0));
        let input = if keys.input.is_empty() {
            prompt
        } else {
            prompt.saturating_sub(read + written)
        };
        let request = Key::new(0);
        if keys.estimated {
            return Some(Usage {
                model: model.map(Into::into),
                output,
                ..Usage::estimated(request, prompt)
            });
        }
        let billed = BilledUsage::new(input, output.unwrap_or(0))
            .with_cache(read.min(prompt), written)
            .with_reasoning(reasoning.unwrap_or(0));
        Some(Usage {
            model: model.map(Into::into),
            output,
            reasoning,
            ..Usage::billed(request, prompt, billed)
        })
    }
}

/// Returns the request that a record of this id answers.
fn request_of(mapping: &Mapping, id: Option<&str>, out: &EventSink<'_>) -> Key {
    // An entry of a ledger has another time than its message.
    let time = out.time().filter(|_| mapping.ledger.is_none());
    let time = time.map(|time| time.to_string()).unwrap_or_default();
    match id {
        Some(id) => key_of(&[&mapping.id, "request", id, &time], id),
        None => Key::of_number(&mapping.id, out.place().id()),
    }
}

/// Returns the key of an id in a log; `parts` distinguish it from other keys. Ids that are numbers are those of other
/// logs, too.
fn key_of(parts: &[&str], id: &str) -> Key {
    match id.parse() {
        Ok(number) => Key::of_number(&parts.concat(), number),
        Err(_) => Key::of_parts(parts),
    }
}

/// The value that pointers lead to is no number of tokens.
struct Unreadable;

/// Returns the sum of the numbers of tokens that these point at; `None`: there is none.
fn tokens(
    places: &'static Pointers,
    value: Raw<'_>,
    lost: &LostFields,
) -> Result<Option<u64>, Unreadable> {
    let (mut sum, mut odd) = (None::<u64>, Vec::new());
    for place in places.iter() {
        let found = place.found(value);
        odd.extend(found.odd);
        for count in found.values {
            let Some(count) = Count::of(count.get()).0 else {
                lost.note_once(place.name());
                return Err(Unreadable);
            };
            sum = Some(count.saturating_add(sum.unwrap_or(0)));
        }
    }
    // Where one of several places has a number, the others are those of other records.
    odd.retain(|name| !name.is_empty());
    if sum.is_some() || odd.is_empty() {
        return Ok(sum);
    }
    odd.into_iter().for_each(|name| lost.note_once(name));
    Err(Unreadable)
}
