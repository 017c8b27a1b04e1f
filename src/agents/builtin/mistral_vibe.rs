//! Mistral Vibe 3.
//!
//! A session is a folder with a journal, `journal/<first sequence>.jsonl`. Seen in whole runs of 3.0.2 and 3.0.3;
//! its earlier versions are public (mistralai/mistral-vibe), this store is not:
//!
//! * A request is an `action_intent` of the kind `completion`, its response the `action_result` of the same
//!   `action_id`. Only the purpose `agent` is the conversation; others write a summary.
//! * The first request of a process `replace`s the messages, and so does the first after a compaction;
//!   the others `append` to them: the last answer, and what came after it. The tools' schemas are beside
//!   them, `replace` or `keep`. So nothing of a prompt is unlogged.
//! * `input_tokens` is the whole prompt, what was cached included.
//! * With each turn a new file is begun. The one before it stays, older ones are deleted: then only the
//!   context is left of their requests, and not even that where none of the files that are left begins with
//!   a `replace`. What else is kept (`chunks`, `generations`) is not read.
//! * It compacts when the last prompt and output reach `compaction_threshold`, or `token_threshold` in older
//!   checkpoints (3.0.3, `vibe/_storage.py`: the second is moved to the first). The messages after that are the
//!   user's last ones between two notes, and a summary.
//! * Large results are saved in a file; the model gets their beginning.

use super::mistral_vibe_2;
use decode::lenient::{self, Count, Millis, Pieces, Report, Text, Window, record};
use decode::openai::Tool;
use formats::names;
use formats::{
    Claim, Decoder, FilesBeside, FolderSpec, Format, Recognition, Root, StateUpdate, StoreKind,
    Totals, decoder, head,
};
use jiff::Timestamp;
use model::event::{
    BilledUsage, Cause, Event, EventSink, ItemBuilder, Key, Meta, NewItem, Node, Part, Reset,
    RetainedItems, Usage,
};
use model::{Kind, LeaveReason, Role};
use std::collections::HashMap;
use std::path::Path;

/// The beginnings of the notes around a compaction.
const NOTES: [&str; 2] = [
    "You are continuing a trajectory after a context compaction.",
    "</previous_user_messages>",
];

/// The format.
pub static MISTRAL_VIBE: Format = Format {
    id: "mistral-vibe",
    roots: &[
        Root::home(".vibe", "logs/session/unified").env("VIBE_HOME"),
        Root::home(".vibe", "config.toml").env("VIBE_HOME").listing(
            "session_logging.save_dir",
            |config| {
                let folders = mistral_vibe_2::save_dir(config).into_iter();
                folders.map(|folder| folder.join("unified")).collect()
            },
        ),
    ],
    claims: &claims,
    recognition: Recognition::new(&recognise),
    decoder: &decoder::<VibeDecoder>,
    reset_marks: &[r#""type":"replace""#],
    harmless: "command_reserved receipt_succeeded receipt_failed",
    totals: Totals::new(&[
        ("input", |b| b.input),
        ("cached", |b| b.cache_read),
        ("output", |b| b.output),
    ]),
    beside: FilesBeside::states(|log| vec![log.with_file_name("meta.json")]),
    ..Format::DEFAULT
};

/// The files of a journal.
static JOURNAL: FolderSpec = FolderSpec {
    number,
    has_lines: true,
};

/// Returns the number in `0000000000000328.jsonl`.
fn number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".jsonl")?;
    let is_number = digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

/// Claims `<session>/journal`.
fn claims(path: &Path) -> Option<Claim> {
    let mut names = names(path);
    names.next().filter(|name| *name == "journal")?;
    Some(Claim::session(names.next()?).kept_in(StoreKind::Folder(&JOURNAL)))
}

