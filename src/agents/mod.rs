//! Decoders: one module per log format, each of which turns bytes into [`crate::model::event`]s. They do no
//! I/O.
//!
//! # How to add an agent
//!
//! 1. Write `src/agents/<agent>.rs` with a [`Format`], which is plain data, and a type that implements
//!    [`Decoder`]. [`aider`] is the smallest example, [`amp`] one whose log is a JSON document.
//! 2. Declare the module here and add the format to [`ALL`].
//! 3. Add the agent's policy, and models that only it uses, to `assets/models.toml`. If its own settings
//!    files can change when it compacts, describe them in [`Format::settings`].
//! 4. Put hand-written logs into `tests/fixtures/<agent>/<case>/`, one trap per case; `cargo test`
//!    writes and checks the snapshots beside them.
//! 5. Fill in [`Format::facts`]. The README's list of agents and the table in `assets/docs/agents.md` are made from
//!    it; tests print both when they have changed.
//!
//! Most logs are files of lines. What else a log can be kept in is listed in [`StoreKind`]; several sessions in
//! one log, files beside the log and the like are optional fields of [`Format`].
//!
//! A decoder never fails: what it cannot read becomes an [`Event::Unreadable`], [`Event::Skipped`] or
//! [`Event::Unknown`]; see [`Format::harmless`]. It can be given any line of a log at any time. It keeps what it
//! needs from one line to the next, such as the names of tools by call id.
//!
//! [`Event::Unreadable`]: crate::model::event::Event::Unreadable
//! [`Event::Skipped`]: crate::model::event::Event::Skipped
//! [`Event::Unknown`]: crate::model::event::Event::Unknown

use crate::model::event::{Key, Meta, Sink, Usage};
use database::DatabaseSpec;
pub use facts::Facts;
pub use format::{
    Base, ChainSpec, Claim, FolderSpec, Format, List, Root, StoreKind, Term, TreeSpec, decoder,
};
use jiff::Timestamp;
pub use settings::Settings;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

pub mod aider;
pub mod amp;
mod anthropic;
pub mod antigravity;
pub mod claude_code;
pub mod cline;
pub mod codex;
pub mod copilot_cli;
pub mod crush;
pub mod cursor;
pub mod custom;
pub mod damage;
pub mod database;
pub mod droid;
pub mod electron_ai_starter;
pub mod facts;
pub mod format;
pub mod gemini_cli;
mod genai;
pub mod goose;
pub mod grok;
mod head;
pub mod hermes;
pub mod hpd_agent;
pub(crate) mod image;
pub mod kimi;
pub mod kiro;
pub mod lenient;
pub mod mew;
pub mod mistral_vibe;
pub mod mistral_vibe_2;
pub mod openclaw;
pub mod opencode;
pub mod openhands;
pub mod otel_genai;
pub mod ouro;
mod pdf;
pub mod pi;
mod prompts;
mod protobuf;
pub mod qwen_code;
pub mod registry;
pub mod request_log;
mod rows;
pub mod settings;
pub mod tasks;
#[cfg(test)]
mod testing;
pub mod trajectories;
pub mod vscode_gateway;
pub mod zed;

/// All built-in formats, in the order in which they are tried on a file.
pub static ALL: &[&Format] = &[
    &qwen_code::QWEN_CODE, // before Claude Code, whose records look like its own
    &claude_code::CLAUDE_CODE,
    &codex::CODEX,
    &gemini_cli::GEMINI_CLI,
    &antigravity::ANTIGRAVITY,
    &openclaw::OPENCLAW, // before pi, whose format it writes
    &pi::PI,
    &copilot_cli::COPILOT_CLI,
    &droid::DROID,
    &grok::GROK,
    &crush::CRUSH,
    &goose::GOOSE,
    &hermes::HERMES,
    &zed::ZED,
    &cursor::CURSOR,
    &cline::CLINE,
    &trajectories::MINI_SWE_AGENT,
    &trajectories::SWE_AGENT,
    &tasks::ROO_CODE,
    &tasks::KILO_CODE,
    &tasks::CLINE_TASKS,
    &otel_genai::OTEL_GENAI,
    &mew::MEW,
    &hpd_agent::HPD_AGENT,
    &amp::AMP,
    &openhands::OPENHANDS,
    &mistral_vibe::MISTRAL_VIBE,
    &mistral_vibe_2::MISTRAL_VIBE_2,
    &opencode::KILO, // before OpenCode, whose tables it has
    &opencode::OPENCODE,
    &vscode_gateway::VSCODE_GATEWAY, // before raw requests, which it may contain
    &request_log::REQUEST_LOG,
    &ouro::OURO,
    &electron_ai_starter::ELECTRON_AI_STARTER,
    &aider::AIDER,
    &kiro::KIRO,
    &kimi::KIMI,
];

