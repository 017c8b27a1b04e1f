//! `ctxgauge report`.

use super::monitor::Monitor;
use super::options::{Estimate, Logs, Only, Print, Redact};
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
    /// Whose log it is.
    #[command(flatten)]
    pub only: Only,
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
    fn add_options(&mut self, before: &mut Monitor) {
        self.only.add(&mut before.logs.only);
        self.estimate.add(&mut before.estimate);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let setup = call.setup()?;
        let mut context = match &self.path {
            Some(_) => setup.context(&self.only, &self.estimate)?,
            None => {
                let only = self.only.clone();
                let logs = Logs {
                    only,
                    ..Logs::default()
                };
                setup.context_of(&[], &logs, &self.estimate)?
            }
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
