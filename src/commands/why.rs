//! `ctxgauge why`.

use super::ended::PrintTime;
use super::options::{ManySessions, MonitorOptions, PrintDocument, Redact};
use super::since::SinceTime;
use super::{Call, Run};
use anyhow::Result;
use clap::Args;
use report::ls::ListOptions;
use report::why;

/// `ctxgauge why`.
#[derive(Debug, Args)]
pub struct Why {
    /// Only sessions that were active since then, such as 2h, 7d or 2026-11-01.
    #[arg(long, value_name = "WHEN")]
    pub since: Option<SinceTime>,
    /// Only sessions with this in the name of their project; with a /, in the path of its folder.
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// The sessions to look at.
    #[command(flatten)]
    pub all: ManySessions,
    /// The format of the output.
    #[command(flatten)]
    pub print: PrintDocument,
}

impl Run for Why {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.all.logs.add(&mut before.logs);
        self.print.plain.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let setup = call.setup()?;
        let mut context = setup.context_of_all(&self.all, Redact::OFF)?;
        let charset = self.print.plain.charset();
        call.long_work(&mut context, PrintTime::AtTheEnd, charset)?;
        let wanted = ListOptions {
            since: self.since.map(|since| since.moment(&context.clock())),
            project: self.project.clone(),
            ..ListOptions::default()
        };
        let style = self.print.style(call);
        why::run(&context, &wanted, style, call.out, call.err)
    }
}
