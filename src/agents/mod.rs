//! Decoders, pure: one file per log format, each turning bytes into [`crate::model::event`]s.
//!
//! # How to add an agent
//!
//! 1. Write `src/agents/<agent>.rs` with a type that implements [`Format`] and one that implements
//!    [`Decoder`]. [`pi`] is the smallest example.
//! 2. Declare the module here and add the format to [`ALL`].
//! 3. Add its policy, and models it brings, to `assets/models.toml`; where settings files of its own
//!    change when it compacts, say so by [`Format::settings`].
//! 4. Put hand-written logs into `tests/fixtures/<agent>/<case>/`, one case a trap; `cargo test`
//!    writes and checks the snapshots beside them.
//! 5. Say by [`Format::facts`] what its logs tell; the README's table is made of that, and a test
//!    prints it when it has changed.
//!
//! Most logs grow by lines. Others say so: documents and what they are a list of ([`Format::shape`],
//! [`Format::list`]), folders of numbered files ([`Format::number`]), files of many sessions
//! ([`Format::holds_several`]), files beside the log ([`Format::beside`], [`Format::state`]).
//!
//! A decoder never fails: what it cannot read becomes an [`Event::Unreadable`] or [`Event::Skipped`].
//! It sees bytes, not files, so it can be given any line of a log at any time; what it must remember
//! from line to line (the names of tools by call id, say) it keeps itself.
//!
//! [`Event::Unreadable`]: crate::model::event::Event::Unreadable
//! [`Event::Skipped`]: crate::model::event::Event::Skipped

use crate::model::event::{Billed, Key, Place, Sink, Usage};
pub use facts::Facts;
pub use settings::Settings;
use std::path::{Path, PathBuf};

pub mod claude_code;
pub mod codex;
pub mod copilot_cli;
pub mod cursor;
pub mod droid;
pub mod facts;
pub mod gemini_cli;
mod genai;
pub mod hpd_agent;
pub(crate) mod image;
pub mod kimi;
mod lenient;
pub mod mew;
pub mod openclaw;
pub mod openhands;
pub mod otel_genai;
pub mod ouro;
pub mod own;
pub mod pi;
pub mod qwen_code;
pub mod request_log;
pub mod settings;
mod snapshot;
#[cfg(test)]
mod testing;
pub mod vscode_gateway;

/// Every format that can be read, in the order in which they are asked whether a file is theirs.
pub static ALL: &[&dyn Format] = &[
    &qwen_code::QwenCode, // before Claude Code, whose records look like its own
    &claude_code::ClaudeCode,
    &codex::Codex,
    &gemini_cli::GeminiCli,
    &openclaw::OpenClaw, // before pi, whose format it writes
    &pi::Pi,
    &copilot_cli::CopilotCli,
    &droid::Droid,
    &cursor::Cursor,
    &otel_genai::OtelGenAi,
    &mew::Mew,
    &hpd_agent::HpdAgent,
    &openhands::OpenHands,
    &vscode_gateway::VscodeGateway, // before raw requests, which it may hold
    &request_log::RequestLog,
    &ouro::Ouro,
    &kimi::Kimi,
];

/// The format of this id.
pub fn by_id(id: &str) -> Option<&'static dyn Format> {
    ALL.iter().copied().find(|format| format.id() == id)
}

/// The format whose log begins with these bytes.
pub fn recognise(head: &[u8]) -> Option<&'static dyn Format> {
    ALL.iter().copied().find(|format| format.recognise(head))
}

/// A log format: where its files are, how to tell them, how to read them.
pub trait Format: Sync {
    /// The agent's id, as in reports: `claude-code`.
    fn id(&self) -> &'static str;

    /// The agent's name in a narrow column: `claude`.
    fn label(&self) -> &'static str;

    /// Where its logs are.
    fn roots(&self) -> &'static [Root];

    /// Its settings, where they can change when it compacts.
    fn settings(&self) -> Option<&'static Settings> {
        None
    }

    /// What the file or folder of this path is, by its name alone; `None`: not a log of this agent.
    fn claims(&self, path: &Path) -> Option<Claim>;

    /// The file that tells the session of this one too, and better: where it is there, this one is
    /// passed over, unless it is named.
    fn better(&self, _path: &Path) -> Option<PathBuf> {
        None
    }

    /// The number of a record by its file's name, where a log is a folder of such files
    /// ([`Shape::Folder`]); `None`: it is no record.
    fn number(&self, _name: &str) -> Option<u64> {
        None
    }

    /// Whether a file that begins with these bytes is such a log. The bytes may end anywhere.
    fn recognise(&self, head: &[u8]) -> bool;

    /// How a log that begins with these bytes is read; `None`: its name tells.
    fn shape(&self, head: &[u8]) -> Option<Shape> {
        facts::shape(head)
    }

    /// The list that a document of this format mostly is. The decoder is given such a document around
    /// the list, which is empty then, and after it each of the list's elements as a line.
    fn list(&self) -> Option<List> {
        None
    }

    /// What its logs tell and what they do not.
    fn facts(&self) -> Facts;

    /// A decoder for one file.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// Whether a file holds several sessions of which none is the others' parent. Which of them came
    /// first, and so their names, is told by its beginning alone.
    fn holds_several(&self) -> bool {
        false
    }

    /// What it writes beside its logs that tells more of them.
    fn beside(&self) -> Option<&'static Beside> {
        None
    }

    /// Where the document stands that tells more of the log at this path: see
    /// [`Decoder::told_state`].
    fn state(&self, _log: &Path) -> Option<PathBuf> {
        None
    }

    /// Byte strings of which one stands in every line that can reset the context, to find the last
    /// reset from the end of a file. May stand in other lines too.
    fn reset_marks(&self) -> &'static [&'static str];

    /// The names of [`Billed`]'s numbers in the provider's own terms, for totals.
    fn terms(&self) -> &'static [Term] {
        &[
            ("input", |b| b.input),
            ("cached", |b| b.cache_read),
            ("output", |b| b.output),
            ("reasoning", |b| b.reasoning),
        ]
    }
}

