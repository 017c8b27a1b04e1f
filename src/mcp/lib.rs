//! ctxgauge as a server of the Model Context Protocol, on standard input and output: an agent asks what fills its own
//! context.
//!
//! | module | what it does |
//! |---|---|
//! | `wire` | JSON-RPC: messages as lines, in bounded memory |
//! | `server` | the methods of the protocol |
//! | `tools` | the definitions of the tools, and their arguments |
//! | `deadline` | the thread that reads logs, and the longest wait for it |
//! | `logs` | finds the session that is asked about, and follows its log |
//! | `choice` | the choice of a session, and what it rests on |
//! | `hints` | what a client says about itself and its session |
//! | `answers` | the answer of each tool, from a session |
//!
//! The numbers are those of `ctxgauge report --json` ([`report::session::parts`]). Nothing is written and nothing is
//! started. Answers contain numbers, names and places; only `item_text`, which must be asked for at the start, contains
//! text of a log. All of it is made inert.

mod answers;
mod choice;
mod deadline;
mod hints;
mod logs;
mod server;
mod tools;
mod wire;

use anyhow::Result;
use report::ReportContext;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::time::Duration;
pub use tools::{Texts, Tool, definitions};

/// The settings of the server.
pub struct Setup {
    /// The places of the logs, and the rules for reading them.
    pub context: ReportContext,
    /// The id of the session that the user names, or the beginning or the end of it.
    pub session: Option<String>,
    /// The working directory, by each of its paths.
    pub here: Vec<PathBuf>,
    /// The process that has started the server, and those that have started it, the nearest first.
    pub parents: Vec<u32>,
    /// The use of texts of logs in answers.
    pub texts: Texts,
    /// The longest time that a call of a tool may take.
    pub longest: Duration,
}

/// Answers requests from `input` until it ends.
///
/// # Errors
///
/// `out` cannot be written to.
pub fn serve(setup: Setup, input: impl Read, out: &mut dyn Write) -> Result<()> {
    let mut server = server::Server::new(setup);
    wire::serve(input, out, |request| server.answer(request))?;
    Ok(())
}
