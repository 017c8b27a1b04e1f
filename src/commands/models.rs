//! `ctxgauge models`.

use super::options::{MonitorOptions, PrintDocument};
use super::{Call, Run};
use anyhow::Result;
use clap::Args;

/// `ctxgauge models`.
#[derive(Debug, Args)]
pub struct Models {
    /// Only what concerns the models, agents and tokenizers of this name, or with it in their names; `*` is any
    /// text.
    pub pattern: Option<String>,
    /// The format of the output.
    #[command(flatten)]
    pub print: PrintDocument,
}

impl Run for Models {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.print.plain.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let rules = call.setup()?.rules()?;
        let style = self.print.style(call);
        report::about::models::run(&rules, self.pattern.as_deref(), style, call.out)
    }
}
