//! pi, and the agents that write its format.
//!
//! A session is one JSON Lines file: a header, then entries that form a tree by `id` and `parentId`.
//! The last line is the leaf; the context is the path from it to the root, from the last compaction
//! on. After pi's own session manager, message conversion and compaction (badlogic/pi-mono,
//! `packages/coding-agent/src/core` and `packages/ai`), checked on a session of 1,003 lines:
//!
//! * Version 1 has no ids: entries follow each other, and `firstKeptEntryIndex` counts the file's
//!   entries from 0, the header included. Version 2 has ids; version 3 renamed `hookMessage` to
//!   `custom`. The version of the format is not the version of pi, which is not logged.
//! * A prompt is `input + cacheRead + cacheWrite`; the next prompt was at least this one with its
//!   output in 850 of 855 pairs.
//! * A response that was aborted or failed is not sent again, so nothing of it stays, and its output
//!   number is a placeholder. Most report zeros, which mean nothing; where the prompt is not zero it is
//!   the provider's (six of nineteen, all within a message of the next one), and it counts.
//! * A compaction keeps all from `firstKeptEntryId` on, and no earlier summary. It is not logged whether
//!   a person asked for it; only one in the middle of a run cannot have been asked for.
//! * `custom` entries are an extension's own; `custom_message` entries go to the model, as do commands
//!   that the user ran, unless `excludeFromContext`. `details` never do.
//! * OpenClaw writes answers that it shows in a channel as the model's, with itself as the provider
//!   (`delivery-mirror`, `gateway-injected`); it leaves them out of what it sends.
//! * `parentSession` (older: `branchedFrom`) names the session that this one was forked from: no
//!   sub-agent. A fork repeats entries as they were, so a request is known by its id and time.

mod settings;

use super::lenient::{self, Count, Piece, Pieces, Text, record};
use super::{Claim, Decoder, Facts, Format, Root, decoder, facts, head, image};
use crate::model::event::{
    Billed, Cause, Event, ItemBuilder, Kept, Key, Meta, NewItem, Node, Parent, Part, Place, Reset,
    Sink, Usage,
};
use crate::model::{Gone, Kind, Role};
use serde_json::value::RawValue;
use std::path::Path;

/// What pi counts for an image, whatever its size: 4,800 characters of four to a token. For those
/// whose size cannot be read.
const IMAGE_TOKENS: u64 = 1_200;

/// The format.
pub static PI: Format = Format {
    id: "pi",
    label: "pi",
    roots: &[Root::home(".pi/agent", "sessions").env("PI_CODING_AGENT_DIR")],
    facts: Facts {
        mark: "first line of type `session`",
        live: facts::EACH_LINE,
        known: "prompts, outputs",
        estimated: "",
        sub_agents: "none logged",
        compactions: "yes",
        tried: "versions 1 to 3 of its format",
    },
    proven: "0.87.1",
    claims: &claims,
    recognise: &begins_with_a_header,
    decoder: &decoder::<PiDecoder>,
    reset_marks: &[r#""type":"compaction""#],
    terms: &[
        ("input", |b| b.input),
        ("cache_read", |b| b.cache_read),
        ("cache_write", |b| b.cache_creation),
        ("output", |b| b.output),
    ],
    settings: Some(&settings::SETTINGS),
    harmless: "thinking_level_change custom label bashExecution",
    ..Format::DEFAULT
};

/// `<time>_<session id>.jsonl`, the time as in `2026-05-12T01-02-27-657Z`.
fn claims(path: &Path) -> Option<Claim> {
    let name = path.file_name()?.to_str()?.strip_suffix(".jsonl")?;
    let (time, id) = name.split_once('_')?;
    let digits = |c: char| c.is_ascii_digit() || matches!(c, '-' | 'T' | 'Z');
    if id.is_empty() || !time.contains('T') || !time.chars().all(digits) {
        return None;
    }
    Some(Claim::session(id))
}

/// Whether a log begins with the header that pi writes, and the agents that write its format.
pub(super) fn begins_with_a_header(head: &[u8]) -> bool {
    head::solid(head, 64).starts_with(br#"{"type":"session","#)
}

record! {
    struct Record<'a> {
        kind: Text<'a> = "type",
        id: Text<'a>,
        parent_id: Text<'a> = "parentId",
        timestamp: Text<'a>,
        message: Option<Message<'a>>,
        content: Pieces<'a, Block<'a>>,
        summary: Text<'a>,
        tokens_before: Count = "tokensBefore",
        first_kept_entry_id: Text<'a> = "firstKeptEntryId",
        first_kept_entry_index: Count = "firstKeptEntryIndex",
        cwd: Text<'a>,
        model_id: Text<'a> = "modelId",
        name: Text<'a>,
    }

    struct Message<'a> {
        role: Text<'a>,
        content: Pieces<'a, Block<'a>>,
        provider: Text<'a>,
        model: Text<'a>,
        usage: Option<Numbers>,
        stop_reason: Text<'a> = "stopReason",
        tool_call_id: Text<'a> = "toolCallId",
        tool_name: Text<'a> = "toolName",
        command: Text<'a>,
        output: Text<'a>,
        exclude_from_context: Option<bool> = "excludeFromContext",
    }

    struct Block<'a> {
        kind: Text<'a> = "type",
        text: Text<'a>,
        data: Text<'a>,
        thinking: Text<'a>,
        thinking_signature: Text<'a> = "thinkingSignature",
        id: Text<'a>,
        name: Text<'a>,
        arguments: Option<&'a RawValue>,
    }

    #[derive(Copy)]
    struct Numbers {
        input: Count,
        output: Count,
        cache_read: Count = "cacheRead",
        cache_write: Count = "cacheWrite",
        reasoning: Count,
    }
}

