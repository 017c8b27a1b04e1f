//! `ctxgauge report`.

use super::monitor::Monitor;
use super::options::{Estimate, Only, Print};
use super::{Call, Run};
use anyhow::Result;
use clap::Args;
use report::session;
use std::path::PathBuf;

/// `ctxgauge report`.
#[derive(Debug, Args)]
pub struct Report {
    /// A log file, a folder (its newest session), or `-` for standard input.
    pub path: PathBuf,
    /// Keep running, and report again whenever the session has changed.
    #[arg(long)]
    pub follow: bool,
    /// Select a session of a file that holds several, by its id or a part of its name; `ctxgauge ls`
    /// lists them. Default: the first.
    #[arg(long, value_name = "NAME")]
    pub session: Option<String>,
    /// Whose log it is.
    #[command(flatten)]
    pub only: Only,
    /// How to estimate.
    #[command(flatten)]
    pub estimate: Estimate,
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
        let context = call.setup()?.context(&self.only, &self.estimate)?;
        let (wanted, style) = (self.session.as_deref(), call.style(&self.print));
        if self.follow {
            session::follow(&context, &self.path, wanted, style, call.out, call.err)
        } else {
            session::run(&context, &self.path, wanted, style, call.out)
        }
    }
}
