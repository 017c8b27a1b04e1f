//! `ctxgauge ls`.

use super::ended::PrintTime;
use super::options::{ManySessions, MonitorOptions, Plain, Redact, one_of, with_help};
use super::since::SinceTime;
use super::{Call, Run};
use anyhow::Result;
use clap::Args;
use jiff::tz::TimeZone;
use render::clock::Clock;
use report::ls::{self, DivideBy, LineFormat, ListOptions, Part, Rows, Sort, Sums};
use report::{FORMATS, OutputFormat};
use strum::IntoEnumIterator;

/// `ctxgauge ls`.
#[derive(Debug, Args)]
pub struct Ls {
    /// Read all logs completely and add up the usage of each agent. Each response counts once.
    #[arg(long)]
    pub totals: bool,
    /// List the sessions with the totals, and the usage of each; implies --totals.
    #[arg(long)]
    pub sessions: bool,
    /// Divide the totals by this; implies --totals.
    #[arg(long, value_name = "WHAT", value_parser = one_of(DivideBy::iter(), with_help))]
    pub by: Option<DivideBy>,
    /// Only sessions that were active since then, such as 2h, 7d or 2026-11-01; totals of responses since then.
    #[arg(long, value_name = "WHEN")]
    pub since: Option<SinceTime>,
    /// Use UTC for the days, not your time zone.
    #[arg(long)]
    pub utc: bool,
    /// Only sessions with this in the name of their project; with a /, in the path of its folder.
    #[arg(long, value_name = "NAME")]
    pub project: Option<String>,
    /// Only sessions with this in the name of their model; totals of the responses of such models.
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// At most this many sessions; totals include all.
    #[arg(long, value_name = "N")]
    pub limit: Option<usize>,
    /// Also list the sessions in which an agent wrote the summary of a compaction.
    #[arg(long)]
    pub all: bool,
    /// Order of the sessions.
    #[arg(long, value_name = "KEY", default_value = "recent", value_parser = one_of(Sort::iter(), with_help))]
    pub sort: Sort,
    /// The sessions to read.
    #[command(flatten)]
    pub many: ManySessions,
    /// Output format: text, json, or a line for each session, with values in braces, such as '{id}' or
    /// '{project}\t{title}'. An unknown value lists all.
    #[arg(long, value_name = "FORMAT", default_value = FORMATS[0].name, value_parser = list_format)]
    pub format: ListFormat,
    /// The characters of the output.
    #[command(flatten)]
    pub plain: Plain,
}

/// The format of a list.
#[derive(Debug, Clone)]
pub enum ListFormat {
    /// Of all of it.
    Whole(&'static OutputFormat),
    /// Of a line for each session.
    Lines(LineFormat),
}

fn list_format(text: &str) -> Result<ListFormat, String> {
    if text.contains(['{', '[']) {
        let format = LineFormat::read(text).map_err(|error| error.to_string())?;
        return Ok(ListFormat::Lines(format));
    }
    let named = FORMATS.iter().find(|format| format.name == text);
    let named = named.map(ListFormat::Whole);
    named.ok_or_else(|| "neither text nor json, nor does it have a value such as {id}".to_owned())
}

impl Run for Ls {
    fn add_options(&mut self, before: &mut MonitorOptions) {
        self.many.logs.add(&mut before.logs);
        self.plain.add(before);
    }

    fn run(&self, call: &mut Call<'_>) -> Result<()> {
        let mut context = call.setup()?.context_of_all(&self.many, Redact::OFF)?;
        call.long_work(&mut context, PrintTime::AtTheEnd, self.plain.charset())?;
        let mut clock = context.clock();
        if self.utc {
            clock.zone = TimeZone::UTC;
        }
        let wanted = self.wanted(clock);
        let format = match &self.format {
            ListFormat::Whole(format) => format,
            ListFormat::Lines(_) => &FORMATS[0],
        };
        let style = self.plain.style(format, call);
        ls::run(&context, style, &wanted, call.out, call.err)
    }
}

impl Ls {
    fn wanted(&self, clock: Clock) -> ListOptions {
        let format = match &self.format {
            ListFormat::Lines(format) => Some(format.clone()),
            ListFormat::Whole(_) => None,
        };
        let has_cost = format.as_ref().is_some_and(LineFormat::has_cost);
        let has_totals = self.totals || self.sessions || self.by.is_some();
        let needs_totals = has_cost || matches!(self.sort, Sort::Usage | Sort::Cost);
        ListOptions {
            sums: if self.by.is_some_and(|by| by.of_calls().is_some()) {
                Sums::Findings
            } else if has_totals || needs_totals {
                Sums::Totals
            } else {
                Sums::None
            },
            depth: format.as_ref().map(LineFormat::depth).unwrap_or_default(),
            by: self.by,
            since: self.since.map(|since| since.moment(&clock)),
            zone: Some(clock.zone),
            project: self.project.clone(),
            model: self.model.clone(),
            part: if has_totals && !self.sessions && !needs_totals {
                Part::Totals
            } else {
                Part::Sessions
            },
            rows: if self.all { Rows::All } else { Rows::Usual },
            limit: self.limit,
            sort: self.sort,
            format,
        }
    }
}
