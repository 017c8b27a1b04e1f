//! The list of sessions, in the order and the groups that are set, and the sums below it.

use super::{App, Brief, Column, Direction, Grouping, Idle, Nearness, seconds_since};
use crate::model::fleet::{Row, SessionKey};
use crate::model::session::{Coverage, Session};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::collections::hash_map::Entry;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How many sessions nobody looks at are worked out for the sums before each frame: some milliseconds
/// for the largest.
const SUMMED_PER_FRAME: usize = 48;

/// One line of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listed {
    /// A group's heading.
    Group(Group),
    /// A session.
    Session(Row),
}

/// A group of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its identity.
    pub id: u64,
    /// The project's or the agent's name.
    pub name: String,
    /// Its sessions, sub-agents included.
    pub sessions: usize,
    /// Those that show signs of life.
    pub live: usize,
}

/// A line's identity, whatever the order is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineId {
    /// A group.
    Group(u64),
    /// A session.
    Session(SessionKey),
}

/// What the listed sessions hold together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Tokens in their contexts that were reported.
    pub known: u64,
    /// Tokens in them that are only counted here.
    pub estimated: u64,
    /// How many are near their trigger.
    pub near: usize,
    /// How many were not worked out yet.
    pub missing: usize,
}

impl App {
    /// Lists the sessions anew.
    pub(super) fn list_sessions(&mut self) {
        if matches!(
            self.ui.sort,
            Column::Headroom
                | Column::Context
                | Column::Next
                | Column::Known
                | Column::Estimated
                | Column::Growth
        ) {
            for (key, session) in self.fleet.sessions() {
                let briefs = &mut self.shown.briefs;
                briefs.entry(key).or_insert_with(|| Brief::of(session));
            }
        }
        let words: Vec<String> = self
            .ui
            .filter
            .split_whitespace()
            .map(str::to_lowercase)
            .collect();
        let mut rows = self.fleet.rows(
            |key, session| {
                (self.ui.idle == Idle::Shown || self.is_live(key))
                    && self.fleet.matches(key, session, &words)
            },
            |key, session| self.rank(key, session),
        );
        if self.ui.direction == Direction::Reversed {
            let families = rows.chunk_by(|_, row| row.depth > 0);
            rows = families.rev().flatten().copied().collect();
        }
        self.shown.matching = rows.len();
        self.shown.lines = self.grouped(rows);
        self.shown.line_ids = self.shown.lines.iter().map(Listed::id).collect();
    }

    /// What a session is ordered by; what matters more comes first, then the newest. The live ones stand
    /// by when they began, so that they do not change places with every line they write.
    fn rank<'s>(&'s self, key: SessionKey, session: &'s Session) -> Rank<'s> {
        let active = self.fleet.activity_of(key, session);
        let of = |n: fn(&Brief, &Session) -> u64| {
            let brief = self.shown.briefs.get(&key);
            brief.map_or(u64::MAX, |brief| n(brief, session))
        };
        let most = |n: u64| u64::MAX - n;
        let (number, name) = match self.ui.sort {
            Column::Recent => {
                let live = active.is_some_and(|at| seconds_since(at, self.now) <= super::LIVE);
                let since = if live { session.started_at } else { active };
                return (u64::from(!live), "", Reverse(since), key);
            }
            Column::Headroom => (of(|brief, _| brief.left()), ""),
            Column::Context => {
                let share = of(|brief, _| {
                    let (used, window) = (brief.context.used, brief.limits.window.max(1));
                    u64::try_from(u128::from(used) * 1_000_000 / u128::from(window))
                        .unwrap_or(u64::MAX)
                });
                (most(share), "")
            }
            Column::Next => {
                let requests = of(|brief, session| match brief.forecast_then(session) {
                    Ok(forecast) => (forecast.requests.p50 * 10.0) as u64,
                    Err(_) => u64::MAX,
                });
                (requests, "")
            }
            Column::Known => (most(of(|brief, _| brief.context.known)), ""),
            Column::Estimated => (most(of(|brief, _| brief.context.estimated)), ""),
            Column::Growth => {
                let grown = of(|brief, _| {
                    let growth = brief.growth.iter();
                    growth.fold(0, |sum, grown| sum.saturating_add(*grown))
                });
                (most(grown), "")
            }
            Column::Agent => (0, session.agent),
            Column::Project => (0, session.project()),
            Column::Model => (0, session.model().unwrap_or("\u{10ffff}")),
        };
        (number, name, Reverse(active), key)
    }

