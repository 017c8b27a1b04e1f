//! The order of sessions: each below its parent.

use super::{SessionKey, Sessions};
use crate::event::Conversation;
use crate::lists::gauge::SessionGauge;
use jiff::Timestamp;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// The data that decides the place of a session among others at its level.
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
    /// The data that a list shows of it.
    pub gauge: &'s SessionGauge,
    /// The time at which it was last active: [`Sessions::activity_of`].
    pub active: Option<Timestamp>,
}

impl<'s> Candidate<'s> {
    /// Returns the id of the session that started it.
    fn parent(&self) -> Option<&'s str> {
        self.gauge.meta.parent.as_deref()
    }
}

/// One line of the list of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The session.
    pub key: SessionKey,
    /// 0 for a session of its own, 1 for a sub-agent below its parent.
    pub depth: u8,
}

impl Sessions {
    /// Returns all sessions, the newest first, sub-agents below their parents.
    pub fn recent(&self) -> Vec<Row> {
        self.rows(
            |_| true,
            |candidate| (Reverse(candidate.active), candidate.key),
            Families::ByFirst,
        )
    }

    /// Returns the listed sessions in order, the smallest rank first, sub-agents below their parents, also in order,
    /// unless families are apart. Each rank is computed once.
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
        if families == Families::Apart || found.iter().all(|found| found.parent().is_none()) {
            let rows = found.into_iter().map(|found| Row {
                key: found.key,
                depth: 0,
            });
            return rows.collect();
        }
        let parents = parents(&found);
        let mut order: Vec<usize> = (0..found.len()).collect();
        if families == Families::ByFirst {
            let places = first_places(&parents);
            order.sort_by_key(|at| places[*at]);
        }
        // By parent, the last first. A sub-agent whose parents are not listed has none.
        let mut below: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut open = Vec::new();
        for at in order.iter().rev().copied() {
            match parents[at] {
                Some(parent) => below.entry(parent).or_default().push(at),
                None => open.push((at, 0)),
            }
        }
        let mut rows = Vec::with_capacity(found.len());
        let mut is_left = vec![true; found.len()];
        while let Some((at, depth)) = open.pop() {
            is_left[at] = false;
            rows.push(Row {
                key: found[at].key,
                depth,
            });
            let children = below.remove(&at).unwrap_or_default().into_iter();
            open.extend(children.map(|child| (child, depth.saturating_add(1))));
        }
        // Sessions that name each other as parents are below none: they are listed by themselves.
        let left = order.into_iter().filter(|at| is_left[*at]);
        rows.extend(left.map(|at| Row {
            key: found[at].key,
            depth: 0,
        }));
        rows
    }
}

impl Sessions {
    /// Returns true if lists leave a session out: nothing was said or requested in its log, and another log of the
    /// agent has the same id.
    pub fn is_remnant(&self, key: SessionKey) -> bool {
        let Some(gauge) = self.gauge(key) else {
            return false;
        };
        let is_same = |other: &SessionGauge| {
            other.agent == gauge.agent && other.meta.id == gauge.meta.id && other.has_begun()
        };
        is_empty(key, gauge) && self.gauges().any(|(_, other)| is_same(other))
    }
}

/// Returns true if nothing was said or requested in a session that has a log of its own.
fn is_empty(key: SessionKey, gauge: &SessionGauge) -> bool {
    key.conversation == Conversation::Main && gauge.meta.id.is_some() && !gauge.has_begun()
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

/// Returns the place of each session's parent. Few sessions have one, so few ids are looked up.
fn parents(found: &[Candidate<'_>]) -> Vec<Option<usize>> {
    let wanted: HashSet<&str> = found.iter().filter_map(Candidate::parent).collect();
    let by_id: HashMap<&str, usize> = found
        .iter()
        .enumerate()
        .filter(|(_, found)| found.key.conversation == Conversation::Main)
        .filter_map(|(at, found)| Some((found.gauge.meta.id.as_deref()?, at)))
        .filter(|(id, _)| wanted.contains(id))
        .collect();
    let parent = |(at, child): (usize, &Candidate<'_>)| {
        let parent = child.parent().and_then(|id| by_id.get(id));
        parent.copied().filter(|parent| *parent != at)
    };
    found.iter().enumerate().map(parent).collect()
}

/// Returns for each session in order the place of the first one among it and its sub-agents, theirs included.
fn first_places(parents: &[Option<usize>]) -> Vec<usize> {
    let mut first: Vec<usize> = (0..parents.len()).collect();
    for at in 0..parents.len() {
        let mut above = parents[at];
        // An ancestor that has an earlier one has told its own ancestors.
        while let Some(ancestor) = above.filter(|ancestor| first[*ancestor] > at) {
            first[ancestor] = at;
            above = parents[ancestor];
        }
    }
    first
}
