//! The list of sessions: filtered, sorted, grouped, and the sums below it.

use super::tabs::row_id;
use super::{App, Direction, Grouping, Idle, Nearness, Sort, Summary};
use crate::model::fleet::{Row, SessionKey};
use crate::model::session::{Coverage, Session};
use std::cmp::Reverse;
use std::collections::HashSet;
use std::collections::hash_map::Entry;

/// How many sessions off screen are summed up before each frame: some milliseconds for the largest.
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
    /// How many sessions, sub-agents included.
    pub sessions: usize,
    /// How many of them are live.
    pub live: usize,
}

/// A line's identity, across changes of the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineId {
    /// A group.
    Group(u64),
    /// A session.
    Session(SessionKey),
}

/// The sums of the listed sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Tokens in their contexts that were reported.
    pub known: u64,
    /// Tokens in them that are estimated.
    pub estimated: u64,
    /// How many are near their trigger.
    pub near: usize,
    /// How many are not summed up yet.
    pub missing: usize,
}

impl App {
    /// Makes the list.
    pub(super) fn list_sessions(&mut self) {
        if matches!(self.ui.sort.sort, Sort::Lowest(_) | Sort::Highest(_)) {
            for (key, session) in self.fleet.sessions() {
                let summaries = &mut self.shown.summaries;
                summaries.entry(key).or_insert_with(|| Summary::of(session));
            }
        }
        let words = self.ui.filter.split_whitespace();
        let words: Vec<String> = words.map(str::to_lowercase).collect();
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

    /// What a session is sorted by; the lowest comes first. Live sessions are sorted by their start, so that
    /// they do not change places with every record.
    fn rank<'s>(&'s self, key: SessionKey, session: &'s Session) -> Rank<'s> {
        let active = self.fleet.activity_of(key, session);
        let of = |n: fn(&Summary, &Session) -> u64| {
            let summary = self.shown.summaries.get(&key);
            summary.map(|summary| n(summary, session))
        };
        let (number, name) = match self.ui.sort.sort {
            Sort::Recent => {
                let live = self.is_live(key);
                let since = if live { session.started_at } else { active };
                return (u64::from(!live), "", Reverse(since), key);
            }
            Sort::Name(name) => (0, name(session)),
            Sort::Lowest(n) => (of(n).unwrap_or(u64::MAX), ""),
            Sort::Highest(n) => (u64::MAX - of(n).unwrap_or(0), ""),
        };
        (number, name, Reverse(active), key)
    }

    /// The rows below the headings of their groups, in the order of each group's first session.
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
                let known = groups.iter().position(|(group, _)| group.name == name);
                at = known.unwrap_or(groups.len());
                if known.is_none() {
                    groups.push((Group::new(self.ui.grouping, name), Vec::new()));
                }
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

    /// Sums up the listed sessions, those off screen a few at a time.
    pub(super) fn add_up(&mut self) {
        let keys: HashSet<SessionKey> = self.sessions_listed().map(|row| row.key).collect();
        let mut totals = Totals::default();
        let mut budget = SUMMED_PER_FRAME;
        for (key, session) in self.fleet.sessions() {
            // Sessions in folded groups count too.
            if session.coverage == Coverage::Unread
                || self.ui.grouping == Grouping::None && !keys.contains(&key)
            {
                continue;
            }
            let summary = match self.shown.summaries.entry(key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(_) if budget == 0 => {
                    totals.missing += 1;
                    continue;
                }
                Entry::Vacant(place) => {
                    budget -= 1;
                    place.insert(Summary::of(session))
                }
            };
            totals.known = totals.known.saturating_add(summary.context.known);
            totals.estimated = totals.estimated.saturating_add(summary.context.estimated);
            totals.near += usize::from(summary.nearness() != Nearness::Calm);
        }
        self.shown.totals = totals;
    }

    /// The listed sessions, from the top.
    fn sessions_listed(&self) -> impl Iterator<Item = &Row> {
        self.shown.lines.iter().filter_map(Listed::session)
    }

    /// Selects the session with the newest record.
    pub(super) fn select_newest(&mut self) {
        let lines = self.shown.lines.iter().enumerate();
        let newest = lines
            .filter_map(|(at, line)| Some((self.fleet.newest_record(line.session()?.key)?, at)));
        if let Some((_, at)) = newest.max() {
            self.ui.sessions.select(&self.shown.line_ids, at);
        }
    }

    /// Folds or unfolds a group.
    pub(super) fn fold(&mut self, group: u64) {
        if !self.ui.folded.remove(&group) {
            self.ui.folded.insert(group);
        }
        self.stale();
    }

    /// The lines on screen, from the top.
    pub fn visible_lines(&self) -> impl Iterator<Item = &Listed> {
        let count = usize::from(self.overview_layout().list.height);
        let from = self.ui.sessions.offset();
        self.shown.lines.iter().skip(from).take(count)
    }

    /// All lines, groups' headings included.
    pub fn lines(&self) -> &[Listed] {
        &self.shown.lines
    }

    /// Whether a line is the selected one.
    pub fn is_selected(&self, line: &Listed) -> bool {
        self.selected_line().map(Listed::id) == Some(line.id())
    }

    /// The number of sessions that match the filter.
    pub fn matching(&self) -> usize {
        self.shown.matching
    }

    /// The sums of the listed sessions.
    pub fn totals(&self) -> Totals {
        self.shown.totals
    }
}

/// A number, a name, the newest first, and the key to make the order total.
type Rank<'s> = (u64, &'s str, Reverse<Option<jiff::Timestamp>>, SessionKey);

impl Listed {
    fn id(&self) -> LineId {
        match self {
            Listed::Group(group) => LineId::Group(group.id),
            Listed::Session(row) => LineId::Session(row.key),
        }
    }

    /// The session; `None`: the line is a heading.
    pub fn session(&self) -> Option<&Row> {
        match self {
            Listed::Session(row) => Some(row),
            Listed::Group(_) => None,
        }
    }
}

impl Group {
    fn new(grouping: Grouping, name: String) -> Group {
        Group {
            id: row_id((grouping.name(), &name)),
            name,
            sessions: 0,
            live: 0,
        }
    }
}
