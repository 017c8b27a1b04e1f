//! `ctxgauge metrics`, and what it shares with `ctxgauge serve`.

use super::ended::EndSignal;
use super::follow::time;
use super::options::{Logs, MonitorOptions, Redact, check_paths, file_of, one_of, with_help};
use super::{Call, Run};
use ::metrics::salt::Salt;
use ::metrics::{ExtraLabel, Followed, Format, Naming, file};
use anyhow::Result;
use clap::Args;
use files::paths::User;
use report::ReportContext;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use strum::IntoEnumIterator;

/// The file of the salt of session names, in the folder of the program's state.
const SALT: &str = "metrics-salt";

/// `ctxgauge metrics`.
#[derive(Debug, Args)]
pub struct Metrics {
    /// Write to this file, which all users may read. For node_exporter its name must end in .prom.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Keep running, and write the file again at this interval, such as 15s or 1m.
    #[arg(long, value_name = "TIME", requires = "output", value_parser = pause)]
    pub every: Option<Duration>,
    /// The format.
    #[arg(long, value_name = "FORMAT", default_value = "prometheus", value_parser = one_of(Format::iter(), with_help))]
    pub format: Format,
    /// The sessions and their names.
    #[command(flatten)]
    pub sessions: Named,
}

/// The sessions that have metrics, and their names.
#[derive(Debug, Args)]
pub struct Named {
    /// Show the ids of sessions. By default they are hashed with a random number of this machine.
    #[arg(long)]
    pub session_ids: bool,
    /// More labels than the agent, the model and the session: these show what somebody works on.
    #[arg(long, value_name = "LABELS", value_delimiter = ',', value_parser = one_of(ExtraLabel::iter(), with_help))]
    pub labels: Vec<ExtraLabel>,
    /// Files or folders; default: all logs of this machine.
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// The logs to read.
    #[command(flatten)]
    pub logs: Logs,
}

/// Returns the salt of this machine.
fn salt(user: &User) -> Result<Salt> {
    match user.folders.state_folder() {
        Some(folder) => Salt::of_machine(&folder.join(SALT)),
        // Nothing can be kept.
        None => Ok(Salt::random()),
    }
}

/// Sessions that are going to be followed.
pub(super) struct Begun {
    pub(super) context: ReportContext,
    followed: Arc<Followed>,
    signal: EndSignal,
}

impl Named {
    pub(super) fn add(&mut self, before: &mut MonitorOptions) {
        self.logs.add(&mut before.logs);
    }

    /// Prepares to follow the sessions. From now on a signal ends the program in order.
    pub(super) fn begin(&self, call: &mut Call<'_>) -> Result<Begun> {
        check_paths(&self.paths)?;
        let setup = call.setup()?;
        let context = setup.context_of(&self.paths, &self.logs, Redact::OFF)?;
        context.rules.earlier.count_at_once();
        let salt = (!self.session_ids).then(|| salt(&setup.user));
        let salt = salt.transpose()?;
        let mut extra = Vec::new();
        for label in &self.labels {
            if !extra.contains(label) {
                extra.push(*label);
            }
        }
        let naming = Naming { salt, extra };
        let rules = Arc::clone(&context.rules);
        let followed = Arc::new(Followed::new(rules, naming, context.now));
        let ends = Arc::clone(&followed);
        Ok(Begun {
            context,
            followed,
            signal: EndSignal::for_work(move || ends.end())?,
        })
    }
}

impl Begun {
    /// Follows the sessions while something is done with them.
    pub(super) fn run(self, work: impl FnOnce(&Arc<Followed>) -> Result<()>) -> Result<()> {
        let handle = self.followed.start(self.context)?;
        let done = work(&self.followed);
        self.followed.end();
        drop(handle);
        self.signal.or(done)
    }
}

impl Run for Metrics {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.sessions.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let begun = self.sessions.begin(call)?;
        let (out, err) = (&mut *call.out, &mut *call.err);
        begun.run(|followed| match file_of(self.output.as_deref()) {
            Some(path) => file::keep(followed, self.format, path, self.every, err),
            None => file::write(followed, self.format, out, err),
        })
    }
}

/// Reads a time between two writes.
fn pause(text: &str) -> Result<Duration, &'static str> {
    match time(text) {
        Ok(time) if time < SHORTEST_PAUSE => Err("at least 1s"),
        time => time,
    }
}

const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
