//! pi, and the agents that write its format.
//!
//! A session is one JSON Lines file: a header, then entries that form a tree by `id` and `parentId`.
//! The last line is the leaf; the context is the path from it to the root, from the last compaction
//! on. After pi's own session manager, message conversion and compaction (badlogic/pi-mono,
//! `packages/coding-agent/src/core` and `packages/ai`), checked on a session of 1,003 lines and on runs of 0.87.1:
//!
//! * Version 1 has no ids: entries follow each other, and `firstKeptEntryIndex` counts the file's
//!   entries from 0, the header included. Version 2 has ids; version 3 renamed `hookMessage` to
//!   `custom`. The version of the format is not the version of pi, which is not logged.
//! * A prompt is `input + cacheRead + cacheWrite`; the next prompt was at least this one with its
//!   output in 850 of 855 pairs.
//! * A response that was aborted or failed is not sent again, so nothing of it stays, and its output
//!   number is a placeholder. Most report zeros, which mean nothing; where the prompt is not zero it is
//!   the provider's (six of nineteen, all within a message of the next one), and it counts.
//! * oh-my-pi writes a compaction before it takes effect: a response that follows it at once, with a prompt no smaller
//!   than before, is of a request that still held all.
//! * A compaction keeps all from `firstKeptEntryId` on, and no earlier summary. It is not logged whether
//!   a person asked for it; only one in the middle of a run cannot have been asked for.
//! * `custom` entries are an extension's own; `custom_message` entries go to the model, as do commands
//!   that the user ran, unless `excludeFromContext`. `details` never do.
//! * OpenClaw writes answers that it shows in a channel as the model's, with itself as the provider
//!   (`event-mirror`, `gateway-injected`); it leaves them out of what it sends.
//! * Since about 0.80 the system prompt and the tools are logged; see `system`. `context_edit` puts
//!   another content in the place of an entry's, or none.
//! * `parentSession` (older: `branchedFrom`) names the session that this one was forked from: no
//!   sub-agent. A fork repeats entries as they were, so a request is known by its id and time.
//! * An entry `usage` has the numbers of a request outside the conversation, such as those of the kind `cache_warm`, by which
//!   it keeps the prompt in the cache while nobody types.
//! * The folder is flat, and elsewhere, where `PI_CODING_AGENT_SESSION_DIR` or `sessionDir` of the settings names it. Extensions
//!   that start sub-agents keep their logs in a folder beside the session's, under names of their own
//!   (`run-0/session.jsonl`), and copies of what those said (`…_transcript.jsonl`), which are no sessions.
//! * oh-my-pi writes the same format to folders of its own (can1357/oh-my-pi, `packages/utils/src/dirs.ts`).

mod record;
mod settings;
mod system;

use decode::image;
use decode::lenient::{self, Pieces, Text, full_length, utf16_length};
use formats::{
    Base, Claim, Decoder, Format, Recognition, Root, Standing, Totals, WITH_CACHE, decoder, head,
    names,
};
use model::event::{
    Cause, CostOf, Event, EventSink, ItemBuilder, Key, Meta, NewItem, Node, Parent, Part, Place,
    Reset, RetainedItems, Usage,
};
use model::{Kind, Role};
use record::{Block, Message, Numbers, Record};
pub(super) use settings::of_providers;
use std::collections::HashMap;
use std::path::Path;
use system::System;

/// The tokens that pi counts for an image of any size: 4,800 characters of four to a token. It is used for images whose
/// size cannot be read.
const IMAGE_TOKENS: u64 = 1_200;

/// The format.
pub static PI: Format = Format {
    id: "pi",
    roots: &[
        Root::home(".pi/agent", "sessions").env("PI_CODING_AGENT_DIR"),
        Root::named("PI_CODING_AGENT_SESSION_DIR", ""),
        Root::home(".pi/agent", "settings.json")
            .env("PI_CODING_AGENT_DIR")
            .listing("sessionDir", settings::session_folder),
        Root::new(Base::At(".pi"), "settings.json")
            .listing("sessionDir", settings::session_folder)
            .flat(),
        // Its folder before 0.7.29.
        Root::home(".coding-agent", "sessions").env("CODING_AGENT_DIR"),
        // oh-my-pi's.
        Root::home(".omp/agent", "sessions"),
        Root::home(".omp", "profiles"),
        Root::new(Base::XdgData("omp"), "sessions"),
        Root::named("PI_CONFIG_DIR", "agent/sessions").within(Base::Home("")),
    ],
    claims: &claims,
    recognition: Recognition::new(&begins_with_a_header),
    decoder: &decoder::<PiDecoder>,
    reset_marks: &[r#""type":"compaction""#],
    harmless: "thinking_level_change custom label bashExecution",
    totals: Totals::new(WITH_CACHE)
        .cached_beside()
        .without_compactions(),
    settings: Some(&settings::SETTINGS),
    ..Format::DEFAULT
};

/// Claims `<time>_<session id>.jsonl`, or a name that an extension or the user has chosen. What a session has started
/// is below a folder of its name.
fn claims(path: &Path) -> Option<Claim> {
    let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let claim = match session_id(name) {
        Some(id) => Claim::session(id),
        None => Claim::LINES.standing(Standing::Perhaps),
    };
    let parent = names(path).skip(1).find_map(session_id);
    Some(match parent {
        Some(parent) => claim.child_of(parent),
        None => claim,
    })
}

/// Returns the id in `<time>_<session id>`, the time as in `2026-05-12T01-02-27-657Z`.
fn session_id(name: &str) -> Option<&str> {
    let (time, id) = name.split_once('_')?;
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '-' | 'T' | 'Z');
    let is_time = time.contains('T') && time.chars().all(digits);
    Some(id).filter(|id| !id.is_empty() && is_time)
}