fn recognise(head: &[u8]) -> bool {
    let line = head::first_line(head);
    line.starts_with(br#"{"payload":{"#)
        && [
            "\"record_sha256\":",
            "\"abandon_on_restart\":",
            "\"action_id\":",
            "\"checkpoint_",
        ]
        .iter()
        .any(|mark| head::has(line, mark))
}

record! {
    struct Record<'a> {
        kind: Text<'a> = "type",
        payload: Payload<'a>,
    }

    struct Payload<'a> {
        kind: Text<'a>,
        action: Text<'a> = "action_id",
        request: Option<Request<'a>>,
        response: Response<'a> = "result" / "result",
        context: Limits = "checkpoint_settings" / "context",
        delta: Vec<Delta<'a>>,
    }

    #[derive(Copy)]
    struct Limits {
        facts: ModelFacts = "model_facts",
        /// The trigger in older checkpoints.
        trigger: Window = "compaction" / "token_threshold",
    }

    #[derive(Copy)]
    struct ModelFacts {
        window: Window = "context_window",
        trigger: Window = "compaction_threshold",
    }

    struct Request<'a> {
        purpose: Text<'a>,
        input: Input<'a> = "model_input",
    }

    struct Input<'a> {
        messages: Messages<'a>,
        tools: Catalog<'a> = "tool_catalog",
    }

    struct Messages<'a> {
        kind: Text<'a> = "type",
        messages: Vec<Message<'a>>,
    }

    struct Catalog<'a> {
        kind: Text<'a> = "type",
        tools: Vec<Tool<'a>>,
    }

    struct Message<'a> {
        role: Text<'a>,
        content: Pieces<Block<'a>>,
        name: Text<'a>,
        call: Text<'a> = "tool_call_id",
    }

    struct Block<'a> {
        kind: Text<'a> = "type",
        text: Text<'a> = "text" | "thinking",
        id: Text<'a>,
        name: Text<'a>,
        arguments: Text<'a> = "arguments" / "raw",
        json: Text<'a> = "arguments_json",
    }

    struct Response<'a> {
        parts: Vec<Block<'a>>,
        usage: Report<Numbers>,
    }

    #[derive(Copy)]
    mended [input => output] whole struct Numbers {
        input: Count = "input_tokens",
        cached: Count = "cached_input_tokens",
        output: Count = "output_tokens",
    }

    struct Delta<'a> {
        session: Session<'a> = "state" / "session",
    }

    struct Session<'a> {
        preview: Text<'a>,
        updated: Option<Millis> = "updatedAt",
    }

    /// `meta.json`.
    struct About<'a> {
        title: Text<'a>,
        parent: Text<'a> = "parent_session_id",
        cwd: Text<'a> = "environment" / "working_directory",
        model: Text<'a> = "config" / "model_name",
    }
}

/// The identity of a message that is sent again: its content, and the number of equal ones before it.
type Name = (Key, usize);

/// Decodes one session.
#[derive(Default)]
struct VibeDecoder {
    about: Meta,
    meta: Meta,
    time: Option<Timestamp>,
    /// The messages of the context, with their nodes.
    held: Vec<(Name, Key)>,
    /// The number of times that messages left.
    epoch: u64,
    has_tools: bool,
    /// True if the log has the whole content of the requests.
    is_whole: bool,
    /// The requests without a response, each with whether it is of the conversation.
    sent: HashMap<Key, bool>,
    is_compacting: bool,
    /// True if the last answer is among the messages, although no request holds it yet.
    has_answer: bool,
}

impl Decoder for VibeDecoder {
    fn read_state(&mut self, document: &str, out: &mut EventSink<'_>) -> Option<StateUpdate> {
        let about: About<'_> = lenient::state(document, out)?;
        let model = about.model.get().map(lenient::model_name);
        self.about = Meta {
            title: about.title.boxed(),
            parent: about.parent.boxed(),
            cwd: about.cwd.boxed(),
            ..Meta::of_model(model.map(Into::into))
        };
        Some(StateUpdate::Accepted)
    }

    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let Some(record) = lenient::object::<Record<'_>>(line, out) else {
            return;
        };
        out.set_time(self.time);
        out.meta(self.about.clone().changes(&mut self.meta));
        let payload = &record.payload;
        match (record.kind.or_empty(), payload.kind.or_empty()) {
            ("action_intent", "completion") => self.request(payload, out),
            ("action_intent", other) => out.skip(other.to_owned()),
            ("action_result", _) => self.response(payload, out),
            ("core_input", _) => {
                let Limits { facts, trigger } = payload.context;
                let meta = Meta {
                    window: facts.window.0,
                    trigger: facts.trigger.0.or(trigger.0),
                    ..Meta::default()
                };
                out.meta(meta.changes(&mut self.meta));
            }
            ("projection_delta", _) => self.shown(&payload.delta, out),
            ("", _) => out.unreadable("no type"),
            (other, _) => MISTRAL_VIBE.pass_over(other, out),
        }
    }
}

