//! The messages of 1.x: what each adds to the context, and what it takes away.

use super::OPENCODE;
use super::media::{add_file, hidden_bytes, is_sent_as_text, picture_formula};
use super::wire::{Info, Part as Piece, State, Times, Tokens, time};
use decode::lenient;
use jiff::Timestamp;
use model::event::{
    BilledUsage, Cause, Event, EventSink, Key, Meta, NewItem, Node, Part, Place, Reset,
    RetainedItems, Usage,
};
use model::{Kind, Role};
use std::collections::HashSet;

/// The text that is sent in place of a result that never came.
const INTERRUPTED: &str = "[Tool execution was interrupted]";
/// The text that is sent for a compaction, before its summary.
const COMPACTED: &str = "What did we do so far?";
/// The text that is sent for a sub-agent that the user started.
const SUBTASK: &str = "The following tool was executed by the user";

/// A session's messages so far, as far as later ones depend on them.
#[derive(Default, Clone)]
pub(super) struct History {
    messages: HashSet<Key>,
    /// The first one that was read.
    first: Option<Key>,
    /// The newest message that asks for a compaction.
    asked: Option<CompactionRequest>,
    /// The newest summary.
    summary: Option<Key>,
    /// Results that are left out from a later time on.
    pruned: Vec<(Timestamp, Key)>,
    /// The message and the part from which on nothing is sent.
    pub(super) hidden_from: Option<(Option<Key>, Option<Key>)>,
    pub(super) is_hidden: bool,
    /// The session's id, if it is one: logs that were made public may have another word in its place.
    session: Option<Box<str>>,
    /// The time at which the session was made: a fork begins with copies of older messages, under new ids.
    made: Option<Timestamp>,
    /// The place of the newest message.
    place: Place,
}

/// A message that asks for a compaction.
#[derive(Clone)]
struct CompactionRequest {
    message: Key,
    cause: Cause,
    /// The first message that stays.
    tail: Option<Key>,
}

impl History {
    /// The session has this id, and was made then.
    pub(super) fn is_of(&mut self, session: Option<&str>, made: Option<Timestamp>) {
        self.session = session.filter(|id| id.starts_with("ses_")).map(Into::into);
        self.made = made;
    }

    /// Returns the key of a request: the n-th of an answer. Messages of several sessions may have the same word for an
    /// id.
    pub(super) fn request(&self, answer: &str, nth: u64) -> Key {
        let nth = nth.to_string();
        match &self.session {
            Some(session) => Key::of_parts(&["opencode", session, answer, &nth]),
            None if answer.starts_with("msg_") => Key::of_parts(&["opencode", answer, &nth]),
            None => Key::of_number(&format!("opencode {answer}"), 0).under(&nth),
        }
    }

    /// Returns true if a message is older than its session: a copy, whose requests are another session's.
    pub(super) fn is_copy(&self, time: &Times) -> bool {
        let times = time.begun().zip(self.made);
        times.is_some_and(|(begun, made)| begun < made)
    }

    /// Returns the cost of a message's request; nothing if the message is a copy.
    fn billed(&self, numbers: Tokens, info: &Info<'_>) -> BilledUsage {
        if self.is_copy(&info.time) {
            BilledUsage::default()
        } else {
            numbers.billed()
        }
    }

