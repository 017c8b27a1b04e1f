//! Gemini CLI.
//!
//! A session is a JSON Lines file of messages; before version 0.39 one JSON document, rewritten in
//! place. After its chat recording service (google-gemini/gemini-cli, `packages/core/src/services`),
//! checked on two real sessions and on runs of 0.61.0:
//!
//! * A message is written again, whole, whenever it gains tokens or tool calls: the same id takes the
//!   place of what was there. So tokens may come before, with or after the text they belong to.
//! * `{"$set":{"messages":[…]}}` is a checkpoint: the history is this list and no other. It is written
//!   after a compression, but as well when tool results were masked or cut, when a turn was aborted, and
//!   by each process that resumes the session: that first writes a list of the session's context alone, then
//!   at once the whole history. A compression puts a new `<state_snapshot>` first. One that finds nothing
//!   to take away replaces only the summary before it. Messages that survive keep the tokens of their
//!   time, which are not those of the context after it.
//! * After masking and compression all messages have new ids, and neighbours of one author are one
//!   message. Before the list of a masked history, each of its messages is written as a record too.
//! * `{"$rewindTo":id}` takes that message away and all after it; everything, where the id is unknown.
//! * `input` includes `cached`; `output` does not include `thoughts`, and thoughts leave: 12,207 with
//!   105 of output and 153 of thoughts became 12,350, the result being 38. They are in the context until the
//!   next message. Numbers that are missing are written as 0, so a prompt of 0 is an unknown one.
//! * `tool` are tokens of what the provider's own tools returned within the request
//!   (`toolUsePromptTokenCount`): input beside `input`, since the total is the sum of `input`, `tool`,
//!   `output` and `thoughts` (google-genai's types), and in no later prompt.
//! * Tool results are next to their calls; since about 0.60 in the next message of the user's too. In a
//!   list they are in messages of the user's alone, and results next to parallel calls contain each
//!   other's. A process that resumes takes both records for results, so from then on each is sent twice.

use decode::lenient::{self, Raw, Text};
use formats::{
    ArrayName, Claim, Decoder, FilesBeside, Format, Recognition, Root, StateUpdate, StoreKind,
    Totals, decoder, head,
};
use formats::{SameId, THOUGHTS, names};
use model::event::{Event, EventSink, Key, Meta, NewItem, Node, Part, Usage};
use model::{Kind, LeaveReason, Role};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

mod history;
mod part_placer;
mod parts;
mod record;
mod settings;
use history::{Change, History, Pool, Print, Slot};
use part_placer::PartPlacer;
use parts::Bit;
use record::{Facts, Record, meta, usage};

/// The beginning of a summary.
const SNAPSHOT: &str = "<state_snapshot>";
/// The beginnings of the harness's notes in the user's name: now, and in older versions.
const NOTES: [&str; 2] = ["<session_context>", "This is the Gemini CLI."];

/// The format.
pub static GEMINI_CLI: Format = Format {
    id: "gemini-cli",
    // The variable replaces the home directory, not the folder in it.
    roots: &[Root::home("", ".gemini/tmp").env("GEMINI_CLI_HOME")],
    claims: &claims,
    same_id: SameId::LongestOf(id_in_name),
    recognition: Recognition::new(&recognise)
        .kept_in(&store)
        .list(ArrayName::Json("messages")),
    decoder: &decoder::<GeminiCliDecoder>,
    harmless: "info warning error",
    totals: Totals::new(THOUGHTS)
        .reasoning_beside()
        .without_compactions(),
    settings: Some(&settings::SETTINGS),
    beside: FilesBeside::states(|log| project_root(log).into_iter().collect()),
    ..Format::DEFAULT
};

/// Claims `chats/session-….json`, `chats/session-….jsonl`, and a sub-agent's `chats/<parent>/<id>.jsonl`.
fn claims(path: &Path) -> Option<Claim> {
    let mut names = names(path);
    let name = names.next()?;
    let (parent, grandparent) = (names.next()?, names.next());
    if parent == "chats" && name.starts_with("session-") {
        let store = match name.rsplit_once('.')?.1 {
            "json" => StoreKind::Document,
            "jsonl" => StoreKind::Lines,
            _ => return None,
        };
        // The name holds only the first eight characters of the id.
        return Some(Claim::LINES.kept_in(store));
    }
    if grandparent != Some("chats") {
        return None;
    }
    Some(Claim::session(name.strip_suffix(".jsonl")?).child_of(parent))
}

/// Returns the first characters of the id, and the folder they are in: `chats/session-<time>-<characters>.jsonl`.
fn id_in_name(path: &Path) -> Option<String> {
    let (folder, name) = (path.parent()?, path.file_stem()?.to_str()?);
    let id = name.strip_prefix("session-")?.rsplit_once('-')?.1;
    Some(folder.join(id).to_string_lossy().into_owned())
}

