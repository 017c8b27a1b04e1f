//! HPD-Agent: the event files of its threads, and of the branches that threads were called before.
//!
//! A thread is a JSON Lines file of events, appended to (`thread.events.jsonl`, before
//! `branch.events.jsonl`); before that one document of the same events (`branch.json`, schema
//! `hpd.agent.branch.events`), rewritten in place. Its newest store keeps a journal of another form. What
//! HPD-AI/HPD-Agent-Framework documents (`AgentEvents.cs`, `BranchEvents.cs`, the TypeScript client's
//! `types/events.ts`); no log of events of a real session was found:
//!
//! * A message turn is all that follows on a user's message; an agent turn in it is one call of the
//!   model. `AGENT_TURN_FINISHED` has the call's own numbers. `MESSAGE_TURN_FINISHED` has them once more,
//!   call by call, of which the last is the context's; older builds have their sum, which is no context.
//! * Microsoft.Extensions.AI counts what was read from a cache in the input.
//! * A container is a tool that shows its member functions when it is called, until the message turn
//!   ends: its result, and the functions that it unlocks, are in the context no longer than that. It is
//!   recognised by `CONTAINER_EXPANDED`, by the call type `Skill`, or by a harness of the same name.
//! * Arguments are in `TOOL_CALL_ARGS`, in newer builds again in `TOOL_CALL_END`; a user's text in
//!   `USER_MESSAGE` is a copy of the message for whoever shows it.
//! * A compaction lists the messages that it replaces, and those that take their place.
//! * Events of a sub-agent in its parent's thread have a depth above 0.
//!
//! Before the events, a document held the messages of a session's history: `branch.json` of a session's
//! folder, before that its `session.json`, before that a file named after the session or its thread. Both
//! public repositories hold some:
//!
//! * No usage and no model: all is estimated. What each message is of is in `$type`, as
//!   Microsoft.Extensions.AI writes it.
//! * The call of a container and its result are saved and sent again. The functions that it showed are
//!   not: the result says to call it again in the next turn.
//! * It is written when a turn ends. While one runs, its messages are in `uncommitted.json`, which is not
//!   read.
//!
//! A host chooses the folder of its sessions; `.hpd-data` is what the project's samples use.

mod thread;
mod wire;

use decode::lenient::{self, LostFields};
use formats::names;
use formats::{ArrayName, Claim, Decoder, Format, Recognition, Root, StoreKind, decoder, head};
use model::event::{Conversation, EventSink, Key, Meta, Place};
use std::collections::HashMap;
use std::path::Path;
use thread::Thread;
use wire::{Document, Message, Record};

/// The schema of a document.
const SCHEMA: &str = "hpd.agent.branch.events";

/// The format.
pub static HPD_AGENT: Format = Format {
    id: "hpd-agent",
    roots: &[Root::home(".hpd-data", "sessions")],
    claims: &claims,
    recognition: Recognition::new(&recognise)
        .kept_in(&store)
        .list(ArrayName::Json("events")),
    decoder: &decoder::<HpdAgentDecoder>,
    reset_marks: &[
        "THREAD_HISTORY_COMPACTION_CHECKPOINT",
        "BRANCH_HISTORY_COMPACTED",
    ],
    harmless: "BRANCH_CREATED BRANCH_FORKED SESSION_CREATED THREAD_CREATED THREAD_FORKED STATE_SNAPSHOT \
        PERMISSION_REQUEST PERMISSION_RESPONSE",
    ..Format::DEFAULT
};

/// Claims `<session>/threads/<thread>/thread.events.jsonl`, `<session>/branches/<branch>/branch.events.jsonl` and
/// `branch.json`, `<session>/session.json` and `sessions/<session>.json`.
fn claims(path: &Path) -> Option<Claim> {
    let document = Claim::LINES.kept_in(StoreKind::Document);
    let mut names = names(path);
    match (names.next()?, names.next()) {
        ("thread.events.jsonl" | "branch.events.jsonl", _) => Some(Claim::LINES),
        ("branch.json", _) => Some(document),
        // Where a session has branches, it holds their messages no longer.
        ("session.json", _) => Some(Claim {
            superseded_by: Some(path.with_file_name("branches")),
            ..document
        }),
        (name, Some("sessions")) => name.ends_with(".json").then_some(document),
        _ => None,
    }
}

fn recognise(head: &[u8]) -> bool {
    let line = head::first_line(head);
    let scope = ["\"threadId\"", "\"branchId\"", "\"messageTurnId\""];
    let kinds = [
        "\"THREAD_",
        "\"BRANCH_",
        "\"MESSAGE_",
        "\"TEXT_",
        "\"CONTENT_ADDED\"",
        "\"USER_MESSAGE\"",
    ];
    head::is_object(head)
        && (head::has(head, SCHEMA)
            || is_history(head)
            || head::has(line, "\"type\"")
                && scope.iter().any(|name| head::has(line, name))
                && kinds.iter().any(|kind| head::has(line, kind)))
}

