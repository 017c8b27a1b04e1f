//! ctxgauge as a server of the Model Context Protocol, on standard input and output: an agent asks what fills its own
//! context.
//!
//! | module | what it does |
//! |---|---|
//! | `wire` | messages as lines, both ways, in bounded memory |
//! | `server` | the methods of the protocol |
//! | `tools` | the definitions of the tools, and their arguments |
//! | `logs` | finds the session that is asked about, and follows its log |
//! | `choice` | the choice of a session, and what it rests on |
//! | `asking` | which of several sessions asks, by the call in their logs |
//! | `hints` | what a client says about itself and its session |
//! | `answers` | the answer of each tool, from a session |
//!
//! The numbers are those of `ctxgauge report --json` ([`report::session::parts`]). Nothing is written and nothing is
//! started. Answers contain numbers, names and places; only `item_text`, which must be asked for at the start, contains
//! text of a log. All of it is made inert.

mod answers;
mod asking;
mod choice;
mod hints;
mod logs;
mod server;
mod tools;
mod wire;

use anyhow::{Context, Result, anyhow};
use ingest::sync::spawn;
use report::ReportContext;
use std::io::{Read, Write};
use std::path::PathBuf;
use tokio::sync::mpsc;
pub use tools::{Texts, definitions};

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
}

/// Answers requests from `input` until it ends, or nobody reads `out` any more.
///
/// # Errors
///
/// A thread cannot be started, `out` cannot be written to, or the client does not begin as the protocol wants it.
pub fn serve(setup: Setup, input: impl Read + Send + 'static, out: &mut dyn Write) -> Result<()> {
    let (lines, requests) = mpsc::channel(wire::WAITING_LINES);
    let (answers, mut written) = mpsc::channel::<Vec<u8>>(wire::WAITING_LINES);
    spawn("mcp-input", move || wire::read_lines(input, &lines))?;
    let runtime = tokio::runtime::Builder::new_current_thread();
    let serving = spawn("mcp", move || serve_on(runtime, setup, requests, answers))?;
    while let Some(line) = written.blocking_recv() {
        out.write_all(&line)?;
        out.flush()?;
    }
    let served = serving.join();
    served.map_err(|_| anyhow!("the server ended with a panic"))?
}

fn serve_on(
    mut runtime: tokio::runtime::Builder,
    setup: Setup,
    requests: mpsc::Receiver<Vec<u8>>,
    answers: mpsc::Sender<Vec<u8>>,
) -> Result<()> {
    let runtime = runtime.enable_time().build();
    let runtime = runtime.context("cannot start the server")?;
    let wire = wire::Wire::new(requests, answers);
    runtime.block_on(server::run(server::Server::new(setup), wire))
}
