//! Measurements in projects, once a finding was acted on.

use model::event::Conversation;
use model::lists::sessions::{SessionKey, Sessions};
use model::why::{Measured, SessionFindings, measured};
use std::collections::{BTreeMap, HashMap};

/// A measurement in a project.
pub(super) struct ProjectMeasured {
    /// The agent's id.
    pub(super) agent: &'static str,
    /// The folder of the project.
    pub(super) folder: String,
    pub(super) of: Measured,
}

/// Returns what was measured in the projects of these sessions. Sub-agents have lists of their own, so they are left out.
pub(super) fn all(
    sessions: &Sessions,
    keys: &[SessionKey],
    findings: &HashMap<SessionKey, SessionFindings>,
) -> Vec<ProjectMeasured> {
    let mut projects: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for key in keys
        .iter()
        .filter(|key| key.conversation == Conversation::Main)
    {
        let (Some(found), Some(gauge)) = (findings.get(key), sessions.gauge(*key)) else {
            continue;
        };
        let summary = gauge.summary();
        if let (Some(began), None) = (summary.started_at, &summary.meta.parent) {
            let project = (gauge.agent, gauge.folder().to_owned());
            projects.entry(project).or_default().push((began, found));
        }
    }
    let projects = projects.into_iter();
    let all = projects.flat_map(|((agent, folder), sessions)| {
        measured(sessions)
            .into_iter()
            .map(move |of| ProjectMeasured {
                agent,
                folder: folder.clone(),
                of,
            })
    });
    all.collect()
}