    /// Takes a message in.
    pub(super) fn message(
        &mut self,
        id: &str,
        info: &Info<'_>,
        parts: &[Piece<'_>],
        out: &mut EventSink<'_>,
    ) {
        self.place = out.place();
        self.prune(info.time.begun(), out);
        // Exports that were made public may have one id for several messages.
        let id = if self.messages.contains(&Key::of(id)) {
            &format!("{id}/{}", out.place().line())
        } else {
            id
        };
        let key = Key::of(id);
        if !self.hides_message(key) {
            self.messages.insert(key);
            self.first.get_or_insert(key);
        }
        if info.role.get() == Some("assistant") && !self.is_copy(&info.time) {
            out.own_cost(Some(self.request(id, 0)), info.cost.0);
        }
        match info.role.or_empty() {
            "user" => self.user(key, parts, info, out),
            "assistant" if info.is_summary() => self.summary(id, info, parts, out),
            "assistant" => self.answer(id, info, parts, out),
            "" => out.unreadable("no role"),
            other => out.unknown(format!("{other} message")),
        }
    }

    /// Everything has been read.
    pub(super) fn end(&mut self, out: &mut EventSink<'_>) {
        if let Some(newest) = self.pruned.iter().map(|(at, _)| *at).max() {
            out.begin(self.place);
            out.set_time(Some(newest));
            self.prune(None, out);
        }
    }

    /// Takes away the results that were left out before this time; `None`: all.
    fn prune(&mut self, before: Option<Timestamp>, out: &mut EventSink<'_>) {
        let is_due = |at: &Timestamp| before.is_none_or(|before| *at <= before);
        let due = self.pruned.extract_if(.., |(at, _)| is_due(at));
        let nodes: Vec<Key> = due.map(|(_, result)| result).collect();
        if !nodes.is_empty() {
            out.emit(Event::cleared(nodes, Vec::new()));
        }
    }

    /// Returns true if a message is hidden, and with it all that follow.
    pub(super) fn hides_message(&mut self, key: Key) -> bool {
        self.is_hidden |= self.hidden_from == Some((Some(key), None));
        self.is_hidden
    }

    /// Returns true if a part is hidden, and with it all that follow.
    fn hides(&mut self, part: &Piece<'_>) -> bool {
        let from = self.hidden_from.and_then(|(_, part)| part);
        self.is_hidden |= from.is_some() && part.id.key() == from;
        self.is_hidden
    }

    fn user(&mut self, key: Key, parts: &[Piece<'_>], info: &Info<'_>, out: &mut EventSink<'_>) {
        let model = info.model();
        let formula = picture_formula(model.as_deref());
        let mut items = Vec::new();
        for part in parts {
            if self.hides(part) {
                out.skip("hidden part");
                continue;
            }
            let (role, kind) = match part.synthetic {
                Some(true) => (Role::Container, Kind::Reminder),
                _ => (Role::User, Kind::Text),
            };
            match part.kind.or_empty() {
                "text" if part.ignored == Some(true) => out.skip("ignored text"),
                "text" => items.push(out.text(role, kind, part.text.or_empty())),
                "subtask" => items.push(out.text(Role::Container, Kind::Reminder, SUBTASK)),
                // Its text is in a part of its own.
                "file" if is_sent_as_text(part.mime.or_empty()) => out.skip("file"),
                // The user attached it, though the client marks it as its own.
                "file" => {
                    let (mime, url) = (part.mime.or_empty(), part.url.or_empty());
                    let item = out.item(Role::User, Kind::Text);
                    items.push(add_file(item, mime, url, formula).done());
                }
                "compaction" => {
                    self.asked = Some(CompactionRequest {
                        message: key,
                        cause: match part.auto {
                            Some(true) => Cause::Automatic,
                            _ => Cause::Manual,
                        },
                        tail: part.tail.key(),
                    });
                }
                other => OPENCODE.pass_over(other, out),
            }
        }
        let is_typed = items.iter().any(|item| item.role == Role::User);
        let part = if is_typed {
            Part::Input
        } else {
            Part::Injected
        };
        out.node(Node::new(Some(key), part, items));
    }

    /// Takes in an answer that is a summary: its request is not the conversation's.
    fn summary(&mut self, id: &str, info: &Info<'_>, parts: &[Piece<'_>], out: &mut EventSink<'_>) {
        let numbers = info.tokens.unwrap_or_default();
        if numbers.prompt() > 0 {
            out.billed(self.request(id, 0), self.billed(numbers, info));
        }
        // The oldest versions have no reason for the end.
        let is_over = info.finish.get().is_some() || info.time.completed.is_some();
        if info.error.is_some() || !is_over || self.is_hidden {
            return out.skip("compaction that came to nothing");
        }
        let asked = self.asked.take();
        let asked = asked.filter(|asked| info.parent_id.key() == Some(asked.message));
        let tail = asked.as_ref().and_then(|asked| asked.tail);
        // A message that was not read is older than every message that was.
        let tail = tail.and_then(|tail| {
            if self.messages.contains(&tail) {
                Some(tail)
            } else {
                self.first
            }
        });
        let key = Key::of(id);
        out.reset(Reset {
            key: Some(Key::of_parts(&["reset", id])),
            ..Reset::compaction(
                asked.map_or(Cause::Unlogged, |asked| asked.cause),
                RetainedItems::from(tail),
            )
        });
        // The kept messages may begin before the previous summary, which is never kept.
        if let Some(old) = self.summary.replace(key) {
            out.emit(Event::cleared_node(old));
        }
        let mut items = vec![out.text(Role::Container, Kind::Reminder, COMPACTED)];
        for part in parts {
            match part.kind.or_empty() {
                "text" => {
                    items.push(out.text(Role::Container, Kind::Summary, part.text.or_empty()));
                }
                "reasoning" => out.skip("reasoning of a compaction"),
                other => OPENCODE.pass_over(other, out),
            }
        }
        out.node(Node::new(Some(key), Part::Injected, items));
    }

    /// Takes in an answer: one request, or several in the oldest versions.
    fn answer(&mut self, id: &str, info: &Info<'_>, parts: &[Piece<'_>], out: &mut EventSink<'_>) {
        let step_tokens = |part: &Piece<'_>| match part.kind.or_empty() {
            "step-finish" => part.tokens.filter(|tokens| tokens.prompt() > 0),
            _ => None,
        };
        let steps = parts.iter().filter_map(step_tokens).count();
        let is_sent = is_sent(info, parts);
        let mut step = Step::default();
        for part in parts {
            if self.hides(part) {
                out.skip("hidden part");
                continue;
            }
            if is_sent {
                step.add(part, out);
            }
            if let Some(tokens) = step_tokens(part).filter(|_| steps > 1) {
                self.finish(id, info, Some(tokens), &mut step, out);
            }
        }
        let numbers = info.tokens.filter(|tokens| tokens.prompt() > 0);
        let numbers = numbers.or_else(|| parts.iter().find_map(step_tokens));
        if steps <= 1 || !step.is_empty() {
            self.finish(id, info, numbers.filter(|_| steps <= 1), &mut step, out);
        }
        // The reason of a step that has called tools is another one.
        if info
            .finish
            .get()
            .is_some_and(|why| matches!(why, "stop" | "length" | "content-filter"))
        {
            out.emit(Event::TurnOver);
        }
    }

    /// Emits a step of an answer: what the model wrote, its numbers, what its tools returned.
    fn finish(
        &mut self,
        id: &str,
        info: &Info<'_>,
        numbers: Option<Tokens>,
        step: &mut Step<'_>,
        out: &mut EventSink<'_>,
    ) {
        let step = std::mem::replace(step, Step::after(step));
        let nth = step.nth;
        let key = match nth {
            0 => Key::of(id),
            nth => Key::of_parts(&["step", id, &nth.to_string()]),
        };
        let request = numbers.map(|_| self.request(id, nth));
        let is_hidden = self.is_hidden && step.is_empty();
        if !is_hidden {
            out.node(Node::output(Some(key), request, step.output));
        }
        match (numbers, request) {
            (Some(numbers), Some(request)) if is_hidden => {
                out.billed(request, self.billed(numbers, info))
            }
            (Some(numbers), Some(request)) => out.usage(Usage {
                model: info.model(),
                cached: numbers.cache.read.or_zero(),
                output: numbers.whole_output().filter(|_| info.error.is_none()),
                reasoning: numbers.reasoning.0.filter(|reasoning| *reasoning > 0),
                billed: self.billed(numbers, info),
                is_inherited: self.is_copy(&info.time),
                ..Usage::reported(request, numbers.prompt())
            }),
            _ if is_hidden => {}
            _ => out.meta(Meta::of_model(info.model())),
        }
        for (call, part) in step.calls.into_iter().enumerate() {
            let key = Key::of_parts(&["result", id, &format!("{nth}/{call}")]);
            self.result(key, part, info, out);
        }
    }

    /// Emits what a tool returned.
    fn result(&mut self, key: Key, part: &Piece<'_>, info: &Info<'_>, out: &mut EventSink<'_>) {
        let (tool, call) = (part.tool.get(), part.call.get());
        let Some(state) = &part.state else { return };
        let Some(text) = result_text(state, info) else {
            return;
        };
        let formula = picture_formula(info.model_id.get());
        let mut item = out.tool_result(tool, call).text(text);
        for file in &state.attachments {
            item = add_file(item, file.mime.or_empty(), file.url.or_empty(), formula);
        }
        let items = vec![item.done()];
        out.node(Node::new(Some(key), Part::Result, items));
        let left_out = time(state.time.compacted);
        self.pruned.extend(left_out.map(|at| (at, key)));
    }
}

