//! `ctxgauge ls`.

use super::options::{All, Shared};
use super::{Call, Run};
use anyhow::Result;
use clap::Args;
use report::ls::{self, Sums};

/// `ctxgauge ls`.
#[derive(Debug, Args)]
pub struct Ls {
    /// Read all logs completely and add totals per agent, each response counted once.
    #[arg(long)]
    pub totals: bool,
    /// Which sessions.
    #[command(flatten)]
    pub all: All,
}

impl Run for Ls {
    fn add_options(&mut self, before: &mut Shared) {
        self.all.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let context = call.setup()?.context_of_all(&self.all)?;
        let sums = if self.totals {
            Sums::Totals
        } else {
            Sums::None
        };
        ls::run(
            &context,
            call.style(&self.all.print),
            sums,
            call.out,
            call.err,
        )
    }
}