/// Returns the path of `tmp/<project>/.project_root`, which holds the path of the project's folder.
fn project_root(log: &Path) -> Option<PathBuf> {
    let mut above = log.ancestors().skip(1).take(2);
    let chats = above.find(|folder| folder.ends_with("chats"))?;
    Some(chats.parent()?.join(".project_root"))
}

fn recognise(head: &[u8]) -> bool {
    let marks = [r#""sessionId""#, r#""projectHash""#];
    head::is_object(head) && marks.iter().all(|mark| head::has(head, mark))
}

/// Returns the kind of store of a log. A document on one line holds the messages that a first line of many does not.
fn store(head: &[u8]) -> Option<StoreKind> {
    if head::has(head::first_line(head), r#""messages":["#) {
        Some(StoreKind::Document)
    } else {
        head::lines_or_document(head)
    }
}

/// Decodes one session.
#[derive(Clone, Default)]
struct GeminiCliDecoder {
    history: History,
    /// The number of parts of the history that have come again, message by message; `None`: it is not being repeated.
    repeated: Option<usize>,
    /// The history that a new process wrote first, without the messages that are to follow.
    fresh_start: Option<Vec<Slot>>,
    /// Messages whose tokens of built-in tools have been read.
    built_in: HashSet<Key>,
    /// Messages whose thoughts have been read.
    thought: HashSet<Key>,
    /// The newest thoughts: their message and their node.
    thinking: Option<(Key, Key)>,
    /// True if the log contains everything that the next prompt holds beyond an earlier one.
    is_continued: bool,
    /// The newest facts.
    meta: Meta,
}

impl Decoder for GeminiCliDecoder {
    /// The order of these questions is the agent's own.
    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let Some(record) = lenient::object::<Record<'_>>(line, out) else {
            return;
        };
        if let Some(key) = record.rewind_to.key() {
            self.start_fresh(out);
            self.history.rewind(key);
            self.is_continued = false;
            self.repeated = None;
            out.emit(Event::Retain {
                keys: self.history.nodes(),
                cause: LeaveReason::Rewind,
            });
        } else if record.id.get().is_some() {
            self.start_fresh(out);
            self.message(&record, out);
        } else if let Some(facts) = &record.set {
            meta(facts, out);
            if let Some(messages) = &facts.messages {
                self.checkpoint(messages, out);
            }
        } else if let Some(facts) = lenient::object::<Facts<'_>>(line, out) {
            match facts.session_id.get() {
                Some(_) => meta(&facts, out),
                None => out.unreadable("neither a message nor about the session"),
            }
        }
    }

    fn read_document(&mut self, document: &str, out: &mut EventSink<'_>) {
        if let Some(mut facts) = lenient::object::<Facts<'_>>(document, out) {
            if facts.messages.is_none() {
                return out.unreadable("no messages");
            }
            // The document's newest time is not that of its beginning.
            facts.last_updated = Text::default();
            meta(&facts, out);
        }
    }

    fn read_state(&mut self, document: &str, out: &mut EventSink<'_>) -> Option<StateUpdate> {
        let folder = Some(document.trim()).filter(|folder| !folder.is_empty());
        out.meta(Meta {
            cwd: folder.map(Into::into),
            ..Meta::default()
        });
        Some(StateUpdate::Accepted)
    }

    fn copy(&self) -> Option<Box<dyn Decoder>> {
        Some(Box::new(self.clone()))
    }
}

/// A part of a message with its place in the history, on the way into the context.
struct Step<'r, 'a> {
    slot: usize,
    bits: Vec<Bit<'r, 'a>>,
    change: Change,
}

/// A message with its parts.
struct Plan<'r, 'a> {
    message: &'r Record<'a>,
    /// True if the history had no part of it.
    is_new: bool,
    steps: Vec<Step<'r, 'a>>,
}

