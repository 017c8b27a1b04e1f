//! `ctxgauge models`.

mod import;

use super::examples;
use super::options::{MonitorOptions, PrintDocument};
use super::{Call, Run};
use anyhow::Result;
use clap::{Args, Subcommand};
use import::Import;

/// `ctxgauge models`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Models {
    /// Only the rows of models, agents and tokenizers with this in their names; `*` matches any text.
    pub pattern: Option<String>,
    /// The format of the output.
    #[command(flatten)]
    pub print: PrintDocument,
    #[command(subcommand)]
    what: Option<ModelsCommand>,
}

/// The commands of `models`.
#[derive(Debug, Subcommand)]
enum ModelsCommand {
    /// Import windows and prices from a list of models that you have downloaded: from models.dev, LiteLLM or pi.
    #[command(after_help = examples::of("models import"))]
    Import(Import),
}

impl Run for Models {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.print.plain.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let setup = call.setup()?;
        if let Some(ModelsCommand::Import(import)) = &self.what {
            return import.run(&setup, call);
        }
        let rules = setup.rules()?;
        let style = self.print.style(call);
        report::about::models::run(&rules, self.pattern.as_deref(), style, call.out)
    }
}
