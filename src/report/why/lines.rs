//! Findings of the same kind about the same thing, in all sessions of an agent.

use super::{Found, Projects};
use model::lists::sessions::SessionKey;
use model::why::{Finding, FindingDetail, FindingKind, by_cost, hardly_used};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// A finding over several sessions.
pub(super) struct Line {
    /// The agent's id.
    pub(super) agent: &'static str,
    /// The folder of the project that it is about; `None`: it is about all.
    pub(super) folder: Option<String>,
    /// The finding in all of the sessions. Its places are those in the session to open.
    pub(super) finding: Finding,
    /// The number of sessions.
    pub(super) sessions: u64,
    /// The session that it took most of.
    pub(super) open: SessionKey,
    /// The dollars and tokens that it took of that session.
    most: (f64, u64),
}

/// The findings of one line have these in common: the kind, the agent, the subject.
type Group = (FindingKind, &'static str, Box<str>);

/// Returns the findings of these sessions, the dearest first.
pub(super) fn lines(all: &[Found<'_>], projects: &Projects<'_>) -> Vec<Line> {
    let mut groups: BTreeMap<Group, Line> = BTreeMap::new();
    for of in all {
        for finding in &of.findings.findings {
            let agent = of.gauge.agent;
            match groups.entry((finding.kind, agent, finding.about.clone())) {
                Entry::Occupied(line) => line.into_mut().add(of.key, finding),
                Entry::Vacant(place) => _ = place.insert(Line::new(agent, of.key, finding.clone())),
            }
        }
    }
    let mut lines: Vec<Line> = groups.into_values().collect();
    for ((agent, folder), sessions) in projects {
        let listed = hardly_used(sessions.iter().map(|of| of.findings));
        lines.extend(listed.into_iter().map(|finding| Line {
            folder: Some((*folder).to_owned()),
            sessions: finding.count,
            ..Line::new(agent, sessions[0].key, finding)
        }));
    }
    lines.sort_by(|a, b| by_cost(&a.finding, &b.finding));
    lines
}

impl Line {
    fn new(agent: &'static str, key: SessionKey, finding: Finding) -> Line {
        Line {
            agent,
            folder: None,
            sessions: 1,
            open: key,
            most: finding.rank(),
            finding,
        }
    }

    /// Adds what another session has of the same.
    fn add(&mut self, key: SessionKey, of: &Finding) {
        let sum = &mut self.finding;
        self.sessions += 1;
        sum.count = sum.count.saturating_add(of.count);
        sum.tokens = sum.tokens.saturating_add(of.tokens);
        sum.usd = sum.usd.zip(of.usd).map(|(sum, of)| sum + of);
        let ranges = sum.range.zip(of.range);
        sum.range = ranges.map(|((low, high), of)| (low + of.0, high + of.1));
        if let (FindingDetail::Window(sum), FindingDetail::Window(of)) =
            (&mut sum.detail, &of.detail)
        {
            sum.was = sum.was.saturating_add(of.was);
            sum.prompts = sum.prompts.saturating_add(of.prompts);
            sum.compactions_were = sum.compactions_were.saturating_add(of.compactions_were);
            sum.compactions = sum.compactions.saturating_add(of.compactions);
        }
        if of.rank() > self.most {
            (self.open, self.most) = (key, of.rank());
            sum.places.clone_from(&of.places);
        }
    }
}
