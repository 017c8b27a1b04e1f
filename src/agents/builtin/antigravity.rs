//! Antigravity: Google's agent on the command line and in its editor, the successor of Gemini CLI.
//!
//! A conversation is kept twice: its texts in lines, `brain/<id>/.system_generated/logs/transcript.jsonl`,
//! the provider's numbers in a database, `conversations/<id>.db`; see `generation`. The lines are the
//! log, the database is beside it; where there are no lines, the database is the log. What is known of the
//! lines is from public readers of them (jazzyalex/agent-sessions, its design of 2026-06-26 and its shapes of
//! 1.0.12; getagentseal/codeburn, `docs/providers/antigravity.md`):
//!
//! * A line is a step: `step_index`, `source`, `type`, `created_at`, `content`. `USER_INPUT` is the user's,
//!   what he typed is in `<USER_REQUEST>`. `PLANNER_RESPONSE` is the model's, with `thinking` and
//!   `tool_calls`. Other steps of the model are results of its calls, in their order, without an id.
//! * Steps of the system with text are what the harness put in. A `CHECKPOINT` is the summary of a
//!   compaction; what stays in the context beside it is not known: nothing is assumed to stay.
//! * `truncated_fields` names fields that the line has in part. `transcript_full.jsonl` beside it has
//!   the whole of them.
//! * Thoughts are billed as output, and are in no later prompt, as of Gemini's interface.
//!
//! The rule by which it compacts is not documented. Conversations of the first builds (`.pb`) are encrypted.

mod generation;

use decode::anthropic;
use decode::lenient::{self, Count, Raw, Text, record};
use formats::names;
use formats::{
    Claim, Decoder, FilesBeside, Format, Recognition, Root, SidecarRecord, SidecarSpec,
    StateUpdate, StoreKind, Totals, decoder, head,
};
use model::event::{
    Cause, EventSink, ItemBuilder, Key, Meta, NewItem, Node, Part, Reset, RetainedItems, Usage,
};
use model::{Kind, Role};
use std::collections::{HashMap, VecDeque};
use std::path::Path;

/// The tags around what the user typed.
const REQUEST: (&str, &str) = ("<USER_REQUEST>", "</USER_REQUEST>");

/// The format.
pub static ANTIGRAVITY: Format = Format {
    id: "antigravity",
    roots: &[
        Root::home(".gemini/antigravity-cli", "brain"),
        Root::home(".gemini/antigravity-cli", "conversations"),
        Root::home(".gemini/antigravity", "brain"),
        Root::home(".gemini/antigravity", "conversations"),
        Root::home(".gemini/antigravity-ide", "brain"),
        Root::home(".gemini/antigravity-ide", "conversations"),
    ],
    claims: &claims,
    recognition: Recognition::new(&recognise).kept_in(&|head| {
        StoreKind::database(&generation::DATABASE.spec, head).or(Some(StoreKind::Lines))
    }),
    decoder: &decoder::<AntigravityDecoder>,
    reset_marks: &[r#""type":"CHECKPOINT""#, r#""type": "CHECKPOINT""#],
    harmless: "CONVERSATION_HISTORY",
    totals: Totals::new(formats::THOUGHTS).reasoning_beside(),
    beside: FilesBeside {
        sidecar: Some(&SidecarSpec {
            env: None,
            // No files of lines, but one folder for each conversation.
            folder: |log| Some(generation::beside(log)?.with_extension("d")),
            read: |_| None,
            database: Some(&generation::DATABASE),
        }),
        ..FilesBeside::NONE
    },
    ..Format::DEFAULT
};

const LOGS: [&str; 2] = ["logs", ".system_generated"];
const LINES: &str = "transcript.jsonl";
const WHOLE_LINES: &str = "transcript_full.jsonl";

fn claims(path: &Path) -> Option<Claim> {
    let mut names = names(path);
    let name = names.next()?;
    if let Some(id) = name.strip_suffix(".db") {
        let folder = names.next()?;
        let mut transcript = path.parent()?.with_file_name("brain").join(id);
        transcript.extend([LOGS[1], LOGS[0], LINES]);
        return (folder == "conversations").then(|| Claim {
            id: Some(id.to_owned()),
            superseded_by: Some(transcript),
            ..Claim::database(&generation::DATABASE.spec)
        });
    }
    let is_there = [names.next()?, names.next()?] == LOGS;
    let claim = Claim::session(names.next().filter(|_| is_there)?);
    match name {
        WHOLE_LINES => Some(claim),
        LINES => Some(Claim {
            superseded_by: Some(path.with_file_name(WHOLE_LINES)),
            ..claim
        }),
        _ => None,
    }
}

fn recognise(head: &[u8]) -> bool {
    let marks = [r#""source""#, r#""type""#];
    head::solid(head, 64).starts_with(br#"{"step_index":"#)
        && marks.iter().all(|mark| head::has(head, mark))
}

record! {
    struct Step<'a> {
        index: Count = "step_index",
        source: Text<'a>,
        kind: Text<'a> = "type",
        at: Text<'a> = "created_at",
        content: Text<'a>,
        calls: Vec<Call<'a>> = "tool_calls",
        truncated: Vec<Text<'a>> = "truncated_fields",
        generation: Text<'a>,
        trajectory: Text<'a>,
    }

    struct Call<'a> {
        name: Text<'a>,
        args: Option<Raw<'a>>,
    }
}

/// Decodes one conversation.
#[derive(Default)]
struct AntigravityDecoder {
    /// The numbers of the response that a step is, by step.
    usages: HashMap<Key, Usage>,
    /// The facts about the conversation in the database, until they are emitted.
    about: Option<Meta>,
    /// The newest model.
    meta: Meta,
    /// Tools that were called and have not returned.
    calls: VecDeque<Box<str>>,
}

impl Decoder for AntigravityDecoder {
    fn read_sidecar(&mut self, records: &[SidecarRecord]) -> StateUpdate {
        for record in records {
            let usage = &record.usage;
            let steps = record.keys.iter().map(|step| (*step, usage.clone()));
            self.usages.extend(steps);
            self.about = record.about.clone().or(self.about.take());
        }
        StateUpdate::RereadLog
    }

    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        if let Some(about) = self.about.take() {
            out.meta(about);
        }
        let Some(step) = lenient::object::<Step<'_>>(line, out) else {
            return;
        };
        if let Some(row) = step.generation.get() {
            return self.row(row, out);
        }
        if let Some(trajectory) = step.trajectory.get() {
            return out.meta(generation::about(trajectory));
        }
        out.set_time(step.at.time());
        let content = step.content.or_empty();
        match (step.source.or_empty(), step.kind.or_empty()) {
            (_, "") => out.unreadable("no type"),
            (_, "CHECKPOINT") => checkpoint(&step, out),
            (_, "USER_INPUT") => {
                let items = input(content, out);
                add(&step, Part::Input, items, out);
            }
            (_, "PLANNER_RESPONSE") => self.response(&step, out),
            (_, kind) if content.is_empty() => ANTIGRAVITY.pass_over(kind, out),
            ("MODEL", kind) => {
                let called = self.calls.pop_front();
                let name = called.unwrap_or_else(|| kind.to_lowercase().into());
                let item = out.tool_result(Some(&name), None);
                let items = vec![step.content_of(item)];
                add(&step, Part::Result, items, out);
            }
            _ => {
                let items = vec![out.text(Role::Container, Kind::Reminder, content)];
                add(&step, Part::Injected, items, out);
            }
        }
    }
}

