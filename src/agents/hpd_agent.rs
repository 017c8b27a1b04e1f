//! HPD-Agent: the event files of its threads, and of the branches that threads were called before.
//!
//! A thread is a JSON Lines file of events, appended to (`thread.events.jsonl`, before
//! `branch.events.jsonl`); before that one document of the same events (`branch.json`, schema
//! `hpd.agent.branch.events`), rewritten in place. Its newest store keeps a journal of another form. What
//! HPD-AI/HPD-Agent-Framework documents (`AgentEvents.cs`, `BranchEvents.cs`, the TypeScript client's
//! `types/events.ts`); no log of a real session was found:
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
//! A host chooses the folder of its sessions; `.hpd-data` is what the project's samples use.

mod thread;
mod wire;

use super::lenient::{self, Lost};
use super::{Claim, Decoder, Facts, Format, List, Root, StoreKind, decoder, head};
use crate::model::event::{Key, Lane, Meta, Sink};
use std::collections::HashMap;
use std::path::Path;
use thread::Thread;
use wire::{Document, Record};

/// The schema of a document.
const SCHEMA: &str = "hpd.agent.branch.events";

/// The format.
pub static HPD_AGENT: Format = Format {
    id: "hpd-agent",
    label: "hpd",
    roots: &[Root::home(".hpd-data", "sessions")],
    facts: Facts {
        mark: "events with `threadId` or `branchId`, or a document of them",
        live: "each line; before the journal each rewrite",
        known: "prompts, outputs, reasoning",
        estimated: "all, in builds that log a turn's sum or nothing",
        sub_agents: "yes",
        compactions: "yes",
        tried: "invented events after its sources",
    },
    claims: &claims,
    recognise: &recognise,
    decoder: &decoder::<HpdAgentDecoder>,
    store: &store,
    list: Some(List::Json("events")),
    reset_marks: &[
        "THREAD_HISTORY_COMPACTION_CHECKPOINT",
        "BRANCH_HISTORY_COMPACTED",
    ],
    harmless: "BRANCH_CREATED BRANCH_FORKED SESSION_CREATED THREAD_CREATED THREAD_FORKED STATE_SNAPSHOT \
        PERMISSION_REQUEST PERMISSION_RESPONSE",
    ..Format::DEFAULT
};

/// `<session>/threads/<thread>/thread.events.jsonl`, `<session>/branches/<branch>/branch.events.jsonl`
/// and `branch.json`.
fn claims(path: &Path) -> Option<Claim> {
    let store = match path.file_name()?.to_str()? {
        "thread.events.jsonl" | "branch.events.jsonl" => StoreKind::Lines,
        "branch.json" => StoreKind::Document,
        _ => return None,
    };
    Some(Claim::LINES.kept_in(store))
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
            || head::has(line, "\"type\"")
                && scope.iter().any(|name| head::has(line, name))
                && kinds.iter().any(|kind| head::has(line, kind)))
}

/// A document may be one line.
fn store(head: &[u8]) -> Option<StoreKind> {
    match head::has(head, SCHEMA) {
        true => Some(StoreKind::Document),
        false => head::lines_or_document(head),
    }
}

/// Decodes one thread.
#[derive(Clone, Default)]
struct HpdAgentDecoder {
    threads: HashMap<Lane, Thread>,
    is_named: bool,
}

impl Decoder for HpdAgentDecoder {
    fn read_line(&mut self, line: &str, out: &mut Sink<'_>) {
        let lost = Lost::default();
        match lenient::parse(line, &lost) {
            Ok(record) => self.event(&record, out),
            Err(why) => out.unreadable(why),
        }
        lost.report(out);
    }

    fn read_document(&mut self, document: &str, out: &mut Sink<'_>) {
        if let Some(document) = lenient::object(document, out) {
            self.document(&document, out);
        }
    }

    fn copy(&self) -> Option<Box<dyn Decoder>> {
        Some(Box::new(self.clone()))
    }
}

impl HpdAgentDecoder {
    /// The fields of a document beside its events.
    fn document(&mut self, document: &Document<'_>, out: &mut Sink<'_>) {
        if document.events.is_none() {
            return out.unreadable("no events");
        }
        if document.schema.get().is_some_and(|schema| schema != SCHEMA) {
            return out.unreadable("a schema that is not known");
        }
        self.name(document.session_id.get(), document.branch_id.get(), out);
    }

    /// Emits the thread's id, once.
    fn name(&mut self, session: Option<&str>, thread: Option<&str>, out: &mut Sink<'_>) {
        if let (false, Some(id)) = (self.is_named, id_of(session, thread)) {
            self.is_named = true;
            out.meta(Meta {
                id: Some(id),
                ..Meta::default()
            });
        }
    }

    fn event(&mut self, record: &Record<'_>, out: &mut Sink<'_>) {
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
        let lane = match is_sub_agent {
            true => Lane::Side(Key::of(agent.agent_id.or_empty())),
            false => Lane::Main,
        };
        out.set_lane(lane);
        if is_sub_agent && !self.threads.contains_key(&lane) {
            out.meta(Meta {
                id: agent.agent_id.boxed(),
                title: agent.agent_name.boxed(),
                parent: id_of(session, thread),
                ..Meta::default()
            });
        }
        let thread = self
            .threads
            .entry(lane)
            .or_insert_with(|| Thread::new(event));
        thread.event(event, record, out);
    }
}

/// A thread's id: its session's, and its own where it is not the first.
fn id_of(session: Option<&str>, thread: Option<&str>) -> Option<Box<str>> {
    match (session.filter(|id| !id.is_empty())?, thread) {
        (session, None | Some("" | "main")) => Some(session.into()),
        (session, Some(thread)) => Some(format!("{session}/{thread}").into()),
    }
}

#[cfg(test)]
mod tests;