impl Numbers {
    fn billed(self) -> Billed {
        Billed {
            input: self.input.or_zero(),
            cache_creation: self.cache_write.or_zero(),
            cache_read: self.cache_read.or_zero(),
            output: self.output.or_zero(),
            reasoning: self.reasoning.or_zero(),
        }
    }
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
struct PiDecoder {
    /// The entry before this one.
    last: Option<Key>,
    /// The entry that contains the newest summary.
    summary: Option<Key>,
    run: Run,
}

impl Decoder for PiDecoder {
    fn read_line(&mut self, line: &str, out: &mut Sink<'_>) {
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
                    ..Meta::of_model(record.model_id.boxed())
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
                out.meta(Meta {
                    model: record.model_id.boxed(),
                    title: record.name.boxed(),
                    ..Meta::default()
                });
                out.node(node);
            }
            "" => out.unreadable("no type"),
            other => PI.pass_over_node(other, node, out),
        }
    }
}

impl PiDecoder {
    /// Each entry hangs below the one before it, unless the user went back: then all since leaves.
    fn branch(&mut self, node: &Node, out: &mut Sink<'_>) {
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
        out: &mut Sink<'_>,
    ) {
        match message.role.or_empty() {
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
                out.skip_node(message.model.or_empty(), node);
            }
            "assistant" => self.run = assistant(record, message, node, out),
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
                let item = out.item(Role::User, Kind::Text).tool(Some("bash"));
                let item = item.text(message.command.or_empty());
                node.part = Part::Input;
                node.items.push(item.text(message.output.or_empty()).done());
                out.node(node);
            }
            other => PI.pass_over_node(other, node, out),
        }
    }

    fn compaction(&mut self, record: &Record<'_>, mut node: Node, out: &mut Sink<'_>) {
        self.branch(&node, out);
        let index = || Some(Key::of_number("pi", record.first_kept_entry_index.0?));
        let first = record.first_kept_entry_id.key().or_else(index);
        let cause = match std::mem::take(&mut self.run) {
            Run::Ended => "unknown".into(),
            Run::Calls | Run::Results => Cause::Automatic,
        };
        out.reset(Reset {
            key: record.id.get().map(|id| Key::of_parts(&["reset", id])),
            before: record.tokens_before.0,
            ..Reset::new(Gone::Compaction, cause, Kept::from(first))
        });
        // What is kept may reach back beyond the summary before this one, which is never kept.
        if let Some(old) = std::mem::replace(&mut self.summary, node.key) {
            out.emit(Event::cleared_node(old));
        }
        node.parent = Parent::Previous;
        inject(node, Kind::Summary, &record.summary(), out);
    }
}

/// Emits what the harness put in.
fn inject(mut node: Node, kind: Kind, content: &Content<'_>, out: &mut Sink<'_>) {
    node.part = Part::Injected;
    node.items
        .extend(one_item(Role::Container, kind, content, out));
    out.node(node);
}

/// A whole content as one item; none where it is empty.
fn one_item(role: Role, kind: Kind, content: &Content<'_>, out: &mut Sink<'_>) -> Option<NewItem> {
    (!content.0.is_empty()).then(|| add_content(out.item(role, kind), content).done())
}

/// Emits a response. Returns how it left the run.
fn assistant(
    record: &Record<'_>,
    message: &Message<'_>,
    mut node: Node,
    out: &mut Sink<'_>,
) -> Run {
    let numbers = message.usage.unwrap_or_default();
    let request = request_of(record, out.place(), numbers);
    let broken = matches!(message.stop_reason.get(), Some("aborted" | "error"));
    if !broken {
        for piece in &message.content.0 {
            node.items.extend(output_item(piece, out));
        }
    }
    let run = match node.items.iter().any(|item| item.kind == Kind::ToolCall) {
        true => Run::Calls,
        false => Run::Ended,
    };
    node.part = Part::Output;
    node.request = Some(request);
    out.node(node);
    let billed = numbers.billed();
    if billed.prompt() > 0 {
        out.usage(Usage {
            model: message.model.boxed(),
            cached: billed.cache_read,
            output: numbers.output.0.filter(|_| !broken),
            reasoning: numbers.reasoning.0.filter(|_| !broken),
            billed,
            ..Usage::reported(request, billed.prompt())
        });
    }
    run
}