impl GeminiCliDecoder {
    /// Reads a checkpoint: the history is this list and no other.
    fn checkpoint(&mut self, messages: &[Raw<'_>], out: &mut EventSink<'_>) {
        let records: Vec<Record<'_>> = messages
            .iter()
            .filter_map(|raw| lenient::value(Some(*raw), "messages", out))
            .collect();
        self.repeated = None;
        self.fresh_start = None;
        let is_first = self.history.slots.is_empty();
        let before = self.history.clone();
        let mut pool = self.history.take();
        let plans: Vec<Plan<'_, '_>> = records
            .iter()
            .map(|message| self.plan(message, Some(&mut pool)))
            .collect();
        // A new process writes what it puts before every conversation, then, at once, the conversation.
        let is_note = |plan: &Plan<'_, '_>| {
            let bits = plan.steps.iter().flat_map(|step| &step.bits);
            plan.message.kind.get() == Some("user") && bits.into_iter().all(Bit::begins_note)
        };
        if before.parts().count() > 1 && plans.iter().all(is_note) {
            let is_before = |slot: &&Slot| before.slots.iter().any(|old| old.node == slot.node);
            let kept = self.history.slots.iter().filter(is_before);
            self.fresh_start = Some(kept.cloned().collect());
            self.history = before;
            return;
        }
        self.forget_thoughts(out);
        let mut kept_back = Vec::new();
        for slot in pool.take_unsent() {
            if self.history.has_call(&slot.print) {
                kept_back.extend(slot.node);
                self.history.add(slot);
            }
        }
        let kept = plans.iter().flat_map(|plan| &plan.steps);
        let kept = kept.filter(|step| step.change != Change::New);
        let kept = kept.filter_map(|step| self.history.slots[step.slot].node);
        let is_compacted = self.is_compacted(&before, &pool);
        out.emit(Event::Retain {
            keys: kept.chain(kept_back).collect(),
            cause: if is_compacted {
                LeaveReason::Compaction
            } else {
                LeaveReason::Cleared
            },
        });
        self.is_continued &= !is_compacted;
        // A reader that begins here has not read the reports that these messages repeat.
        let is_report = is_first && !messages.iter().any(|m| m.get().contains(SNAPSHOT));
        for plan in plans {
            let filled = plan.steps.iter();
            let filled = filled.filter(|step| step.change == Change::Filled);
            let nodes = filled.filter_map(|step| self.history.slots[step.slot].node);
            nodes.for_each(|node| out.emit(Event::cleared_node(node)));
            self.emit(plan, is_report, out);
        }
    }

    /// Returns true if a list that lacks the rest of the earlier messages is that of a compression: it has a new
    /// summary, and more is gone than the summary before it.
    fn is_compacted(&self, before: &History, rest: &Pool) -> bool {
        let is_new = |slot: &Slot| slot.message.is_some_and(|message| !before.has(message));
        let mut memories = self.history.slots.iter().filter(|slot| slot.is_memory);
        let is_gone =
            |slot: &Slot| slot.node.is_some() && !slot.is_memory && slot.print != Print::Empty;
        memories.any(is_new) && rest.rest().any(is_gone)
    }

    /// A new process began without the history.
    fn start_fresh(&mut self, out: &mut EventSink<'_>) {
        if let Some(slots) = self.fresh_start.take() {
            self.history.replace(slots);
            self.is_continued = false;
            out.emit(Event::Retain {
                keys: self.history.nodes(),
                cause: LeaveReason::Cleared,
            });
        }
    }

    /// Reads a message.
    fn message(&mut self, message: &Record<'_>, out: &mut EventSink<'_>) {
        out.set_time(message.timestamp.time());
        let is_new = message.id.key().is_none_or(|key| !self.history.has(key));
        if is_new && message.tokens.is_none() {
            let bits = parts::of(message);
            if message.kind.get() == Some("user")
                && !self.history.slots.is_empty()
                && bits.first().is_some_and(Bit::begins_note)
            {
                self.repeated = Some(0);
            }
            let passed = self.repeated;
            self.repeated = passed.and_then(|passed| self.history.passes(passed, &bits));
            if self.repeated.is_some() {
                return;
            }
        }
        self.repeated = None;
        let is_next = |(of, _)| message.id.key() != Some(of);
        if matches!(message.kind.get(), Some("user" | "gemini"))
            && self.thinking.is_some_and(is_next)
        {
            self.forget_thoughts(out);
        }
        let plan = self.plan(message, None);
        self.emit(plan, true, out);
    }

    /// Finds the place of a message's parts in the history. `pool`: the parts before a checkpoint.
    fn plan<'r, 'a>(&mut self, message: &'r Record<'a>, pool: Option<&mut Pool>) -> Plan<'r, 'a> {
        let is_new = message.id.key().is_none_or(|key| !self.history.has(key));
        let is_model = match message.kind.or_empty() {
            "user" => false,
            "gemini" => true,
            _ => {
                if let Some(key) = message.id.key().filter(|_| is_new) {
                    self.history.add(Slot {
                        message: Some(key),
                        beside: None,
                        node: None,
                        print: Print::Notice,
                        is_memory: false,
                    });
                }
                return Plan {
                    message,
                    is_new,
                    steps: Vec::new(),
                };
            }
        };
        // Messages of a list are all sent, also those with one id.
        let id = message.id.key().filter(|_| pool.is_none());
        let own = id.map(|key| self.history.of_message(key));
        let mut placer = PartPlacer {
            history: &mut self.history,
            own: own.unwrap_or_default(),
            pool,
            message,
            is_model,
        };
        Plan {
            message,
            is_new,
            steps: placer.steps(parts::of(message)),
        }
    }

    /// Emits what a message changes. `is_report`: its tokens are a new report.
    fn emit(&mut self, plan: Plan<'_, '_>, is_report: bool, out: &mut EventSink<'_>) {
        let message = plan.message;
        out.set_time(message.timestamp.time());
        match message.kind.or_empty() {
            "user" => self.emit_user(&plan, out),
            "gemini" => self.emit_model(&plan, is_report, out),
            "" => out.unreadable("no type"),
            other => GEMINI_CLI.pass_over(other, out),
        }
    }

    fn emit_user(&mut self, plan: &Plan<'_, '_>, out: &mut EventSink<'_>) {
        let mut begins_turn = true;
        for step in &plan.steps {
            let class = parts::class(&step.bits);
            let part = match (step.bits.first(), class.0) {
                (Some(Bit::Said { .. }), Role::User) => Part::Input,
                (Some(Bit::Said { .. }), _) => Part::Injected,
                _ => Part::Result,
            };
            if step.change == Change::Kept {
                continue;
            }
            let items = parts::of_one_step(&step.bits, class, out);
            let node = Node::new(self.history.slots[step.slot].node, part, items);
            let turn = node.turn && std::mem::take(&mut begins_turn);
            out.node(Node { turn, ..node });
        }
    }

    fn emit_model(&mut self, plan: &Plan<'_, '_>, is_report: bool, out: &mut EventSink<'_>) {
        let message = plan.message;
        let model = Meta::of_model(message.model.boxed()).changes(&mut self.meta);
        self.is_continued &= model.model.is_none();
        out.meta(model);
        let tokens = message.tokens.filter(|_| is_report);
        let report = tokens.filter(|tokens| tokens.input.or_zero() > 0);
        let built_in = message.id.get().and_then(|id| {
            let tokens = report.map_or(0, |tokens| tokens.tool.or_zero());
            self.built_in(id, tokens, plan.is_new && is_report, out)
        });
        let request = message.id.get().map(|id| Key::of_parts(&["gemini", id]));
        for step in plan.steps.iter().filter(|step| step.change != Change::Kept) {
            let said = (Role::Assistant, Kind::Text);
            let items: Vec<NewItem> = parts::item(&step.bits, said, out).into_iter().collect();
            let key = self.history.slots[step.slot].node;
            out.node(match step.bits.first() {
                Some(Bit::Result { .. }) => Node::new(key, Part::Result, items),
                _ => Node::output(key, request, items),
            });
        }
        if let (Some(tokens), Some(id), Some(request)) = (report, message.id.get(), request) {
            self.think(id, request, tokens.thoughts.or_zero(), out);
            out.usage(Usage {
                is_whole: self.is_continued,
                ..usage(tokens, request, message)
            });
            self.is_continued = true;
        }
        if let Some(key) = built_in {
            out.emit(Event::cleared_node(key));
        }
    }

    /// Emits the thoughts of a response: in the context until the next message, and in no prompt.
    fn think(&mut self, id: &str, request: Key, tokens: u64, out: &mut EventSink<'_>) {
        if tokens == 0 || !self.thought.insert(Key::of(id)) {
            return;
        }
        let item = out.item(Role::Assistant, Kind::Thinking);
        let item = item.reported(tokens, "(not in the log)").done();
        let key = Key::of_parts(&["thoughts", id]);
        out.node(Node::output(Some(key), Some(request), vec![item]));
        self.thinking = Some((Key::of(id), key));
    }

    fn forget_thoughts(&mut self, out: &mut EventSink<'_>) {
        if let Some((_, node)) = self.thinking.take() {
            out.emit(Event::cleared_node(node));
        }
    }

    /// Adds the results of the provider's own tools, before the output that was made of them. Their node is emitted as
    /// soon as there is a message, whose first record this is: their tokens may come later. Returns the node that is to
    /// leave again.
    fn built_in(
        &mut self,
        id: &str,
        tokens: u64,
        is_first: bool,
        out: &mut EventSink<'_>,
    ) -> Option<Key> {
        let key = Key::of_parts(&["built-in", id]);
        let is_new = tokens > 0 && self.built_in.insert(key);
        let item = is_new.then(|| {
            out.tool_result(Some("built-in"), None)
                .reported(tokens, "(not in the log)")
                .done()
        });
        if is_new || is_first {
            out.node(Node::new(Some(key), Part::Link, item.into_iter().collect()));
        }
        is_new.then_some(key)
    }
}

#[cfg(test)]
mod tests;