/// One number of a provider's usage: its name in reports and where it is in [`Billed`].
pub type Term = (&'static str, fn(&Billed) -> u64);

/// A place where an agent keeps its logs.
#[derive(Debug, Clone, Copy)]
pub struct Root {
    /// The environment variable that names the agent's folder, or several, comma separated. Where it
    /// is set, `base` does not apply.
    pub env: Option<&'static str>,
    /// Where the agent's folder is otherwise.
    pub base: Base,
    /// The folder of the logs inside the agent's folder.
    pub logs: &'static str,
}

/// Where an agent's folder is when no variable names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    /// Below the home directory.
    Home(&'static str),
    /// Below `$XDG_CONFIG_HOME`, or `~/.config`.
    XdgConfig(&'static str),
    /// Below `$XDG_DATA_HOME`, or `~/.local/share`.
    XdgData(&'static str),
    /// This folder.
    At(&'static str),
}

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Line by line, growing at its end.
    Lines,
    /// As a whole, again whenever it has changed: documents that are rewritten in place.
    Document,
    /// A folder of numbered files, each a line: see [`Format::number`].
    Folder,
}

/// A list in a document, by its name there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// Of a JSON object.
    Json(&'static str),
    /// Of a YAML mapping that is written as a block.
    Yaml(&'static str),
}

/// What a path alone tells of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// How to read it.
    pub shape: Shape,
    /// The session's id, where the file's name holds it.
    pub id: Option<String>,
    /// The id of the session that started this one, where the path holds it.
    pub parent: Option<String>,
}

impl Claim {
    /// A log that is read line by line and whose name tells nothing more.
    pub const LINES: Claim = Claim {
        shape: Shape::Lines,
        id: None,
        parent: None,
    };
}

/// Files of lines that an agent writes beside its logs, each about any of its sessions.
#[derive(Debug)]
pub struct Beside {
    /// The variable of the environment that names one such file.
    pub env: &'static str,
    /// The folder of such files (`*.jsonl`), by the path of a log.
    pub folder: fn(&Path) -> Option<PathBuf>,
    /// What a line tells of a request; `None`: nothing of use. Never fails, whatever the bytes.
    pub read: fn(&[u8]) -> Option<Aside>,
}

/// What a line beside the logs tells of one request.
#[derive(Debug, Clone, PartialEq)]
pub struct Aside {
    /// The session's id.
    pub session: Box<str>,
    /// By what the session's log may name the request, the surest first.
    pub keys: Vec<Key>,
    /// The window at that time, in tokens.
    pub window: Option<u64>,
    /// The numbers. Its `request` tells asides apart; the log's own name of the request stands in its
    /// place when it is passed on.
    pub usage: Usage,
}

/// What a document beside a log came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// What was read of the log holds.
    Fits,
    /// The document is half written, or none.
    Torn,
    /// It tells of what was read long before: the log is to be read afresh.
    Late,
}

/// What a decoder is given.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// One complete line, without its newline.
    Line(Place, &'a [u8]),
    /// A whole document.
    Document(&'a [u8]),
}

/// Reads one file from wherever the reader begins to wherever it ends.
pub trait Decoder: Send {
    /// Tells what the input says. Never fails and never panics, whatever the bytes.
    fn read(&mut self, input: Input<'_>, out: &mut Sink<'_>);

    /// Takes in what stands beside the log of its session, before it reads anything.
    fn told_beside(&mut self, _asides: &[Aside]) {}

    /// Another one that has read the same, for documents with a [`Format::list`]: they are read on from
    /// where they have not changed. `None`: they are read as a whole whenever they change.
    fn copy(&self) -> Option<Box<dyn Decoder>> {
        None
    }

    /// Takes in the document that stands beside the log ([`Format::state`]): before it reads anything,
    /// and again whenever the document has changed. Tells what follows for what it has read. Never
    /// fails, whatever the bytes.
    fn told_state(&mut self, _document: &[u8], _out: &mut Sink<'_>) -> Told {
        Told::Fits
    }
}