/// The format of this id.
pub fn by_id(id: &str) -> Option<&'static Format> {
    ALL.iter().copied().find(|format| format.id == id)
}

/// The format whose log begins with these bytes.
pub fn recognise(head: &[u8]) -> Option<&'static Format> {
    ALL.iter().copied().find(|format| format.recognise(head))
}

/// Files of lines that an agent writes beside its logs, each about any of its sessions.
#[derive(Debug)]
pub struct SidecarSpec {
    /// The environment variable that names one such file, if there is any.
    pub env: Option<&'static str>,
    /// The folder of such files (`*.jsonl`), from the path of a log.
    pub folder: fn(&Path) -> Option<PathBuf>,
    /// Reads a line; `None`: nothing of use. Never fails, whatever the bytes.
    pub read: fn(&[u8]) -> Option<SidecarRecord>,
    /// A database beside the logs, if the agent keeps one.
    pub database: Option<&'static SidecarDatabase>,
}

/// A database that an agent keeps beside its logs, with rows about single requests.
#[derive(Debug)]
pub struct SidecarDatabase {
    /// Its path, from the path of a log.
    pub path: fn(&Path) -> Option<PathBuf>,
    /// Its tables. Rows are only added, or the last one is written anew.
    pub spec: DatabaseSpec,
    /// Whether it is of one session, whatever its id there.
    pub holds_one: bool,
    /// Reads the line of a row; `None`: nothing of use. Never fails, whatever the bytes.
    pub read: fn(&[u8]) -> Option<SidecarRecord>,
}

/// A line of a sidecar file, about one request.
#[derive(Debug, Clone, PartialEq)]
pub struct SidecarRecord {
    /// The session's id.
    pub session: Box<str>,
    /// Names that the session's log may have for the request, the most reliable first.
    pub keys: Vec<Key>,
    /// When the request ended, where no name of it is known: `keys` are those of its conversation.
    pub at: Option<Timestamp>,
    /// The window at that time, in tokens.
    pub window: Option<u64>,
    /// What is known of the session.
    pub about: Option<Meta>,
    /// The numbers. `request` identifies the record; it is replaced by the log's own name for the request
    /// when the numbers are passed on.
    pub usage: Usage,
}

/// How a decoder took what is beside its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateUpdate {
    /// What was read of the log still holds.
    Accepted,
    /// A document is half written, or none.
    Incomplete,
    /// It concerns what was read long before: the log must be read again from its beginning.
    RereadLog,
}

/// Bytes of a log as text; bytes that are not UTF-8 are replaced.
pub fn text(bytes: &[u8]) -> Cow<'_, str> {
    // Several times faster than the lossy way, and than the standard library's check.
    match simdutf8::basic::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Reads one log, from any of its records on, and emits what it contains as events. Never fails and never
/// panics, whatever the text.
pub trait Decoder: Send {
    /// Decodes one complete line, without its newline; it is never blank. [`Sink::place`] is its
    /// place.
    fn read_line(&mut self, _line: &str, _out: &mut Sink<'_>) {}

    /// Decodes a whole document.
    fn read_document(&mut self, _document: &str, _out: &mut Sink<'_>) {}

    /// Takes the sidecar records of its session: before it reads anything, and again when there are more,
    /// all of them.
    fn read_sidecar(&mut self, _records: &[SidecarRecord]) -> StateUpdate {
        StateUpdate::RereadLog
    }

    /// A copy of itself that has read the same, for documents with a [`Format::list`]: they are read on
    /// from the first change. `None`: they are read as a whole whenever they change.
    fn copy(&self) -> Option<Box<dyn Decoder>> {
        None
    }

    /// Takes a document beside the log ([`Format::states`]): before it reads anything, and again
    /// whenever the document has changed. Where there are several, they differ in content. A log
    /// that is a document itself is then read again from its beginning. Never fails, whatever the bytes.
    fn read_state(&mut self, _document: &[u8], _out: &mut Sink<'_>) -> StateUpdate {
        StateUpdate::Accepted
    }

    /// Called whenever all complete lines or elements of the log have been read, for what only holds of its
    /// end.
    fn read_end(&mut self, _out: &mut Sink<'_>) {}
}