impl AntigravityDecoder {
    fn response(&mut self, step: &Step<'_>, out: &mut EventSink<'_>) {
        self.calls.clear();
        let mut items = Vec::new();
        if !step.content.or_empty().is_empty() {
            items.push(step.content_of(out.item(Role::Assistant, Kind::Text)));
        }
        for call in &step.calls {
            let name = call.name.or_empty();
            self.calls.push_back(name.into());
            items.push(lenient::call(call.name.get(), None, call.args, out));
        }
        let key = step.key();
        let usage = key.and_then(|key| self.usages.get(&key)).cloned();
        let request = usage.as_ref().map(|usage| usage.request).or(key);
        let model = usage.as_ref().and_then(|usage| usage.model.clone());
        out.meta(Meta::of_model(model).changes(&mut self.meta));
        out.node(Node::output(key, request, items));
        out.usage(usage);
    }

    /// Emits a row of the database, where that is the log: the numbers of a response, but not its text.
    fn row(&mut self, row: &str, out: &mut EventSink<'_>) {
        let (usage, _, at) = match generation::read(row) {
            Some(Some(generation)) => generation,
            Some(None) => return out.skip("generation"),
            None => return out.unreadable("a generation that cannot be read"),
        };
        out.set_time(at);
        out.meta(Meta::of_model(usage.model.clone()).changes(&mut self.meta));
        let item = out.item(Role::Assistant, Kind::Text);
        let item = item.reported(usage.output.unwrap_or(0), "[not in the log]");
        let items = vec![item.done()];
        out.node(Node::output(None, Some(usage.request), items));
        out.usage(usage);
    }
}

impl Step<'_> {
    fn key(&self) -> Option<Key> {
        self.index.0.map(generation::step)
    }

    /// Returns the content as an item, of which the end may be missing.
    fn content_of(&self, item: ItemBuilder<'_, '_>) -> NewItem {
        let item = item.text(self.content.or_empty());
        let mut truncated = self.truncated.iter();
        if truncated.any(|field| field.get() == Some("content")) {
            item.partial().done()
        } else {
            item.done()
        }
    }
}

fn add(step: &Step<'_>, part: Part, items: Vec<NewItem>, out: &mut EventSink<'_>) {
    out.node(Node::new(step.key(), part, items));
}

/// Takes in a compaction, and the summary.
fn checkpoint(step: &Step<'_>, out: &mut EventSink<'_>) {
    out.reset(Reset {
        key: step.key(),
        ..Reset::compaction(Cause::Unlogged, RetainedItems::Nothing)
    });
    let item = out.text(Role::Container, Kind::Summary, step.content.or_empty());
    out.node(Node::new(None, Part::Injected, vec![item]));
}

/// Returns the items of a message of the user's: what he typed, and what was put in around it.
fn input(content: &str, out: &mut EventSink<'_>) -> Vec<NewItem> {
    let (before, rest) = content.split_once(REQUEST.0).unwrap_or(("", content));
    let (typed, after) = rest.split_once(REQUEST.1).unwrap_or((rest, ""));
    let mut items = Vec::new();
    anthropic::add_typed([before, typed.trim_matches('\n'), after], &mut items, out);
    items
}

#[cfg(test)]
mod tests;