/// Returns true if a log begins with the header that is written by pi and by the agents that use its format.
pub(super) fn begins_with_a_header(head: &[u8]) -> bool {
    head::solid(head, 64).starts_with(br#"{"type":"session","#)
}

/// The state of the run after the newest message.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Run {
    /// The model answered, or has not run.
    #[default]
    Ended,
    /// Tools were called.
    Calls,
    /// Tools returned: the model is to go on.
    Results,
}

/// Decodes one session.
#[derive(Default)]
pub(super) struct PiDecoder {
    /// The entry before this one.
    last: Option<Key>,
    system: System,
    /// Entries whose content can be edited later: whose they are, and the tool.
    editable: HashMap<Key, (Role, Option<Box<str>>)>,
    /// The entry that contains the newest summary.
    summary: Option<Key>,
    /// The tokens before a compaction, if no message came since.
    before: Option<u64>,
    run: Run,
    /// The newest provider.
    known: Meta,
}

impl Decoder for PiDecoder {
    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let Some(record) = lenient::object::<Record<'_>>(line, out) else {
            return;
        };
        out.set_time(record.timestamp.time());
        let node = Node {
            key: key_of(&record, out.place()),
            parent: parent_of(&record),
            ..Node::default()
        };
        match record.kind.or_empty() {
            "session" => {
                return out.meta(Meta {
                    id: record.id.boxed(),
                    cwd: record.cwd.boxed(),
                    ..Meta::of_model_at(record.model_id.boxed(), record.provider.boxed())
                });
            }
            "compaction" => return self.compaction(&record, node, out),
            _ => self.branch(&node, out),
        }
        match record.kind.or_empty() {
            "message" => match &record.message {
                Some(message) => self.message(&record, message, node, out),
                None => out.unreadable("a message entry without a message"),
            },
            "custom_message" => inject(node, Kind::Reminder, &record.content, out),
            "branch_summary" => inject(node, Kind::Summary, &record.summary(), out),
            "model_change" | "session_info" => {
                let known = self.known.provider.take();
                self.known.provider = record.provider.boxed().or(known);
                out.meta(Meta {
                    title: record.name.boxed(),
                    ..Meta::of_model_at(record.model_id.boxed(), record.provider.boxed())
                });
                out.node(node);
            }
            "context_edit" => self.edit(&record, node, out),
            "usage" => usage(&record, node, out),
            "" => out.unreadable("no type"),
            other => PI.pass_over_node(other, node, out),
        }
    }
}

impl PiDecoder {
    /// Another content takes the place of an entry's, or none does.
    fn edit(&self, record: &Record<'_>, node: Node, out: &mut EventSink<'_>) {
        out.node(node);
        let Some(target) = record.target_id.key() else {
            return;
        };
        out.emit(Event::cleared_node(target));
        if let Some(new) = &record.replacement {
            // Mostly they take old results away.
            let other = (Role::Tool, None);
            let (role, tool) = self.editable.get(&target).unwrap_or(&other);
            let kind = match role {
                Role::Tool => Kind::ToolResult,
                _ => Kind::Text,
            };
            let item = out.item(*role, kind).tool(tool.as_deref());
            let item = add_content(item, &new.content).done();
            out.node(Node {
                parent: Parent::Previous,
                ..Node::new(Some(target), Part::Link, vec![item])
            });
        }
    }

    /// Each entry hangs below the one before it, unless the user went back: then all since leaves.
    fn branch(&mut self, node: &Node, out: &mut EventSink<'_>) {
        if let (Some(last), Parent::Key(key)) = (self.last, node.parent)
            && key != last
        {
            let rewound = true;
            out.emit(Event::Leaf { key, rewound });
        }
        self.last = node.key.or(self.last);
    }

