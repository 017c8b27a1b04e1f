//! OpenHands: the events of its software agent SDK, which its CLI and its agent server write.
//!
//! A conversation is a folder of events, one file each (`events/event-00000-<id>.json`), with its state
//! beside it (`base_state.json`); exports and recorded streams are the same events as lines. What
//! OpenHands/software-agent-sdk documents (`openhands-sdk/openhands/sdk`: `event/`, `conversation/`,
//! `context/`, `llm/utils/`), checked on two small conversations of real files and on a recorded stream:
//!
//! * Events follow each other; since conversations are trees they name their `parent_id`, or `__root__`
//!   (`event/types.py`). Updates of the state and errors of the conversation are no part of it.
//! * Events of one answer share its `llm_response_id`: an action for each call, of which the first has
//!   the text and the thinking. Messages of the SDK itself between have the user's role.
//! * `SystemPromptUpdateEvent` takes the place of the prompt and the tools before it (the requests of a
//!   probe that was run with it are recorded beside its events).
//! * The tools' schemas are not written, those of MCP servers aside: their share is unlogged.
//! * A result is sent with what the terminal reports of it (`TerminalObservation.to_llm_content`).
//! * `Condensation` takes the events away that it lists and puts a summary in place of the one before
//!   (`event/condenser.py`). `CondensationRequest` comes before it where the window was full, or where
//!   somebody asked; which of them is not logged, but after an agent's last message it was not the
//!   window. Without it the condenser counted events, or tokens where its `max_tokens` is set.
//! * Prompts include what was cached, as LiteLLM counts (`Metrics`; those of agents over ACP do not).
//! * The numbers of a call are in the state, by the id of the response. A stream's updates of the
//!   statistics hold sums of all calls, and name no response. The first call of the recorded stream, of
//!   596 tokens in a conversation of 35,299, is the one that asks for a title (`title_utils.py`: the
//!   first 1,000 characters of a message and a list of emoji, by the agent's own model): see `stats`.
//! * `TokenEvent` holds the token ids of the prompt and answer before it, where vLLM returns them.
//! * Times have no zone (`datetime.now().isoformat()`); they are taken for UTC.
//!
//! Its version 0 (`~/.openhands/sessions`, `source` and `action` of another form) is not read.

mod branch;
mod conversation;
mod items;
mod stats;
mod wire;

use conversation::OpenHandsDecoder;
use decode::lenient::{self, LostFields};
use formats::{
    Claim, FilesBeside, FolderSpec, Format, Recognition, Root, StoreKind, Totals, decoder, head,
};
use std::path::{Path, PathBuf};
use wire::Record;

/// The format.
pub static OPENHANDS: Format = Format {
    id: "openhands",
    // `$OPENHANDS_CONVERSATIONS_DIR`, `$OPENHANDS_PERSISTENCE_DIR/conversations`
    // (OpenHands/OpenHands-CLI, `openhands_cli/locations.py`).
    roots: &[
        Root::home(".openhands", "conversations").env("OPENHANDS_PERSISTENCE_DIR"),
        Root::named("OPENHANDS_CONVERSATIONS_DIR", ""),
    ],
    claims: &claims,
    recognition: Recognition::new(&recognise),
    decoder: &decoder::<OpenHandsDecoder>,
    reset_marks: &[r#""kind":"Condensation""#, r#""kind": "Condensation""#],
    harmless: "PauseEvent LLMCompletionLogEvent InterruptEvent ServerErrorEvent StreamingDeltaEvent \
        HookExecutionEvent",
    totals: Totals::new(&[
        ("prompt", |b| b.input),
        ("cache_read", |b| b.cache_read),
        ("cache_write", |b| b.cache_creation),
        ("completion", |b| b.output),
        ("reasoning", |b| b.reasoning),
    ]),
    beside: FilesBeside::states(|log| state(log).into_iter().collect()),
    ..Format::DEFAULT
};

/// The folder of a conversation's events.
static EVENTS: FolderSpec = FolderSpec {
    number,
    has_lines: false,
};

/// Claims `<conversation>/events`; those of sub-agents in `<conversation>/subagents/<id>/events`.
fn claims(path: &Path) -> Option<Claim> {
    let name = |path: &Path| Some(path.file_name()?.to_str()?.to_owned());
    let conversation = path.parent().filter(|_| path.ends_with("events"))?;
    let group = conversation.parent();
    let parent = group.filter(|group| group.ends_with("subagents"));
    Some(Claim {
        store: StoreKind::Folder(&EVENTS),
        id: name(conversation),
        parent: parent.and_then(|group| name(group.parent()?)),
        ..Claim::LINES
    })
}

fn recognise(head: &[u8]) -> bool {
    let line = head::first_line(head);
    let text = String::from_utf8_lossy(line);
    match lenient::parse(&text, &LostFields::default()) {
        Ok(record) => is_event(&record),
        Err(_) => begins_with_an_event(line),
    }
}

/// Returns the number in `event-00012-<id>.json`.
fn number(name: &str) -> Option<u64> {
    let rest = name.strip_prefix("event-")?.strip_suffix(".json")?;
    let (number, id) = rest.split_once('-')?;
    let is_number = number.len() >= 5 && number.bytes().all(|byte| byte.is_ascii_digit());
    let number = number.parse().ok().filter(|_| is_number);
    number.filter(|_| !id.is_empty())
}

/// Returns the path of `<conversation>/base_state.json`.
fn state(log: &Path) -> Option<PathBuf> {
    let conversation = log.parent().filter(|_| log.ends_with("events"))?;
    Some(conversation.join("base_state.json"))
}

/// The possible sources of an event.
const SOURCES: [&str; 4] = ["agent", "user", "environment", "hook"];

fn is_event(record: &Record<'_>) -> bool {
    let kind = record.kind.or_empty();
    let is_kind = kind.ends_with("Event")
        || kind.ends_with("Observation")
        || matches!(kind, "Condensation" | "CondensationRequest");
    is_kind
        && SOURCES.contains(&record.source.or_empty())
        && record.timestamp.get().is_some()
        && record.id.get().is_some()
}

/// Returns true if a line whose end may be missing begins as an event that the SDK writes.
fn begins_with_an_event(line: &[u8]) -> bool {
    let start = head::solid(line, 256);
    let is_source = |name: &&str| head::has(&start, &format!("\"source\":\"{name}\""));
    start.starts_with(br#"{"id":""#)
        && head::has(&start, "\"timestamp\":\"")
        && SOURCES.iter().any(is_source)
}

#[cfg(test)]
mod tests;
