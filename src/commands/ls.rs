//! `ctxgauge ls`.

use super::ended::PrintTime;
use super::options::{ManySessions, MonitorOptions, one_of, with_help};
use super::since::SinceTime;
use super::{Call, Run};
use anyhow::Result;
use clap::Args;
use jiff::tz::TimeZone;
use render::clock::Clock;
use report::ls::{self, DivideBy, ListOptions, Sort, Sums};
use strum::IntoEnumIterator;

/// `ctxgauge ls`.
#[derive(Debug, Args)]
pub struct Ls {
    /// Read all logs completely and add what was used, each response counted once: by session, and totals per agent.
    #[arg(long)]
    pub totals: bool,
    /// With --totals: divide them, too.
    #[arg(long, value_name = "WHAT", requires = "totals", value_parser = one_of(DivideBy::iter(), with_help))]
    pub by: Option<DivideBy>,
    /// Only sessions that were active since then, such as 2h, 7d or 2026-11-01; totals of responses since then.
    #[arg(long, value_name = "WHEN")]
    pub since: Option<SinceTime>,
    /// Take days to begin at midnight in UTC, not on your clock.
    #[arg(long)]
    pub utc: bool,
    /// Only sessions with this in the name of their project; with a /, in the path of its folder.
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// Only sessions with this in the name of their model; totals of the responses of such models.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// At most this many sessions; totals are of all.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Order of the sessions.
    #[arg(long, value_name = "KEY", default_value = "recent", value_parser = one_of(Sort::iter(), with_help))]
    pub sort: Sort,
    /// The sessions to list.
    #[command(flatten)]
    pub all: ManySessions,
}

impl Run for Ls {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.all.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let mut context = call.setup()?.context_of_all(&self.all)?;
        let charset = self.all.print.plain.charset();
        call.long_work(&mut context, PrintTime::AtTheEnd, charset)?;
        let mut clock = context.clock();
        if self.utc {
            clock.zone = TimeZone::UTC;
        }
        let wanted = self.wanted(clock);
        let style = self.all.print.style(call);
        ls::run(&context, style, &wanted, call.out, call.err)
    }
}

impl Ls {
    fn wanted(&self, clock: Clock) -> ListOptions {
        let needs_totals = matches!(self.sort, Sort::Usage | Sort::Cost);
        ListOptions {
            sums: if self.totals || needs_totals {
                Sums::Totals
            } else {
                Sums::None
            },
            by: self.by,
            since: self.since.map(|since| since.moment(&clock)),
            zone: Some(clock.zone),
            project: self.project.clone(),
            model: self.model.clone(),
            limit: self.limit,
            sort: self.sort,
        }
    }
}
