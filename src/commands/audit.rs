//! `ctxgauge audit`.

use super::ended::PrintTime;
use super::options::{ManySessions, MonitorOptions, PrintDocument, Redact, one_of};
use super::{Call, Run};
use anyhow::Result;
use clap::Args;
use model::outlook::estimators::Estimator;
use report::audit::{self, WorstChoice};

/// `ctxgauge audit`.
#[derive(Debug, Args)]
pub struct Audit {
    /// List the N requests that the estimator predicted worst, with the items in between.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub worst: usize,
    /// The estimator for --worst and for the verdict. Default: calibrated.
    #[arg(long, value_name = "NAME", value_parser = one_of(Estimator::ALL, Estimator::name))]
    pub estimator: Option<Estimator>,
    /// Compare the findings of `why` in the first half of each session with its second half instead.
    #[arg(long, conflicts_with_all = ["worst", "estimator"])]
    pub why: bool,
    /// The sessions to audit.
    #[command(flatten)]
    pub all: ManySessions,
    /// The format of the output.
    #[command(flatten)]
    pub print: PrintDocument,
}

impl Run for Audit {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.all.logs.add(&mut before.logs);
        self.print.plain.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let mut context = call.setup()?.context_of_all(&self.all, Redact::OFF)?;
        let charset = self.print.plain.charset();
        call.long_work(&mut context, PrintTime::AtTheEnd, charset)?;
        let style = self.print.style(call);
        if self.why {
            return audit::findings::run(&context, style, call.out, call.err);
        }
        let worst = WorstChoice {
            by: self.estimator.unwrap_or_default(),
            most: self.worst,
        };
        audit::run(&context, style, worst, call.out, call.err)
    }
}