/// A piece of the model's output; `None`: of an unknown type.
fn output_item(piece: &Piece<'_, Block<'_>>, out: &mut Sink<'_>) -> Option<NewItem> {
    let block = match piece {
        Piece::Text(text) => {
            return Some(out.text(Role::Assistant, Kind::Text, text));
        }
        Piece::Part(block) => block,
    };
    let item = match block.kind.or_empty() {
        "text" => out
            .item(Role::Assistant, Kind::Text)
            .text(block.text.or_empty()),
        "thinking" => out
            .item(Role::Assistant, Kind::Thinking)
            .text(block.thinking.or_empty())
            .opaque(block.thinking_signature.or_empty().len() as u64),
        "toolCall" => {
            let call = out.tool_call(block.name.get(), block.id.get());
            let call = call.text(block.name.or_empty());
            match block.arguments {
                Some(arguments) => lenient::raw(call, arguments),
                None => call,
            }
        }
        _ => return None,
    };
    Some(item.done())
}

type Content<'a> = Pieces<'a, Block<'a>>;

impl Record<'_> {
    /// The summary, which has no pieces where it is empty.
    fn summary(&self) -> Content<'_> {
        let text = self.summary.get().filter(|text| !text.is_empty());
        Pieces(
            text.map(|text| Piece::Text(text.into()))
                .into_iter()
                .collect(),
        )
    }
}

/// Adds texts and images to an item.
fn add_content<'s, 'm>(item: ItemBuilder<'s, 'm>, content: &Content<'_>) -> ItemBuilder<'s, 'm> {
    content.0.iter().fold(item, |item, piece| match piece {
        Piece::Text(text) => item.text(text),
        // Most models that pi is used with are Claude's.
        Piece::Part(block) if block.kind.get() == Some("image") => {
            let tokens = image::tokens(block.data.or_empty(), image::claude, IMAGE_TOKENS);
            item.fixed(tokens, "[image]")
        }
        Piece::Part(block) => item.text(block.text.or_empty()),
    })
}

/// An entry's id, or its index in the file, which the oldest format's compactions refer to.
fn key_of(record: &Record<'_>, place: Place) -> Option<Key> {
    match record.id.get() {
        Some(id) => Some(Key::of(id)),
        None => Some(Key::of_number("pi", place.line.checked_sub(1)?)),
    }
}

fn parent_of(record: &Record<'_>) -> Parent {
    match (record.id.get(), record.parent_id.get()) {
        (None, _) => Parent::Previous,
        (Some(_), None) => Parent::Root,
        (Some(_), Some(parent)) => Parent::Key(Key::of(parent)),
    }
}

/// The same in every fork. Ids have 32 bits, which is too few for all sessions of a machine, so the
/// time belongs to it; where there is no id, the numbers.
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
mod tests {
    use super::*;
    use crate::agents::testing;
    use crate::model::event::Entry;
    use crate::model::session::Session;
    use crate::model::window::Rules;
    use std::sync::Arc;

    fn events(log: &str) -> Vec<Entry> {
        testing::read(&PI, log.lines())
    }

    fn session(log: &str) -> Session {
        let rules: Rules = toml::from_str(include_str!("../../assets/models.toml")).unwrap();
        let mut session = Session::new("pi", Arc::new(rules));
        events(log)
            .into_iter()
            .for_each(|entry| session.apply(entry));
        session
    }

    fn previews(session: &Session) -> Vec<&str> {
        let alive = session.alive();
        alive
            .iter()
            .map(|ix| &*session.items()[*ix].preview)
            .collect()
    }

    macro_rules! case {
        ($name:literal) => {
            include_str!(concat!("../../tests/fixtures/pi/", $name, "/log.jsonl"))
        };
    }

    #[test]
    fn a_branch_that_was_left_is_not_in_the_context() {
        let session = session(case!("branch"));
        assert_eq!(
            previews(&session),
            [
                "Which port?",
                "8080.",
                "The user tried port 9090 and came back.",
                "Keep 8080."
            ]
        );
        let known = session.context().known;
        assert_eq!(known, 1_010, "the newer report was of the other branch");
    }

