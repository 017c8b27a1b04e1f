//! The agents: where their logs are, which numbers are known, when they compact.

use super::{Output, ReportContext, Style};
use crate::agents::facts::trigger_rule;
use crate::agents::{Facts, Format};
use crate::ingest::discover::Found;
use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;
use std::cmp::Reverse;
use std::io::Write;

/// One agent.
#[derive(Serialize)]
pub struct Agent {
    /// Its id.
    pub id: &'static str,
    /// The folders of its logs.
    pub roots: Vec<Root>,
    /// How many sessions were found.
    pub sessions: usize,
    /// When the newest was written to.
    pub newest: Option<Timestamp>,
    /// The rule by which it compacts.
    pub compacts_at: String,
    /// The newest version whose logs were compared with known counts; empty: none.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub proven: &'static str,
    /// What its logs contain.
    #[serde(flatten)]
    pub facts: Facts,
}

/// A folder of an agent's logs.
#[derive(Serialize)]
pub struct Root {
    /// Its path.
    pub path: String,
    /// The path with `~` for the home folder.
    #[serde(skip)]
    pub short: String,
    /// Whether it exists.
    pub exists: bool,
}

/// Lists the agents: those with sessions first, the most recently active on top.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn run(context: &ReportContext, style: Style, out: &mut dyn Write) -> Result<()> {
    let found = context.find();
    let formats = context.formats.iter();
    let mut agents: Vec<Agent> = formats
        .map(|format| Agent::new(format, context, &found))
        .collect();
    agents.sort_by_key(|agent| (agent.sessions == 0, Reverse(agent.newest), agent.id));
    style.print(Output::Agents(&agents), out)
}

impl Agent {
    fn new(format: &'static Format, context: &ReportContext, found: &Found) -> Agent {
        let roots = context.roots.iter().filter_map(|spot| {
            spot.agent().filter(|of| of.id == format.id)?;
            let path = spot.path();
            Some(Root {
                path: path.display().to_string(),
                short: context.folders.display(path),
                exists: path.exists(),
            })
        });
        let logs = found.files.iter();
        let logs = logs.filter(|log| log.facts.agent == format.id);
        Agent {
            id: format.id,
            roots: roots.collect(),
            sessions: logs.clone().count(),
            newest: logs.filter_map(|log| log.facts.modified).max(),
            compacts_at: trigger_rule(&context.rules, format.id),
            proven: format.proven,
            facts: format.facts,
        }
    }
}
