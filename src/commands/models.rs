//! `ctxgauge models`.

use super::options::Print;
use super::{Call, Run};
use anyhow::Result;
use clap::Args;

/// `ctxgauge models`.
#[derive(Debug, Args)]
pub struct Models {
    /// How to write it.
    #[command(flatten)]
    pub print: Print,
}

impl Run for Models {
    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let rules = call.setup()?.rules()?;
        let table = report::models::Models(&rules);
        call.style(&self.print).print(&table, call.out)
    }
}
