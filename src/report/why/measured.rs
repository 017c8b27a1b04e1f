//! Measurements in projects, once a finding was acted on.

use super::Projects;
use model::event::Conversation;
use model::why::{Measured, measured};

/// A measurement in a project.
pub(super) struct ProjectMeasured {
    /// The agent's id.
    pub(super) agent: &'static str,
    /// The folder of the project.
    pub(super) folder: String,
    pub(super) of: Measured,
}

/// Returns what was measured in these projects. Sub-agents have lists of their own, so they are left out.
pub(super) fn all(projects: &Projects<'_>) -> Vec<ProjectMeasured> {
    let all = projects.iter().flat_map(|((agent, folder), sessions)| {
        let main = sessions.iter().filter_map(|of| {
            let summary = of.gauge.summary();
            let is_main = of.key.conversation == Conversation::Main;
            let is_main = is_main && summary.meta.parent.is_none();
            Some((summary.started_at.filter(|_| is_main)?, of.findings))
        });
        let measured = measured(main.collect()).into_iter();
        measured.map(move |of| ProjectMeasured {
            agent,
            folder: (*folder).to_owned(),
            of,
        })
    });
    all.collect()
}
