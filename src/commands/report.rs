//! `ctxgauge report`.

use super::options::{Estimate, Logs, Print, Redact, Shared};
use super::{Call, Run};
use anyhow::Result;
use clap::Args;
use report::session::{self, Asked};
use std::path::PathBuf;

/// `ctxgauge report`.
#[derive(Debug, Args)]
pub struct Report {
    /// A log file, a folder (its newest session), or `-` for standard input. Default: the newest session of the
    /// project in the working directory.
    pub path: Option<PathBuf>,
    /// Keep running, and report again whenever the session has changed.
    #[arg(long, conflicts_with = "redact")]
    pub follow: bool,
    /// Select a session by its id, the beginning or end of it, or a part of its title; `ctxgauge ls` lists them.
    /// Without PATH, any of this machine.
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Which logs to search, and whose log it is.
    #[command(flatten)]
    pub logs: Logs,
    /// How to estimate.
    #[command(flatten)]
    pub estimate: Estimate,
    /// What to leave out.
    #[command(flatten)]
    pub redact: Redact,
    /// How to write it.
    #[command(flatten)]
    pub print: Print,
}

impl Run for Report {
    fn add_options(&mut self, before: &mut Shared) {
        self.logs.add(&mut before.logs);
        self.estimate.add(&mut before.estimate);
        self.print.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let setup = call.setup()?;
        let mut context = match &self.path {
            Some(_) => setup.context(&self.logs.only, &self.estimate)?,
            None => setup.context_of(&[], &self.logs, &self.estimate)?,
        };
        if self.redact.redact {
            context.redactor = Some(setup.redactor(&context)?);
        }
        let asked = Asked {
            path: self.path.as_deref(),
            session: self.session.as_deref(),
            here: &setup.user.working_folder(),
        };
        let style = call.style(&self.print);
        if self.follow {
            session::follow(&context, &asked, style, call.out, call.err)
        } else {
            session::run(&context, &asked, style, call.out)
        }
    }
}