    fn message(
        &mut self,
        record: &Record<'_>,
        message: &Message<'_>,
        mut node: Node,
        out: &mut EventSink<'_>,
    ) {
        let role = match message.role.or_empty() {
            "user" => Some(Role::User),
            "assistant" => Some(Role::Assistant),
            "toolResult" => Some(Role::Tool),
            _ => None,
        };
        if let (Some(key), Some(role)) = (node.key, role) {
            self.editable.insert(key, (role, message.tool_name.boxed()));
        }
        match message.role.or_empty() {
            "system" => {
                self.system.change(message, out);
                out.node(node);
            }
            "user" => {
                node.part = Part::Input;
                // A message that is put in while the run goes on begins no turn.
                node.turn = self.run != Run::Results;
                node.items
                    .extend(one_item(Role::User, Kind::Text, &message.content, out));
                self.run = Run::Ended;
                out.node(node);
            }
            // Shown in a channel, never sent.
            "assistant" if message.provider.get() == Some("openclaw") => {
                out.skip(message.model.or_empty().to_owned());
                out.node(node);
            }
            "assistant" => {
                let provider = Meta::of_model_at(None, message.provider.boxed());
                out.meta(provider.changes(&mut self.known));
                self.run = assistant(record, message, node, self.before, out);
            }
            "toolResult" => {
                self.run = Run::Results;
                let item = out.tool_result(message.tool_name.get(), message.tool_call_id.get());
                node.part = Part::Result;
                node.items.push(add_content(item, &message.content).done());
                out.node(node);
            }
            "custom" | "hookMessage" => inject(node, Kind::Reminder, &message.content, out),
            // A command that the user ran: the model gets it and its output as his message.
            "bashExecution" if message.exclude_from_context != Some(true) => {
                let add = |item: ItemBuilder<'_, '_>, text| {
                    item.text(text).own_bytes(utf16_length(text)).done()
                };
                let command = out.item(Role::User, Kind::Text);
                node.items.push(add(command, message.command.or_empty()));
                let output = out.tool_result(Some("bash"), None);
                node.items.push(add(output, message.output.or_empty()));
                node.part = Part::Input;
                out.node(node);
            }
            other => PI.pass_over_node(other, node, out),
        }
        self.before = None;
    }

    fn compaction(&mut self, record: &Record<'_>, mut node: Node, out: &mut EventSink<'_>) {
        self.branch(&node, out);
        let index = || Some(Key::of_number("pi", record.first_kept_entry_index.0?));
        let first = record.first_kept_entry_id.key().or_else(index);
        let cause = match std::mem::take(&mut self.run) {
            Run::Ended => Cause::Unlogged,
            Run::Calls | Run::Results => Cause::Automatic,
        };
        out.reset(Reset {
            key: record.id.get().map(|id| Key::of_parts(&["reset", id])),
            before: record.tokens_before.0,
            ..Reset::compaction(cause, RetainedItems::from(first))
        });
        self.before = record.tokens_before.0.filter(|tokens| *tokens > 0);
        // The kept messages may begin before the previous summary, which is never kept.
        let old = std::mem::replace(&mut self.summary, node.key);
        if let Some(old) = old.filter(|old| Some(*old) != node.key) {
            out.emit(Event::cleared_node(old));
        }
        if let Some(message) = &record.system_message {
            self.system.replace(message, out);
        }
        node.parent = Parent::Previous;
        inject(node, Kind::Summary, &record.summary(), out);
    }
}

/// Emits the cost of a request outside the conversation. One that keeps the prompt in the cache renews its time there
/// (`core/cache-warmer.js` in 1.6.0).
fn usage(record: &Record<'_>, node: Node, out: &mut EventSink<'_>) {
    out.node(node);
    let numbers = record.usage.unwrap_or_default();
    let request = request_of(record, out.place(), numbers);
    out.own_cost(Some(request), numbers.cost.0);
    out.emit(Event::Billed {
        request,
        billed: numbers.billed(),
        of: CostOf::Response,
        model: record.model.boxed(),
    });
    if record.usage_kind.get() == Some("cache_warm") && numbers.cache_read.or_zero() > 0 {
        out.emit(Event::CacheRenewed);
    }
}

/// Emits what the harness put in.
fn inject(mut node: Node, kind: Kind, content: &Content<'_>, out: &mut EventSink<'_>) {
    node.part = Part::Injected;
    node.items
        .extend(one_item(Role::Container, kind, content, out));
    out.node(node);
}

/// Returns a whole content as one item; none where it is empty.
fn one_item(
    role: Role,
    kind: Kind,
    content: &Content<'_>,
    out: &mut EventSink<'_>,
) -> Option<NewItem> {
    (!content.0.is_empty()).then(|| add_content(out.item(role, kind), content).done())
}