    /// The rows below the headings of their groups; a group stands where its first session would.
    fn grouped(&self, rows: Vec<Row>) -> Vec<Listed> {
        if self.ui.grouping == Grouping::None {
            return rows.into_iter().map(Listed::Session).collect();
        }
        let mut groups: Vec<(Group, Vec<Row>)> = Vec::new();
        let mut at = 0;
        for row in rows {
            // Sub-agents stay below their parent.
            if row.depth == 0 {
                let name = self.group_of(row.key);
                at = groups
                    .iter()
                    .position(|(group, _)| group.name == name)
                    .unwrap_or_else(|| {
                        let id = id_of(self.ui.grouping, &name);
                        let (sessions, live) = (0, 0);
                        groups.push((
                            Group {
                                id,
                                name,
                                sessions,
                                live,
                            },
                            Vec::new(),
                        ));
                        groups.len() - 1
                    });
            }
            if let Some((group, rows)) = groups.get_mut(at) {
                group.sessions += 1;
                group.live += usize::from(self.is_live(row.key));
                rows.push(row);
            }
        }
        let mut lines = Vec::new();
        for (group, rows) in groups {
            let folded = self.ui.folded.contains(&group.id);
            lines.push(Listed::Group(group));
            if !folded {
                lines.extend(rows.into_iter().map(Listed::Session));
            }
        }
        lines
    }

    fn group_of(&self, key: SessionKey) -> String {
        match (self.ui.grouping, self.fleet.get(key)) {
            (Grouping::Agent, _) => {
                let facts = self.fleet.facts(key);
                facts.map_or("", |facts| facts.agent).to_owned()
            }
            (_, Some(session)) if !session.project().is_empty() => session.project().to_owned(),
            _ => "no project".to_owned(),
        }
    }

    /// Adds up what the listed sessions hold. Those that no one looked at are worked out a few at a time.
    pub(super) fn add_up(&mut self) {
        let keys: HashSet<SessionKey> = self.sessions_listed().map(|row| row.key).collect();
        let mut totals = Totals::default();
        let mut budget = SUMMED_PER_FRAME;
        for (key, session) in self.fleet.sessions() {
            // In a folded group is listed as well.
            if session.coverage == Coverage::Unread
                || self.ui.grouping == Grouping::None && !keys.contains(&key)
            {
                continue;
            }
            let brief = match self.shown.briefs.entry(key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(_) if budget == 0 => {
                    totals.missing += 1;
                    continue;
                }
                Entry::Vacant(place) => {
                    budget -= 1;
                    place.insert(Brief::of(session))
                }
            };
            totals.known = totals.known.saturating_add(brief.context.known);
            totals.estimated = totals.estimated.saturating_add(brief.context.estimated);
            totals.near += usize::from(brief.nearness() != Nearness::Calm);
        }
        self.shown.totals = totals;
    }

    /// The listed sessions, from the top.
    fn sessions_listed(&self) -> impl Iterator<Item = &Row> {
        self.shown.lines.iter().filter_map(|line| match line {
            Listed::Session(row) => Some(row),
            Listed::Group(_) => None,
        })
    }

    /// Selects the session that showed a sign of life last.
    pub(super) fn select_newest(&mut self) {
        let newest = self
            .shown
            .lines
            .iter()
            .enumerate()
            .filter_map(|(at, line)| match line {
                Listed::Session(row) => Some((self.fleet.newest_record(row.key)?, at)),
                Listed::Group(_) => None,
            });
        if let Some((_, at)) = newest.max() {
            self.ui.sessions.select(&self.shown.line_ids, at);
        }
    }

    /// Folds a group, or unfolds it.
    pub(super) fn fold(&mut self, group: u64) {
        if !self.ui.folded.remove(&group) {
            self.ui.folded.insert(group);
        }
        self.stale();
    }

    /// The lines of the list of sessions that are on screen, from the top.
    pub fn visible_lines(&self) -> impl Iterator<Item = &Listed> {
        let count = usize::from(self.overview_layout().list.count);
        let from = self.ui.sessions.offset();
        self.shown.lines.iter().skip(from).take(count)
    }

    /// The lines of the list, groups' headings included.
    pub fn lines(&self) -> &[Listed] {
        &self.shown.lines
    }

    /// Whether a line is the selected one.
    pub fn is_selected(&self, line: &Listed) -> bool {
        let selected = self.shown.line_ids.get(self.ui.sessions.index());
        selected == Some(&line.id())
    }

    /// The group whose heading is selected.
    pub fn selected_group(&self) -> Option<u64> {
        match self.shown.lines.get(self.ui.sessions.index())? {
            Listed::Group(group) => Some(group.id),
            Listed::Session(_) => None,
        }
    }

    /// The number of sessions that match the filter.
    pub fn matching(&self) -> usize {
        self.shown.matching
    }

    /// What the listed sessions hold together.
    pub fn totals(&self) -> Totals {
        self.shown.totals
    }
}

/// A number, a name, the newest first, and the key for an order that never wavers.
type Rank<'s> = (u64, &'s str, Reverse<Option<jiff::Timestamp>>, SessionKey);

impl Listed {
    fn id(&self) -> LineId {
        match self {
            Listed::Group(group) => LineId::Group(group.id),
            Listed::Session(row) => LineId::Session(row.key),
        }
    }
}

fn id_of(grouping: Grouping, name: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (grouping.name(), name).hash(&mut hasher);
    hasher.finish()
}
