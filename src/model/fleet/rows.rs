//! The order of sessions: each below its parent.

use super::{Fleet, SessionKey};
use crate::event::Lane;
use crate::gauge::Gauge;
use jiff::Timestamp;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What decides the place of a session among others at its level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Families {
    /// Its own rank.
    ByParent,
    /// The first rank among its own and its sub-agents': none of them is below a session with a later one.
    ByFirst,
    /// Its own rank, and it has a place of its own: no family stays together.
    Apart,
}

/// A session that can be listed.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'s> {
    /// Its key.
    pub key: SessionKey,
    /// What lists show of it.
    pub gauge: &'s Gauge,
    /// When it was last active: [`Fleet::activity_of`].
    pub active: Option<Timestamp>,
}

/// One line of the list of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The session.
    pub key: SessionKey,
    /// 0 for a session of its own, 1 for a sub-agent below its parent.
    pub depth: u8,
}

impl Fleet {
    /// All sessions, the newest first, sub-agents below their parents.
    pub fn recent(&self) -> Vec<Row> {
        self.rows(
            |_| true,
            |candidate| (Reverse(candidate.active), candidate.key),
            Families::ByFirst,
        )
    }

    /// The listed sessions in order, the smallest rank first, sub-agents below their parents, also in order, unless
    /// families are apart. Each rank is computed once.
    pub fn rows<'s, R: Ord>(
        &'s self,
        listed: impl Fn(&Candidate<'s>) -> bool,
        rank: impl Fn(&Candidate<'s>) -> R,
        families: Families,
    ) -> Vec<Row> {
        let all = self.sessions.iter().map(|(key, listed)| Candidate {
            key: *key,
            gauge: listed.gauge(),
            active: listed.active,
        });
        let mut found: Vec<Candidate<'s>> = all.filter(listed).collect();
        leave_out_remnants(&mut found);
        found.sort_by_cached_key(rank);

        // Most sessions have no parent, and most lists no child.
        let has_parent = |candidate: &Candidate<'_>| candidate.gauge.meta.parent.is_some();
        if families == Families::Apart || !found.iter().any(has_parent) {
            let rows = found.into_iter().map(|found| Row {
                key: found.key,
                depth: 0,
            });
            return rows.collect();
        }
        let by_id: HashMap<&str, SessionKey> = found
            .iter()
            .filter(|found| found.key.lane == Lane::Main)
            .filter_map(|found| Some((found.gauge.meta.id.as_deref()?, found.key)))
            .collect();
        let parent_of = |key: SessionKey, gauge: &Gauge| {
            let named = gauge.meta.parent.as_deref().and_then(|id| by_id.get(id));
            named.copied().filter(|parent| *parent != key)
        };
        if families == Families::ByFirst {
            let places = first_places(&found, parent_of);
            let mut placed: Vec<_> = places.into_iter().zip(found).collect();
            placed.sort_by_key(|(place, _)| *place);
            found = placed.into_iter().map(|(_, found)| found).collect();
        }
        // By parent, the last first. A sub-agent whose parents are not listed has none.
        let mut below: HashMap<SessionKey, Vec<SessionKey>> = HashMap::new();
        let mut open = Vec::new();
        for Candidate { key, gauge, .. } in found.iter().rev().copied() {
            match parent_of(key, gauge) {
                Some(parent) => below.entry(parent).or_default().push(key),
                None => open.push(Row { key, depth: 0 }),
            }
        }
        let mut rows = Vec::with_capacity(found.len());
        while let Some(row) = open.pop() {
            rows.push(row);
            let depth = row.depth.saturating_add(1);
            let children = below.remove(&row.key).unwrap_or_default().into_iter();
            open.extend(children.map(|key| Row { key, depth }));
        }
        // Sessions that name each other as parents are below none: they are listed by themselves.
        if rows.len() < found.len() {
            let placed: BTreeSet<SessionKey> = rows.iter().map(|row| row.key).collect();
            let left = found
                .iter()
                .map(|found| found.key)
                .filter(|key| !placed.contains(key));
            rows.extend(left.map(|key| Row { key, depth: 0 }));
        }
        rows
    }
}

impl Fleet {
    /// Whether lists leave a session out: nothing was said or requested in its log, and another log of the agent has
    /// the same id.
    pub fn is_remnant(&self, key: SessionKey) -> bool {
        let Some(gauge) = self.gauge(key) else {
            return false;
        };
        let is_same = |other: &Gauge| {
            other.agent == gauge.agent && other.meta.id == gauge.meta.id && other.has_begun()
        };
        is_empty(key, gauge) && self.gauges().any(|(_, other)| is_same(other))
    }
}

/// Whether nothing was said or requested in a log of its own.
fn is_empty(key: SessionKey, gauge: &Gauge) -> bool {
    key.lane == Lane::Main && gauge.meta.id.is_some() && !gauge.has_begun()
}

/// Leaves out logs in which nothing was said or requested, where another log of the agent has the same id: what a
/// client writes when it resumes a session before it goes on in the log that there is.
fn leave_out_remnants<'s>(found: &mut Vec<Candidate<'s>>) {
    let is_empty = |found: &Candidate<'_>| is_empty(found.key, found.gauge);
    if !found.iter().any(is_empty) {
        return;
    }
    let session_of = |found: &Candidate<'s>| (found.gauge.agent, found.gauge.meta.id.as_deref());
    let begun: HashSet<(&str, Option<&str>)> = found
        .iter()
        .filter(|found| found.gauge.has_begun())
        .map(session_of)
        .collect();
    found.retain(|found| !is_empty(found) || !begun.contains(&session_of(found)));
}

/// For each session in order, the place of the first one among it and its sub-agents, theirs included.
fn first_places(
    found: &[Candidate<'_>],
    parent_of: impl Fn(SessionKey, &Gauge) -> Option<SessionKey>,
) -> Vec<usize> {
    let places = found.iter().enumerate().map(|(at, found)| (found.key, at));
    let places: HashMap<SessionKey, usize> = places.collect();
    let parent = |at: usize| {
        let child: &Candidate<'_> = &found[at];
        places.get(&parent_of(child.key, child.gauge)?).copied()
    };
    let mut first: Vec<usize> = (0..found.len()).collect();
    for at in 0..found.len() {
        let mut above = parent(at);
        // An ancestor that has an earlier one has told its own ancestors.
        while let Some(ancestor) = above.filter(|ancestor| first[*ancestor] > at) {
            first[ancestor] = at;
            above = parent(ancestor);
        }
    }
    first
}