/// Emits a response; `before` is the context before a compaction that no other message came after. Returns how the
/// response left the run.
fn assistant(
    record: &Record<'_>,
    message: &Message<'_>,
    mut node: Node,
    before: Option<u64>,
    out: &mut EventSink<'_>,
) -> Run {
    let numbers = message.usage.unwrap_or_default();
    let request = request_of(record, out.place(), numbers);
    let broken = matches!(message.stop_reason.get(), Some("aborted" | "error"));
    if !broken {
        for piece in &message.content.0 {
            node.items.extend(output_item(piece, out));
        }
    }
    let run = if node.items.iter().any(|item| item.kind == Kind::ToolCall) {
        Run::Calls
    } else {
        Run::Ended
    };
    node.part = Part::Output;
    node.request = Some(request);
    out.node(node);
    out.own_cost(Some(request), numbers.cost.0);
    let billed = numbers.billed();
    if billed.prompt() > 0 {
        if before.is_some_and(|before| billed.prompt() >= before) {
            out.emit(Event::ResetPostponed);
        }
        out.usage(Usage {
            model: message.model.boxed(),
            output: numbers.output.0.filter(|_| !broken),
            reasoning: numbers.reasoning.0.filter(|_| !broken),
            ..Usage::billed(request, billed.prompt(), billed)
        });
    } else {
        out.meta(Meta::of_model(message.model.boxed()));
    }
    run
}

/// Returns a piece of the model's output; `None`: of an unknown type.
fn output_item(block: &Block<'_>, out: &mut EventSink<'_>) -> Option<NewItem> {
    Some(match block.kind.or_empty() {
        // Bare text has no type.
        "" => out.text(Role::Assistant, Kind::Text, block.text.get()?),
        "text" => out.text(Role::Assistant, Kind::Text, block.text.or_empty()),
        "thinking" => out
            .item(Role::Assistant, Kind::Thinking)
            .text(block.thinking.or_empty())
            .opaque(full_length(block.thinking_signature.or_empty()))
            .done(),
        "toolCall" => {
            let (name, id) = (block.name.get(), block.id.get());
            lenient::call(name, id, block.arguments, out)
        }
        _ => return None,
    })
}

type Content<'a> = Pieces<Block<'a>>;

impl Record<'_> {
    /// Returns the summary, which has no pieces where it is empty.
    fn summary(&self) -> Content<'_> {
        bare(self.summary.get().filter(|text| !text.is_empty()))
    }
}

/// Returns the content that is this text.
fn bare<'a>(text: Option<&'a str>) -> Content<'a> {
    let block = |text: &'a str| Block {
        text: Text(Some(text.into())),
        ..Block::default()
    };
    Pieces(text.map(block).into_iter().collect())
}

/// Adds texts and images to an item. pi itself counts characters, and a fixed number for an image.
fn add_content<'s, 'm>(item: ItemBuilder<'s, 'm>, content: &Content<'_>) -> ItemBuilder<'s, 'm> {
    let mut chars = 0;
    let item = content
        .0
        .iter()
        .fold(item, |item, block| match block.kind.or_empty() {
            // Most models that pi is used with are Claude's.
            "image" => {
                chars += IMAGE_TOKENS * 4;
                let tokens = image::tokens(block.data.or_empty(), image::claude, IMAGE_TOKENS);
                item.fixed(tokens, "[image]")
            }
            _ => {
                chars += utf16_length(block.text.or_empty());
                item.text(block.text.or_empty())
            }
        });
    item.own_bytes(chars)
}

/// Returns an entry's id, or its index in the file, which the oldest format's compactions refer to.
fn key_of(record: &Record<'_>, place: Place) -> Option<Key> {
    match record.id.get() {
        Some(id) => Some(Key::of(id)),
        None => Some(Key::of_number("pi", place.line().checked_sub(1)?)),
    }
}

fn parent_of(record: &Record<'_>) -> Parent {
    match (record.id.get(), record.parent_id.get()) {
        (None, _) => Parent::Previous,
        (Some(_), None) => Parent::Root,
        (Some(_), Some(parent)) => Parent::Key(Key::of(parent)),
    }
}

/// Returns a key that is the same in every fork. Ids have 32 bits, which is too few for all sessions of a machine, so
/// the time belongs to it; where there is no id, the numbers.
fn request_of(record: &Record<'_>, place: Place, numbers: Numbers) -> Key {
    let time = record.timestamp.or_empty();
    match record.id.get() {
        Some(id) => Key::of_parts(&["pi", id, time]),
        None if time.is_empty() => Key::of_number("pi request", place.id()),
        None => {
            let (prompt, output) = (numbers.billed().prompt(), numbers.output.or_zero());
            Key::of_parts(&["pi", time, &prompt.to_string(), &output.to_string()])
        }
    }
}

#[cfg(test)]
mod tests;