impl VibeDecoder {
    fn request(&mut self, payload: &Payload<'_>, out: &mut EventSink<'_>) {
        let Some(request) = &payload.request else {
            return out.unreadable("a request without a request");
        };
        let purpose = request.purpose.or_empty();
        let is_conversation = purpose == "agent";
        self.sent
            .extend(payload.action.key().map(|action| (action, is_conversation)));
        if !is_conversation {
            self.is_compacting |= purpose == "compaction";
            return out.skip(format!("{purpose} request"));
        }
        let (messages, tools) = (&request.input.messages, &request.input.tools);
        if tools.kind.get() == Some("replace") {
            self.has_tools = true;
            let tools = tools.tools.iter();
            let items = tools.map(|tool| tool.item(out).done()).collect();
            let key = Some(Key::of("vibe tools"));
            out.node(Node::new(key, Part::Front, items));
        }
        match messages.kind.or_empty() {
            "replace" => self.replace(&messages.messages, out),
            "append" => self.append(&messages.messages, out),
            "keep" => {}
            other => out.unknown(format!("{other} of messages")),
        }
        (self.is_compacting, self.has_answer) = (false, false);
    }

    /// The context holds these messages and no others.
    fn replace(&mut self, messages: &[Message<'_>], out: &mut EventSink<'_>) {
        let old = std::mem::take(&mut self.held);
        let find = |name: Name| {
            old.iter()
                .find(|(other, _)| *other == name)
                .map(|held| held.1)
        };
        let mut names: Vec<Name> = Vec::new();
        for message in messages {
            let content = message.print();
            let before = names.iter().filter(|(other, _)| *other == content).count();
            names.push((content, before));
        }
        let kept: Vec<Key> = names.iter().filter_map(|name| find(*name)).collect();
        if kept.len() < old.len() {
            self.epoch += 1;
            if self.is_compacting {
                out.reset(Reset::compaction(
                    Cause::Unlogged,
                    RetainedItems::Nodes(kept),
                ))
            } else {
                let tools = [Key::of("vibe tools")]
                    .into_iter()
                    .filter(|_| self.has_tools);
                let keys = tools.chain(kept).collect();
                out.emit(Event::Retain {
                    keys,
                    cause: LeaveReason::Rewind,
                });
            }
        }
        for (name, message) in names.into_iter().zip(messages) {
            match find(name) {
                Some(key) => self.held.push((name, key)),
                None => self.add(name, message, out),
            }
        }
        self.is_whole = self.has_tools;
    }

    /// The context holds these messages too: the last answer first.
    fn append(&mut self, messages: &[Message<'_>], out: &mut EventSink<'_>) {
        // Where reading began in the middle, the number of the line is not known.
        if self.held.is_empty() && !self.is_whole && out.place().line() > 0 {
            out.emit(Event::BeginningMissing);
        }
        let is_known =
            |message: &&Message<'_>| self.has_answer && message.role.get() == Some("assistant");
        let new = messages.iter().skip_while(is_known);
        for message in new.collect::<Vec<_>>() {
            let name = self.name(message.print());
            self.add(name, message, out);
        }
    }

    fn name(&self, content: Key) -> Name {
        let before = self.held.iter().filter(|((other, _), _)| *other == content);
        (content, before.count())
    }

    fn node(&mut self, name: Name) -> Key {
        let nth = name.0.get() ^ (name.1 as u64).rotate_left(32) ^ self.epoch.rotate_left(48);
        let key = Key::of_number("vibe", nth);
        self.held.push((name, key));
        key
    }

    fn add(&mut self, name: Name, message: &Message<'_>, out: &mut EventSink<'_>) {
        let key = Some(self.node(name));
        let node = match message.role.or_empty() {
            "system" => {
                let item = message.whole(out.item(Role::Container, Kind::Prompt));
                Node::new(Some(Key::of("vibe system")), Part::Front, vec![item])
            }
            "user" => {
                let (part, role, kind) = match message.content.0.first() {
                    Some(first) if NOTES.iter().any(|note| first.begins(note)) => {
                        (Part::Injected, Role::Container, Kind::Summary)
                    }
                    Some(first) if first.begins("<") => {
                        (Part::Injected, Role::Container, Kind::Reminder)
                    }
                    _ => (Part::Input, Role::User, Kind::Text),
                };
                let item = message.whole(out.item(role, kind));
                Node::new(key, part, vec![item])
            }
            "assistant" => Node::output(key, None, written(&message.content.0, out)),
            "tool" => {
                let item = out.tool_result(message.name.get(), message.call.get());
                Node::new(key, Part::Result, vec![message.whole(item)])
            }
            other => return out.unknown(format!("{other} message")),
        };
        out.node(node);
    }

    fn response(&mut self, payload: &Payload<'_>, out: &mut EventSink<'_>) {
        let response = &payload.response;
        let numbers = match response.usage {
            Report::Absent => return out.skip("action_result"),
            Report::Is(numbers) => numbers,
            Report::Unreadable => Numbers::default(),
        };
        let Some(action) = payload.action.key() else {
            return out.unreadable("a response without an id");
        };
        let (prompt, output) = (numbers.input.or_zero(), numbers.output.or_zero());
        let billed = BilledUsage::new(prompt, output).with_cache(numbers.cached.or_zero(), 0);
        let request = action.under("vibe response");
        if self.sent.remove(&action) == Some(false) {
            return out.billed(request, billed);
        }
        let name = self.name(print(["assistant", ""], &response.parts));
        let key = Some(self.node(name));
        let items = written(&response.parts, out);
        out.node(Node::output(key, Some(request), items));
        self.has_answer = true;
        if prompt > 0 {
            out.usage(Usage {
                model: self.meta.model.clone(),
                output: numbers.output.0,
                is_whole: self.is_whole,
                ..Usage::billed(request, prompt, billed)
            });
        }
    }

    /// Reads the data that is shown of the session: its time, and its beginning as the title.
    fn shown(&mut self, delta: &[Delta<'_>], out: &mut EventSink<'_>) {
        for session in delta.iter().map(|one| &one.session) {
            self.time = session.updated.and_then(Millis::time).or(self.time);
            if self.meta.title.is_none() {
                let title = Meta::of_title(session.preview.boxed());
                out.meta(title.changes(&mut self.meta));
            }
        }
    }
}

impl Message<'_> {
    fn print(&self) -> Key {
        let place = [self.role.or_empty(), self.call.or_empty()];
        print(place, &self.content.0)
    }

    /// Returns all its texts as one item.
    fn whole(&self, item: ItemBuilder<'_, '_>) -> NewItem {
        let texts = self.content.0.iter().filter_map(|block| block.text.get());
        texts.fold(item, ItemBuilder::text).done()
    }
}

impl Block<'_> {
    fn begins(&self, text: &str) -> bool {
        self.text.or_empty().trim_start().starts_with(text)
    }

    fn is_hidden(&self) -> bool {
        !matches!(self.kind.or_empty(), "" | "text" | "tool_call")
    }
}

/// Returns a key that is the same for a message and an answer of the same content.
fn print(place: [&str; 2], blocks: &[Block<'_>]) -> Key {
    let blocks = blocks.iter().filter(|block| !block.is_hidden());
    let blocks = blocks.flat_map(|block| [block.text.or_empty(), block.id.or_empty()]);
    let parts = place
        .into_iter()
        .chain(blocks.filter(|part| !part.is_empty()));
    Key::of_parts(&parts.collect::<Vec<_>>())
}

/// Returns the items of what the model wrote.
fn written(blocks: &[Block<'_>], out: &mut EventSink<'_>) -> Vec<NewItem> {
    let items = blocks.iter().map(|block| match block.kind.or_empty() {
        "tool_call" => {
            let name = block.name.get();
            let arguments = block.json.get().or(block.arguments.get());
            let (id, arguments) = (block.id.get(), arguments.unwrap_or_default());
            lenient::written_call(name, id, arguments, out)
        }
        _ if block.is_hidden() => out.text(Role::Assistant, Kind::Thinking, block.text.or_empty()),
        _ => out.text(Role::Assistant, Kind::Text, block.text.or_empty()),
    });
    items.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::read;

    #[test]
    fn the_window_and_the_trigger_are_facts_of_the_model() {
        let of = |context: &str| {
            let line = format!(
                r#"{{"type":"core_input","payload":{{"checkpoint_settings":{{"context":{context}}}}}}}"#
            );
            let entries = read(&MISTRAL_VIBE, [line]).into_iter();
            let mut metas = entries.filter_map(|entry| match entry.event {
                Event::Meta(meta) => Some((meta.window, meta.trigger)),
                _ => None,
            });
            metas.next()
        };
        let older = r#""compaction":{"token_threshold":160000}"#;
        assert_eq!(of(&format!("{{{older}}}")), Some((None, Some(160_000))));
        let facts = r#""model_facts":{"context_window":262144,"compaction_threshold":202144}"#;
        let both = format!("{{{older},{facts}}}");
        assert_eq!(of(&both), Some((Some(262_144), Some(202_144))));
    }
}
