//! `ctxgauge ls`.

use super::ended::Printed;
use super::options::{All, Shared};
use super::since::Since;
use super::{Call, Run};
use anyhow::Result;
use clap::{Args, ValueEnum};
use report::ls::{self, Sums, Wanted};

/// `ctxgauge ls`.
#[derive(Debug, Args)]
pub struct Ls {
    /// Read all logs completely and add what was used, each response counted once: by session, and totals per agent.
    #[arg(long)]
    pub totals: bool,
    /// With --totals: divide them, too.
    #[arg(long, value_name = "WHAT", requires = "totals")]
    pub by: Option<By>,
    /// Only sessions that were active since then, such as 2h, 7d or 2026-11-01 (UTC); totals of responses since then.
    #[arg(long, value_name = "WHEN")]
    pub since: Option<Since>,
    /// Only sessions with this in the name of their project.
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// Only sessions with this in the name of their model; totals of the responses of such models.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// At most this many sessions; totals are of all.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Which sessions come first.
    #[arg(long, value_name = "KEY", default_value = "recent")]
    pub sort: Sort,
    /// Which sessions.
    #[command(flatten)]
    pub all: All,
}

/// What totals are divided by.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum By {
    /// The day of a response, in UTC.
    Day,
    /// Its week, by the Monday, in UTC.
    Week,
    /// Its project.
    Project,
    /// The model that answered.
    Model,
    /// The agent.
    Agent,
}

/// The order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// The newest, with their sub-agents below them.
    Recent,
    /// The largest context.
    Context,
    /// The one that is nearest to its trigger.
    Trigger,
    /// The one that used the most tokens; implies --totals.
    Usage,
    /// The dearest; implies --totals.
    Cost,
}

impl Run for Ls {
    fn add_options(&mut self, before: &mut Shared) {
        self.all.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let mut context = call.setup()?.context_of_all(&self.all)?;
        let charset = self.all.print.plain.charset();
        call.long_work(&mut context, Printed::AtTheEnd, charset)?;
        let wanted = self.wanted((context.now)());
        let style = call.style(&self.all.print);
        ls::run(&context, style, &wanted, call.out, call.err)
    }
}

impl Ls {
    fn wanted(&self, now: jiff::Timestamp) -> Wanted {
        let needs_totals = matches!(self.sort, Sort::Usage | Sort::Cost);
        Wanted {
            sums: if self.totals || needs_totals {
                Sums::Totals
            } else {
                Sums::None
            },
            by: self.by.map(|by| match by {
                By::Day => ls::By::Day,
                By::Week => ls::By::Week,
                By::Project => ls::By::Project,
                By::Model => ls::By::Model,
                By::Agent => ls::By::Agent,
            }),
            since: self.since.map(|since| since.moment(now)),
            project: self.project.clone(),
            model: self.model.clone(),
            limit: self.limit,
            sort: match self.sort {
                Sort::Recent => ls::Sort::Recent,
                Sort::Context => ls::Sort::Context,
                Sort::Trigger => ls::Sort::Trigger,
                Sort::Usage => ls::Sort::Usage,
                Sort::Cost => ls::Sort::Cost,
            },
        }
    }
}
