//! The changes of all sessions as they happen: a stream of lines for programs.
//!
//! The threads that read logs change the sessions and mark what has changed; another thread writes lines. While it waits for
//! its reader, changes of a session add up to one: only its newest state is kept, as for the screens.

mod changes;
mod json;
mod plain;
mod stream;
#[cfg(test)]
mod tests;

use crate::output::json::line;
use crate::output::json::part::part;
use crate::output::redact::Redactor;
use crate::{ReportContext, print_problems};
use anyhow::Result;

use jiff::Timestamp;
use json::{Count, Line, SCHEMA};
pub use plain::PlainLines;
use serde::Serialize;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stream::Step;
pub use stream::Stream;

/// The longest time without a look at whether the reader is still there.
const READER_CHECK: Duration = Duration::from_millis(250);

/// The texts that the lines contain.
#[derive(Clone)]
pub enum Texts {
    /// Titles and prompts too, and the whole report of a session whose log was read whole.
    Reports {
        /// True if a line is a report and nothing else.
        alone: bool,
    },
    /// Titles and prompts too.
    All,
    /// Neither, but paths, ids and names.
    Names,
    /// Rows for the list of another machine, in the place of everything else: see [`hosts::wire`].
    Summaries,
    /// Pseudonyms.
    Redacted(Arc<Redactor>),
}

/// The times between lines.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// The least time between two lines of a session.
    pub every: Duration,
    /// The longest time without a line.
    pub heartbeat: Duration,
}

/// Reads and follows all logs, and writes a line for each change of a session, until the stream is ended or the reader
/// of `out` has gone. Prints the logs that cannot be read on `err`.
///
/// # Errors
///
/// If a thread cannot be started, or `out` or `err` cannot be written to.
pub fn run(
    context: ReportContext,
    stream: &Arc<Stream>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<()> {
    let now = context.now;
    let only = match (&stream.texts, &context.roots[..]) {
        (Texts::Reports { .. }, [_]) => context.find().files.into_iter().next(),
        _ => None,
    };
    let shared = Arc::clone(stream);
    let handle = context.follow(move |event| shared.take(event, Instant::now()))?;
    if let Some(log) = only {
        handle.look_at(log.facts.file);
    }
    write(stream, now, out, err)
}

/// Writes lines until the stream is ended.
fn write(
    stream: &Stream,
    now: fn() -> Timestamp,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<()> {
    let mut lines = Lines {
        seq: 0,
        now,
        reports_alone: matches!(stream.texts, Texts::Reports { alone: true }),
        is_plain: stream.is_plain(),
    };
    let mut ready = Vec::new();
    lines.add(&mut ready, "start", Start::new(stream))?;
    let Pace { heartbeat, .. } = stream.pace;
    let mut last = Instant::now();
    loop {
        if !ready.is_empty() {
            out.write_all(&ready)?;
            ready.clear();
            last = Instant::now();
        }
        // It finds out whether the reader has gone.
        out.flush()?;
        let until = (last + heartbeat).min(Instant::now() + READER_CHECK);
        match stream.wait(until, &mut lines, &mut ready)? {
            Step::Ended => return Ok(()),
            Step::Ready(problems) => print_problems(&problems, err)?,
        }
        if ready.is_empty() && Instant::now() >= last + heartbeat {
            let sessions = stream.sessions();
            lines.add(&mut ready, "heartbeat", Count { sessions })?;
            // Reports alone have no heartbeat. The next wait must not end at once.
            last = Instant::now();
        }
    }
}

part! { Start(stream: &Stream) {
    schema: &'static str = SCHEMA,
    version: &'static str = env!("CARGO_PKG_VERSION"),
    every_ms: u64 = ms(stream.pace.every),
    heartbeat_ms: u64 = ms(stream.pace.heartbeat),
    // True if titles and prompts are in the lines.
    texts: bool = stream.texts.has_titles(),
    // True if sessions are rows for the list of another machine.
    summaries?: bool = matches!(stream.texts, Texts::Summaries).then_some(true),
    // True if names are pseudonyms.
    redacted: bool = matches!(stream.texts, Texts::Redacted(_)),
}}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Numbers the lines.
struct Lines {
    seq: u64,
    now: fn() -> Timestamp,
    reports_alone: bool,
    /// True if lines are for people.
    is_plain: bool,
}

impl Lines {
    fn add(&mut self, to: &mut Vec<u8>, r#type: &'static str, body: impl Serialize) -> Result<()> {
        if self.reports_alone || self.is_plain {
            return Ok(());
        }
        let (seq, at) = (self.seq, (self.now)());
        self.seq += 1;
        line(
            to,
            &Line {
                r#type,
                seq,
                at,
                body,
            },
        )
    }
}