/// Returns true if a document that begins so is a saved history.
fn is_history(head: &[u8]) -> bool {
    let starts = [r#""id""#, r#""sessionId""#];
    let begins = head::solid(head, 12);
    let begins = begins.strip_prefix(b"{").unwrap_or_default();
    let has_type = head::has(head, r#""$type""#) && head::has(head, r#""contents""#);
    starts.iter().any(|id| begins.starts_with(id.as_bytes()))
        && head::has(head, r#""messages""#)
        && (has_type || head::has(head, r#""lastActivity""#))
}

/// Returns the kind of store of a log. A document may be one line.
fn store(head: &[u8]) -> Option<StoreKind> {
    if head::has(head, SCHEMA) || is_history(head) {
        Some(StoreKind::Document)
    } else {
        head::lines_or_document(head)
    }
}

/// Decodes one thread.
#[derive(Clone, Default)]
struct HpdAgentDecoder {
    threads: HashMap<Conversation, Thread>,
    is_named: bool,
}

impl Decoder for HpdAgentDecoder {
    fn read_line(&mut self, line: &str, out: &mut EventSink<'_>) {
        let lost = LostFields::default();
        match lenient::parse(line, &lost) {
            Ok(record) => self.event(&record, out),
            Err(why) => out.unreadable(why),
        }
        lost.report(out);
    }

    fn read_document(&mut self, document: &str, out: &mut EventSink<'_>) {
        let Some(document) = lenient::object::<Document<'_>>(document, out) else {
            return;
        };
        if let Some(messages) = &document.messages {
            return self.history(&document, messages, out);
        }
        if document.events.is_none() {
            return out.unreadable("no events");
        }
        if document.schema.get().is_some_and(|schema| schema != SCHEMA) {
            return out.unreadable("a schema that is not known");
        }
        self.name(document.session_id.get(), document.branch_id.get(), out);
    }

    fn copy(&self) -> Option<Box<dyn Decoder>> {
        Some(Box::new(self.clone()))
    }
}

impl HpdAgentDecoder {
    /// Reads a saved history.
    fn history(
        &mut self,
        document: &Document<'_>,
        messages: &[Message<'_>],
        out: &mut EventSink<'_>,
    ) {
        let (session, id) = (document.session_id.get(), document.id.get());
        match session {
            Some(_) => self.name(session, id, out),
            None => self.name(id, None, out),
        }
        let mut thread = Thread::default();
        for (line, message) in (1..).zip(messages) {
            out.begin(Place::of_line(line));
            out.set_time(message.created_at.time());
            thread.message(Key::of_number("hpd message", line), message, out);
        }
        self.threads.insert(Conversation::Main, thread);
    }

    /// Emits the thread's id, once.
    fn name(&mut self, session: Option<&str>, thread: Option<&str>, out: &mut EventSink<'_>) {
        if let (false, Some(id)) = (self.is_named, id_of(session, thread)) {
            self.is_named = true;
            out.meta(Meta {
                id: Some(id),
                ..Meta::default()
            });
        }
    }

    fn event(&mut self, record: &Record<'_>, out: &mut EventSink<'_>) {
        out.set_time(record.timestamp.time());
        let (session, thread) = (record.session_id.get(), record.thread_id.get());
        self.name(session, thread, out);
        let event = record.event_id.get().map(|id| Key::of_parts(&["hpd", id]));
        let event = event.unwrap_or_else(|| {
            let place = out.place().id().to_string();
            let (session, thread) = (session.unwrap_or_default(), thread.unwrap_or_default());
            Key::of_parts(&["hpd", session, thread, &place])
        });
        let agent = &record.metadata;
        let is_sub_agent = agent.depth.or_zero() > 0;
        let conversation = if is_sub_agent {
            Conversation::Side(Key::of(agent.agent_id.or_empty()))
        } else {
            Conversation::Main
        };
        out.set_conversation(conversation);
        if is_sub_agent && !self.threads.contains_key(&conversation) {
            out.meta(Meta {
                id: agent.agent_id.boxed(),
                title: agent.agent_name.boxed(),
                parent: id_of(session, thread),
                ..Meta::default()
            });
        }
        let thread = self.threads.entry(conversation).or_default();
        thread.event(event, record, out);
    }
}

/// Returns a thread's id: its session's, and its own where it is not the first.
fn id_of(session: Option<&str>, thread: Option<&str>) -> Option<Box<str>> {
    match (session.filter(|id| !id.is_empty())?, thread) {
        (session, None | Some("" | "main")) => Some(session.into()),
        (session, Some(thread)) => Some(format!("{session}/{thread}").into()),
    }
}

#[cfg(test)]
mod tests;
