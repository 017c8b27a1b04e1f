//! Chooses the sessions of a list and their order, and the responses that its totals count.

use super::format::LineFormat;
use super::{Depth, Part, Sums};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use model::cost::spending::Spending;
use model::due::prompt_cache::CacheState;
use model::lists::gauge::SessionGauge;
use model::lists::sessions::{Candidate, Families, Row, SessionKey, Sessions, contains};
use model::values::project::is_named;
use model::why::UseKind;
use render::clock::Clock;
use std::cmp::Reverse;
use std::collections::HashMap;
use strum::{EnumIter, EnumMessage, IntoStaticStr};

/// The user's choices for a list.
#[derive(Debug, Clone, Default)]
pub struct ListOptions {
    /// The totals at the end of the list.
    pub sums: Sums,
    /// The part of each log that is read for its row.
    pub depth: Depth,
    /// The property by which the totals are divided; `None`: they are not.
    pub by: Option<DivideBy>,
    /// The clock by which days begin; `None`: UTC.
    pub zone: Option<TimeZone>,
    /// Only sessions that were active since then, and responses of since then.
    pub since: Option<Timestamp>,
    /// Only sessions with this in the name of their project; with a separator, in the path of its folder.
    pub project: Option<String>,
    /// Only sessions with this in the name of their newest model, and responses of such models.
    pub model: Option<String>,
    /// The part of the list that people are shown.
    pub part: Part,
    /// The sessions that have a row.
    pub rows: Rows,
    /// At most this many sessions.
    pub limit: Option<usize>,
    /// Their order.
    pub sort: Sort,
    /// The format of a line for each session; `None`: a table.
    pub format: Option<LineFormat>,
}

/// The sessions that have a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rows {
    /// All but those that an agent started to write the summary of a compaction: they are a part of it.
    #[default]
    Usual,
    /// All.
    All,
}

/// A property by which totals are divided. The program's help shows the docs of the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumIter, EnumMessage, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum DivideBy {
    /// The day of a response.
    Day,
    /// Its week, named by its Monday.
    Week,
    /// Its project.
    Project,
    /// The model that answered.
    Model,
    /// The agent.
    Agent,
    /// The tool that was called: counts calls, not responses.
    Tool,
    /// The program that a shell ran: counts calls.
    Command,
    /// The MCP server that was called: counts calls.
    Server,
    /// The skill that was called: counts calls.
    Skill,
}

/// The property by which totals are divided, with the time zone of days.
#[derive(Debug, Clone)]
pub struct Division {
    /// The property by which they are divided.
    pub by: DivideBy,
    /// The clock by which days begin.
    pub zone: TimeZone,
}

impl Division {
    /// Returns the name of the time zone of days and weeks; `None`: they are divided by something else.
    pub fn clock(&self) -> Option<&str> {
        let is_time = matches!(self.by, DivideBy::Day | DivideBy::Week);
        let name = if self.zone.is_unknown() {
            "UTC"
        } else {
            self.zone.iana_name().unwrap_or("local time")
        };
        is_time.then_some(name)
    }
}

/// The order of sessions. What is said of each is shown in the program's help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumIter, EnumMessage, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Sort {
    /// Newest first, sub-agents below their sessions.
    #[default]
    Recent,
    /// The largest context first.
    Context,
    /// Nearest to its trigger first.
    Trigger,
    /// The prompt that is next to leave the provider's cache first; those that are not in it last.
    Cache,
    /// Most tokens used first; implies --totals.
    Usage,
    /// Most expensive first; implies --totals.
    Cost,
}

impl DivideBy {
    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns what groups calls; `None`: it divides responses.
    pub fn of_calls(self) -> Option<UseKind> {
        match self {
            DivideBy::Tool => Some(UseKind::Tool),
            DivideBy::Command => Some(UseKind::Command),
            DivideBy::Server => Some(UseKind::Server),
            DivideBy::Skill => Some(UseKind::Skill),
            _ => None,
        }
    }
}

impl ListOptions {
    /// Returns the property by which the totals are divided, with the time zone of days.
    pub(super) fn division(&self) -> Option<Division> {
        Some(Division {
            by: self.by.filter(|by| by.of_calls().is_none())?,
            zone: self.zone.clone().unwrap_or(TimeZone::UTC),
        })
    }

    /// Returns true if a session of the project in this folder is wanted.
    pub(super) fn has_project(&self, folder: &str) -> bool {
        let wanted = self.project.as_deref();
        wanted.is_none_or(|wanted| is_named(folder, wanted))
    }

    /// Returns true if a response is wanted, by its time and model.
    pub(super) fn has_response(&self, at: Option<Timestamp>, model: Option<&str>) -> bool {
        self.since.is_none_or(|since| at >= Some(since))
            && is_part(self.model.as_deref(), model.unwrap_or_default())
    }

    /// Describes that no session is wanted, although there are some.
    pub(crate) fn no_match(&self, clock: &Clock) -> String {
        match self.since.map(|since| clock.time(since)) {
            Some(since) => format!("no matching session was active since {since}"),
            None => "no session matches".to_owned(),
        }
    }

    fn has_session(&self, sessions: &Sessions, of: &Candidate<'_>) -> bool {
        let gauge = of.gauge;
        let is_listed = || self.rows == Rows::All || !sessions.is_compaction_run(gauge);
        self.since.is_none_or(|since| of.active >= Some(since))
            && self.has_project(sessions.folder_of(gauge))
            && is_listed()
            && is_part(self.model.as_deref(), gauge.model().unwrap_or_default())
    }

    /// Returns all sessions that are wanted, in their order at this time.
    pub(crate) fn rows(
        &self,
        sessions: &Sessions,
        spending: &HashMap<SessionKey, Spending>,
        now: Timestamp,
    ) -> Vec<Row> {
        let families = match self.sort {
            Sort::Recent => Families::ByFirst,
            _ => Families::Apart,
        };
        let rank = |key: SessionKey, gauge: &SessionGauge| {
            let of = spending.get(&key).copied().unwrap_or_default();
            match self.sort {
                Sort::Recent => 0,
                Sort::Context => gauge.context.used,
                Sort::Trigger => gauge.context.fill(gauge.limits()),
                Sort::Cache => match gauge.prompt_cache().map(|cache| cache.state(now)) {
                    Some(CacheState::Warm(until)) => {
                        u64::MAX - u64::try_from(until.as_second()).unwrap_or(0)
                    }
                    _ => 0,
                },
                Sort::Usage => of.spent.all(),
                Sort::Cost => (of.usd() * 1e6) as u64,
            }
        };
        sessions.rows(
            |of| self.has_session(sessions, of),
            |of| {
                let rank = Reverse(rank(of.key, of.gauge));
                (rank, Reverse(of.active), of.key)
            },
            families,
        )
    }
}

/// Returns true if a name contains what is wanted, in any case.
pub(crate) fn is_part(wanted: Option<&str>, name: &str) -> bool {
    wanted.is_none_or(|wanted| contains(name, &wanted.to_lowercase()))
}