/// The output and calls of one request.
#[derive(Default)]
struct Step<'p> {
    nth: u64,
    output: Vec<NewItem>,
    calls: Vec<&'p Piece<'p>>,
}

impl<'p> Step<'p> {
    fn after(step: &Step<'_>) -> Step<'p> {
        Step {
            nth: step.nth + 1,
            ..Step::default()
        }
    }

    /// Adds a part.
    fn add(&mut self, part: &'p Piece<'p>, out: &mut EventSink<'_>) {
        match part.kind.or_empty() {
            "text" => {
                let text = part.text.or_empty();
                self.output
                    .push(out.text(Role::Assistant, Kind::Text, text));
            }
            "reasoning" => self.output.push(
                out.item(Role::Assistant, Kind::Thinking)
                    .text(part.text.or_empty())
                    .opaque(part.metadata.map_or(0, hidden_bytes))
                    .done(),
            ),
            "tool" => {
                let (tool, call) = (part.tool.get(), part.call.get());
                let input = part.state.as_ref().and_then(|state| state.input);
                self.output.push(lenient::call(tool, call, input, out));
                self.calls.push(part);
            }
            other => OPENCODE.pass_over(other, out),
        }
    }

    fn is_empty(&self) -> bool {
        self.output.is_empty()
    }
}

/// Returns true if an answer is sent with later requests.
fn is_sent(info: &Info<'_>, parts: &[Piece<'_>]) -> bool {
    let Some(error) = &info.error else {
        return true;
    };
    let mut kinds = parts.iter().map(|part| part.kind.or_empty());
    error.name.get() == Some("MessageAbortedError")
        && kinds.any(|kind| !matches!(kind, "step-start" | "reasoning"))
}

/// Returns the result of a tool as it is sent; `None`: it still runs.
fn result_text<'s>(state: &'s State<'_>, info: &Info<'_>) -> Option<&'s str> {
    match state.status.or_empty() {
        "completed" => Some(state.output.or_empty()),
        "error" => Some(state.error.or_empty()),
        _ => {
            let is_over = info.time.completed.is_some() || info.error.is_some();
            is_over.then_some(INTERRUPTED)
        }
    }
}