    #[test]
    fn only_what_the_model_gets_is_in_the_context() {
        let session = session(case!("custom"));
        let roles: Vec<Role> = session
            .alive()
            .iter()
            .map(|ix| session.items()[*ix].role)
            .collect();
        assert_eq!(
            previews(&session),
            ["Hello", "Lint is on.", "Mode: strict.", "uname Linux"]
        );
        assert_eq!(
            roles,
            [Role::User, Role::Container, Role::Container, Role::User]
        );
        let skipped: Vec<&str> = session.skipped.keys().map(|kind| &**kind).collect();
        assert_eq!(
            skipped,
            ["bashExecution", "custom", "label", "thinking_level_change"]
        );
        assert_eq!(session.meta.title.as_deref(), Some("Lint run"));
    }

    #[test]
    fn a_compaction_keeps_from_the_first_kept_entry_on_and_no_older_summary() {
        let session = session(case!("compactions"));
        let resets: Vec<(u64, &str)> = session
            .resets()
            .iter()
            .map(|r| (r.before, r.cause.name()))
            .collect();
        assert_eq!(resets, [(3_060, "unknown"), (3_130, "auto")]);
        assert_eq!(
            previews(&session),
            [
                "two",
                "Two.",
                "three",
                "read {\"path\":\"a.rs\"}",
                "Second summary.",
                "fn a() {}"
            ]
        );
        assert_eq!(session.context().basis.name(), "estimated");
    }

    #[test]
    fn the_oldest_format_has_indexes_instead_of_ids() {
        let session = session(case!("version-1"));
        assert_eq!(session.resets()[0].before, 3_060);
        assert_eq!(
            previews(&session),
            ["kept", "Kept too.", "What was said before.", "go on"]
        );
        assert_eq!(session.model(), Some("claude-sonnet-4-5"));
        assert_eq!(session.meta.parent, None, "a fork is no sub-agent");
    }

    #[test]
    fn of_a_broken_response_only_a_prompt_counts() {
        let session = session(case!("aborted"));
        let prompts: Vec<(u64, Option<u64>)> = session
            .requests()
            .iter()
            .map(|r| (r.prompt, r.output))
            .collect();
        assert_eq!(prompts, [(1_100, Some(20)), (1_150, None)]);
        assert_eq!(previews(&session), ["one", "One.", "two", "three"]);
        let context = session.context();
        assert_eq!(context.known, 1_150, "nothing of an aborted response stays");
        assert!(context.estimated > 0, "what came after it");
    }

    #[test]
    fn a_prompt_is_all_input_cached_or_not() {
        let session = session(case!("usage"));
        let request = &session.requests()[0];
        assert_eq!((request.prompt, request.cached), (30_110, 30_000));
        assert_eq!((request.output, request.reasoning), (Some(250), Some(90)));
        let kinds: Vec<Kind> = session
            .alive()
            .iter()
            .map(|ix| session.items()[*ix].kind)
            .collect();
        assert_eq!(
            kinds,
            [
                Kind::Text,
                Kind::Thinking,
                Kind::ToolCall,
                Kind::ToolResult,
                Kind::Text
            ]
        );
        let image = &session.items()[3];
        assert_eq!(
            (image.size.fixed, image.tool.as_deref()),
            (4, Some("screenshot"))
        );
        assert_eq!(
            session.turns, 1,
            "a message put in during the run begins no turn"
        );
    }

    #[test]
    fn a_fork_repeats_requests_under_their_keys() {
        let keys = |log: &str| -> Vec<Key> {
            let usage = |entry: Entry| match entry.event {
                Event::Usage(usage) => Some(usage.request),
                _ => None,
            };
            events(log).into_iter().filter_map(usage).collect()
        };
        let log = case!("usage");
        let fork = log.replace(
            "\"id\":\"5e55\"",
            "\"id\":\"f04c\",\"parentSession\":\"/x.jsonl\"",
        );
        assert_ne!(log, fork);
        assert_eq!(keys(log), keys(&fork));
    }

    #[test]
    fn hostile_lines_are_counted() {
        let session = session(case!("hostile"));
        assert_eq!(session.unreadable, 4);
        assert_eq!(previews(&session), ["still here"]);
        assert_eq!(session.requests().len(), 0);
    }

    #[test]
    fn names() {
        let claim = |name: &str| PI.claims(Path::new(name));
        let id = claim("/s/--p--/2026-05-12T01-02-27-657Z_019e-aa.jsonl").and_then(|c| c.id);
        assert_eq!(id.as_deref(), Some("019e-aa"));
        for other in [
            "rollout-2026-05-12T01-02-27-aa.jsonl",
            "a_b.jsonl",
            "2026T_.jsonl",
            "2026-T_a.json",
        ] {
            assert_eq!(claim(other), None, "{other}");
        }
        assert!(PI.recognise(b" {\"type\": \"session\", \"ver"));
        assert!(!PI.recognise(b"{\"type\":\"sess"));
        assert!(!PI.recognise(b"{\"type\":\"user\",\"sessionId\":1}"));
    }
}
