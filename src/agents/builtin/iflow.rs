//! iFlow CLI.
//!
//! A session is one JSON Lines file whose records look like Claude Code's. After a public reader of the format
//! (heyallencao/engram, `docs` on session formats: two logs of version 1.0.0 and the writer's functions) and logs in
//! public repositories:
//!
//! * The records are a list, `parentUuid` notwithstanding: all answers to a prompt have the prompt for a parent, the
//!   results of parallel calls the last of the calls.
//! * Each text and each call of a response is a record of its own with an id of its own, `response-<milliseconds>-…`. A
//!   response ends where a user's record comes.
//! * `usage` is zero in most records; where it is not, `input_tokens` is the prompt.
//! * A result's content is Gemini's: `responseParts` with a `functionResponse`, or that alone; in some logs a text.
//! * What the harness puts in is a user's record with `isMeta`. So is the summary of a compaction, whose mark is not known.

use format::{
    Claim, Decoder, Facts, Format, Root, Tier, WITH_CACHE, decoder, facts, head, is_uuid, names,
};
use kit::anthropic::{ToolNames, part_of};
use kit::lenient::{self, Count, Pieces, Raw, Text, record};
use model::event::{Billed, ItemBuilder, Key, Meta, NewItem, Node, Sink, Usage};
use model::{Kind, Role};

/// The format.
pub static IFLOW: Format = Format {
    id: "iflow",
    label: "iflow",
    tier: Tier::Sources,
    roots: &[Root::home(".iflow", "projects")],
    facts: Facts {
        mark: "record with `parentUuid` and a `sessionId` that begins with `session-`",
        live: facts::EACH_LINE,
        known: "prompts, outputs of responses that have usage",
        estimated: "the others",
        sub_agents: "none logged",
        compactions: "not recognised",
        tried: "logs of 1.0 in public repositories",
    },
    claims: &|path| {
        let name = names(path).next()?.strip_suffix(".jsonl")?;
        is_uuid(name.strip_prefix("session-")?).then(|| Claim::session(name))
    },
    recognise: &recognise,
    decoder: &decoder::<IflowDecoder>,
    terms: &[WITH_CACHE[0], WITH_CACHE[3]],
    ..Format::DEFAULT
};

/// Returns true if a log is of this format. Claude Code's ids are no words with a number.
fn recognise(head: &[u8]) -> bool {
    let head = head::solid(head, 4096);
    let has = |mark: &str| head::has(&head, mark);
    head::is_object(&head)
        && has(r#""sessionId":"session-"#)
        && has(r#""parentUuid":"#)
        && has(r#""userType":"#)
}

record! {
    struct Record<'a> {
        kind: Text<'a> = "type",
        uuid: Text<'a>,
        session_id: Text<'a> = "sessionId",
        timestamp: Text<'a>,
        cwd: Text<'a>,
        version: Text<'a>,
        is_meta: Option<bool> = "isMeta",
        message: Message<'a>,
    }

    struct Message<'a> {
        content: Pieces<Block<'a>>,
        model: Text<'a>,
        usage: Numbers,
    }

    struct Block<'a> {
        kind: Text<'a> = "type",
        text: Text<'a>,
        id: Text<'a>,
        name: Text<'a>,
        input: Option<Raw<'a>>,
        tool_use_id: Text<'a>,
        content: Option<Raw<'a>>,
    }

    /// A result, or a part of one.
    struct Output<'a> {
        text: Text<'a>,
        response: Option<Raw<'a>> = "functionResponse" / "response",
        parts: Pieces<Part<'a>> = "responseParts",
    }

    struct Part<'a> {
        text: Text<'a>,
        response: Option<Raw<'a>> = "functionResponse" / "response",
    }

    whole struct Numbers {
        input: Count = "input_tokens",
        output: Count = "output_tokens",
    }
}

/// Decodes one session.
#[derive(Default)]
struct IflowDecoder {
    meta: Meta,
    tools: ToolNames,
    /// The response that goes on.
    open: Option<Key>,
}

impl Decoder for IflowDecoder {
    fn read_line(&mut self, line: &str, out: &mut Sink<'_>) {
        let Some(record) = lenient::object::<Record<'_>>(line, out) else {
            return;
        };
        out.set_time(record.timestamp.time());
        let meta = Meta {
            id: record.session_id.boxed(),
            cwd: record.cwd.boxed(),
            model: record.message.model.boxed(),
            version: record.version.boxed(),
            ..Meta::default()
        };
        out.meta(meta.changes(&mut self.meta));
        match record.kind.or_empty() {
            "assistant" => self.response(&record, out),
            "user" => {
                self.open = None;
                let items = self.input(&record, out);
                out.node(Node::new(record.uuid.key(), part_of(&items), items));
            }
            "" => out.unreadable("no type"),
            other => IFLOW.pass_over(other, out),
        }
    }
}

impl IflowDecoder {
    fn response(&mut self, record: &Record<'_>, out: &mut Sink<'_>) {
        let Some(key) = record.uuid.get().map(|id| Key::of_parts(&["response", id])) else {
            return out.unreadable("a record without a uuid");
        };
        let request = *self.open.get_or_insert(key);
        let mut items = Vec::new();
        for block in &record.message.content.0 {
            items.push(match block.kind.or_empty() {
                "tool_use" => self
                    .tools
                    .call(block.id.get(), block.name.get(), block.input, out),
                _ => out.text(Role::Assistant, Kind::Text, block.text.or_empty()),
            });
        }
        out.node(Node::output(record.uuid.key(), Some(request), items));
        let Numbers { input, output } = record.message.usage;
        let (input, output) = (input.or_zero(), output.or_zero());
        if input > 0 {
            out.usage(Usage {
                output: Some(output).filter(|output| *output > 0),
                ..Usage::billed(request, input, Billed::new(input, output))
            });
        }
    }

    fn input(&self, record: &Record<'_>, out: &mut Sink<'_>) -> Vec<NewItem> {
        let (role, kind) = match record.is_meta {
            Some(true) => (Role::Container, Kind::Reminder),
            _ => (Role::User, Kind::Text),
        };
        let blocks = record.message.content.0.iter();
        let items = blocks.map(|block| match block.kind.or_empty() {
            "tool_result" => self.result(block, out),
            _ => out.text(role, kind, block.text.or_empty()),
        });
        items.collect()
    }

    fn result(&self, block: &Block<'_>, out: &mut Sink<'_>) -> NewItem {
        let content: Pieces<Output<'_>> = lenient::value(block.content, "content", out);
        let call = block.tool_use_id.get();
        let mut item = out.tool_result(self.tools.get(call), call);
        for output in &content.0 {
            let parts = output.parts.0.iter();
            let parts = parts.map(|part| (&part.text, part.response));
            for (text, response) in std::iter::once((&output.text, output.response)).chain(parts) {
                item = text.get().into_iter().fold(item, ItemBuilder::text);
                item = lenient::strings(item, response);
            }
        }
        item.done()
    }
}
