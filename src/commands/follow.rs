//! `ctxgauge follow`.

use super::ended::EndSignal;
use super::options::{Logs, ManySessions, MonitorOptions, Redact, check_paths};
use super::{Call, Run};
use anyhow::Result;
use clap::Args;
use hosts::Host;
use jiff::SignedDuration;
use report::ReportContext;
use report::follow::{self, Pace, PlainLines, Stream, Texts};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// `ctxgauge follow`.
#[derive(Debug, Args)]
pub struct Follow {
    /// At most one line per session in this time, such as 500ms, 1s or 1m.
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = time)]
    pub every: Duration,
    /// At least one line in this time, even if nothing has changed.
    #[arg(long, value_name = "TIME", default_value = "15s", value_parser = heartbeat)]
    pub heartbeat: Duration,
    /// Include titles and first prompts.
    #[arg(long, conflicts_with = "redact")]
    pub texts: bool,
    /// Add the report of each session whose log was read whole, as `report --json` prints it: the log that PATH names, and
    /// short logs that are being written.
    #[arg(long, requires = "texts", conflicts_with = "redact")]
    pub reports: bool,
    /// Print rows for the list of another machine, which reads them by ssh: see `ctxgauge help hosts`.
    #[arg(long, conflicts_with_all = ["texts", "redact"])]
    pub summaries: bool,
    /// Parts to leave out.
    #[command(flatten)]
    pub redact: Redact,
    /// The sessions to read.
    #[command(flatten)]
    pub many: ManySessions,
    /// Accepted as everywhere: the output has no other format.
    #[arg(long, hide = true)]
    pub json: bool,
}

impl Run for Follow {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.many.logs.add(&mut before.logs);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        check_paths(&self.many.paths)?;
        let setup = call.setup()?;
        let context = setup.context_of_all(&self.many, self.redact)?;
        context.rules.earlier.count_at_once();
        // Nothing else may be asked for beside it, but that must not depend on how arguments relate.
        let texts = if let Some(redactor) = context.redaction.redactor() {
            Texts::Redacted(Arc::clone(redactor))
        } else if self.reports {
            Texts::Reports { alone: false }
        } else if self.summaries {
            Texts::Summaries
        } else if self.texts {
            Texts::All
        } else {
            Texts::Names
        };
        let pace = Pace {
            every: self.every,
            heartbeat: self.heartbeat,
        };
        stream(call, context, pace, texts)
    }
}

/// Prints the report of the session in a log whenever it changes, each as a line and nothing else.
pub(super) fn reports(call: &mut Call<'_>, paths: &[PathBuf], logs: &Logs) -> Result<()> {
    check_paths(paths)?;
    let context = call.setup()?.context_of(paths, logs, Redact::OFF)?;
    context.rules.earlier.count_at_once();
    let pace = Pace {
        every: Duration::ZERO,
        heartbeat: LONGEST,
    };
    stream(call, context, pace, Texts::Reports { alone: true })
}

/// Writes a line for people for each change that is worth one, of all sessions.
pub(super) fn in_words(
    call: &mut Call<'_>,
    context: ReportContext,
    lines: PlainLines,
    hosts: Vec<Host>,
) -> Result<()> {
    context.rules.earlier.count_at_once();
    let pace = Pace {
        every: PLAIN_EVERY,
        heartbeat: LONGEST,
    };
    let stream = Stream::new(Arc::clone(&context.rules), pace, Texts::All);
    write(call, context, stream.in_words(lines), hosts)
}

/// The least time between two looks at a session whose changes are put in words.
const PLAIN_EVERY: Duration = Duration::from_secs(1);

fn stream(call: &mut Call<'_>, context: ReportContext, pace: Pace, texts: Texts) -> Result<()> {
    let stream = Stream::new(Arc::clone(&context.rules), pace, texts);
    write(call, context, stream, Vec::new())
}

fn write(
    call: &mut Call<'_>,
    context: ReportContext,
    stream: Stream,
    hosts: Vec<Host>,
) -> Result<()> {
    let stream = Arc::new(stream.of(context.only.clone()));
    let (ends, taken) = (Arc::clone(&stream), Arc::clone(&stream));
    let signal = EndSignal::for_work(move || ends.end())?;
    // They are followed until the stream ends.
    let _links = hosts::start(hosts, &hosts::Options::new(agents::by_id), move |event| {
        taken.take_host(event, Instant::now())
    })?;
    follow::run(context, &stream, call.out, call.err)?;
    signal.or(Ok(()))
}

/// Reads a time: `500ms`, `1s`, `1m`.
pub(super) fn time(text: &str) -> Result<Duration, &'static str> {
    let time: Option<SignedDuration> = text.parse().ok();
    let time = time.and_then(|time| Duration::try_from(time).ok());
    time.filter(|time| *time <= LONGEST)
        .ok_or("not a time of at most a day, such as 500ms, 1s or 1m")
}

/// Reads a time that is long enough for a heartbeat. Shorter ones would leave no time for other lines.
fn heartbeat(text: &str) -> Result<Duration, &'static str> {
    match time(text) {
        Ok(time) if time < SHORTEST_HEARTBEAT => Err("at least 100ms"),
        time => time,
    }
}

/// A day.
const LONGEST: Duration = Duration::from_secs(86_400);
const SHORTEST_HEARTBEAT: Duration = Duration::from_millis(100);
