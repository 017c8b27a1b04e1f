//! HPD-Agent: the event files of its threads, and of the branches that threads were called before.
//!
//! A thread is a JSON Lines file of events, appended to (`thread.events.jsonl`, before
//! `branch.events.jsonl`); before that one document of the same events (`branch.json`, schema
//! `hpd.agent.branch.events`), rewritten in place. Its newest store keeps a journal of another form. What
//! HPD-AI/HPD-Agent-Framework says (`AgentEvents.cs`, `BranchEvents.cs`, the TypeScript client's
//! `types/events.ts`); no log of a real session was found:
//!
//! * A message turn is all that follows on a user's message; an agent turn in it is one call of the
//!   model. `AGENT_TURN_FINISHED` has the call's own numbers. `MESSAGE_TURN_FINISHED` has them once more,
//!   call by call, of which the last is the context's; older builds give their sum, which is none.
//! * Microsoft.Extensions.AI counts what was read from a cache in the input.
//! * A container is a tool that shows its member functions when it is called, until the message turn
//!   ends: its result, and the functions that it unlocks, are in the context no longer than that. It is
//!   told by `CONTAINER_EXPANDED`, by the call type `Skill`, or by a harness of the same name.
//! * Arguments stand in `TOOL_CALL_ARGS`, in newer builds again in `TOOL_CALL_END`; a user's text in
//!   `USER_MESSAGE` is a copy of the message for whoever shows it.
//! * A compaction lists the messages that it replaces, and those that take their place.
//! * Events of a sub-agent that stand in its parent's thread say so by their depth.
//!
//! A host chooses the folder of its sessions; `.hpd-data` is what the project's samples use.

mod thread;
mod wire;

use super::lenient;
use super::{Claim, Decoder, Facts, Format, Input, List, Root, StoreKind, decoder, head};
use crate::model::event::{Event, Key, Lane, Meta, Place, Sink};
use std::collections::HashMap;
use std::path::Path;
use thread::{Thread, Writer};
use wire::{Document, Record, one};

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

/// A document may stand on one line.
fn store(head: &[u8]) -> Option<StoreKind> {
    match head::has(head, SCHEMA) {
        true => Some(StoreKind::Document),
        false => head::lines_or_document(head),
    }
}

/// Reads one thread.
#[derive(Clone, Default)]
struct HpdAgentDecoder {
    threads: HashMap<Lane, Thread>,
    is_named: bool,
}

impl Decoder for HpdAgentDecoder {
    fn read(&mut self, input: Input<'_>, out: &mut Sink<'_>) {
        match input {
            Input::Line(_, line) if line.trim_ascii().is_empty() => {}
            Input::Line(place, line) => self.event(place, line, out),
            Input::Document(bytes) => {
                if let Err(why) = self.document(bytes, out) {
                    out.push(Lane::Main, Place::default(), None, Event::Unreadable(why));
                }
            }
        }
    }

    fn copy(&self) -> Option<Box<dyn Decoder>> {
        Some(Box::new(self.clone()))
    }
}

impl HpdAgentDecoder {
    /// What a document tells beside its events.
    fn document(&mut self, bytes: &[u8], out: &mut Sink<'_>) -> Result<(), Box<str>> {
        let document: Document<'_> = lenient::object(bytes)?;
        if document.events.is_none() {
            return Err("no events".into());
        }
        if document.schema.get().is_some_and(|schema| schema != SCHEMA) {
            return Err("a schema that is not known".into());
        }
        let named = name(document.session_id.get(), document.branch_id.get());
        if let Some(id) = named {
            self.is_named = true;
            let meta = Meta {
                id: Some(id),
                ..Meta::default()
            };
            out.push(
                Lane::Main,
                Place::default(),
                None,
                Event::Meta(Box::new(meta)),
            );
        }
        Ok(())
    }

    fn event(&mut self, place: Place, line: &[u8], out: &mut Sink<'_>) {
        let record: Record<'_> = match lenient::object(line) {
            Ok(record) => record,
            Err(why) => return out.push(Lane::Main, place, None, Event::Unreadable(why)),
        };
        let at = record.timestamp.time();
        let agent = one(&record.metadata).filter(|agent| agent.depth.or_zero() > 0);
        let lane = agent.map_or(Lane::Main, |agent| {
            Lane::Side(Key::of(agent.agent_id.or_empty()))
        });
        if let (false, Some(id)) = (
            self.is_named,
            name(record.session_id.get(), record.thread_id.get()),
        ) {
            self.is_named = true;
            let meta = Meta {
                id: Some(id),
                ..Meta::default()
            };
            out.push(Lane::Main, place, at, Event::Meta(Box::new(meta)));
        }
        let is_new = !self.threads.contains_key(&lane);
        let thread = self.threads.entry(lane).or_default();
        let event = match record.event_id.get() {
            Some(id) => Key::of_parts(&["hpd", id]),
            None => Key::of_parts(&[
                "hpd",
                record.session_id.or_empty(),
                record.thread_id.or_empty(),
                &place.offset.max(place.line).to_string(),
            ]),
        };
        let mut writer = Writer {
            lane,
            place,
            at,
            event,
            out,
        };
        if let (true, Some(agent)) = (is_new, agent) {
            writer.push(Event::Meta(Box::new(Meta {
                id: agent.agent_id.boxed(),
                title: agent.agent_name.boxed(),
                parent: name(record.session_id.get(), record.thread_id.get()),
                ..Meta::default()
            })));
        }
        thread.event(&record, &mut writer);
    }
}

/// A thread's id: its session's, and its own where it is not the first.
fn name(session: Option<&str>, thread: Option<&str>) -> Option<Box<str>> {
    match (session.filter(|id| !id.is_empty())?, thread) {
        (session, None | Some("" | "main")) => Some(session.into()),
        (session, Some(thread)) => Some(format!("{session}/{thread}").into()),
    }
}

#[cfg(test)]
mod tests;
