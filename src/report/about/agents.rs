//! The agents: where their logs are, which numbers are known, when they compact.

mod document;
mod rule;
mod settings;

use crate::ls::{self, ListOptions};
use crate::output::json::document;
use crate::{Document, Output, ReportContext, Style};
use anyhow::Result;
use formats::facts::{moved_by, places};
use formats::{Facts, Format};
use ingest::discover::roots::SearchRoot;
use jiff::Timestamp;
use model::lists::gauge::SessionGauge;
use model::lists::sessions::{SessionKey, Sessions};
use render::number::tokens;
use render::text::{one_line, short_model};
pub use rule::trigger_rule;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::Write;

/// One agent.
#[derive(Serialize)]
pub struct Agent {
    /// Its id.
    pub id: &'static str,
    /// The folders of its logs.
    pub roots: Vec<Root>,
    /// The folders as people write them, whether they exist or not.
    #[serde(skip)]
    pub places: Vec<String>,
    /// The variables and settings that move them.
    pub moved_by: Vec<String>,
    /// The number of sessions that `ctxgauge ls` lists.
    pub sessions: usize,
    /// The last activity of the newest of them; `None`: there is none, or its log has no times.
    pub newest: Option<Timestamp>,
    /// The rules by which it compacts, the usual one first.
    pub compacts_at: String,
    /// The rule that holds for its newest session here; `None`: it has none, or nothing is known.
    pub compacts_here: Option<String>,
    /// The files and variables that its windows and triggers are read from.
    pub settings: Vec<String>,
    /// The kind of logs that its decoder was tried with.
    pub tier: &'static str,
    /// The newest version whose logs were compared with known counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proven: Option<String>,
    /// The facts about its logs.
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
    /// True if it exists.
    pub exists: bool,
    /// The number of sessions that were found in it.
    pub sessions: usize,
}

/// A place that is polled when its logs are followed.
#[derive(Serialize)]
pub struct PolledPlace {
    /// Its path.
    pub path: String,
    /// The path with `~` for the home folder.
    #[serde(skip)]
    pub short: String,
    /// The reason: the name of its file system, or the user's configuration.
    pub because: &'static str,
}

/// All agents.
#[derive(Serialize)]
struct Agents {
    agents: Vec<Agent>,
    polled: Vec<PolledPlace>,
}

impl Output for Agents {
    fn document(&self) -> Option<Document> {
        Some(document::document(self))
    }

    fn json(&self, out: &mut dyn Write) -> Result<()> {
        document(out, "ctxgauge.agents/1", self)
    }
}

/// Lists the agents: those with sessions first, the most recently active on top; then those with a folder;
/// then the others. If the user names one, only that.
///
/// # Errors
///
/// If `out` cannot be written to.
pub fn run(context: &ReportContext, style: Style, out: &mut dyn Write) -> Result<()> {
    let wanted = ListOptions::default();
    let sessions = ls::read(context, &wanted).sessions;
    let rows = wanted.rows(&sessions, &HashMap::new(), context.clock().now);
    let listed: Vec<SessionKey> = rows.iter().map(|row| row.key).collect();
    let is_wanted = |id: &str| context.forced.is_none_or(|forced| forced.id == id);
    let mut agents: Vec<Agent> = context
        .formats
        .iter()
        .filter(|format| is_wanted(format.id))
        .map(|format| Agent::new(format, context, &sessions, &listed))
        .collect();
    agents.sort_by_key(|agent| {
        let is_absent = (agent.sessions == 0, !agent.is_installed());
        (is_absent, Reverse(agent.newest), agent.id)
    });
    let polled = polled(context);
    style.print(&Agents { agents, polled }, out)
}

/// Returns the places that are there and of which the system gives no notice, each once.
fn polled(context: &ReportContext) -> Vec<PolledPlace> {
    let mut places: Vec<PolledPlace> = Vec::new();
    let roots = context.roots.iter().filter(|root| root.system().is_here());
    for path in roots.map(SearchRoot::path).filter(|path| path.exists()) {
        let by_user = context.poll.then_some("the configuration");
        let Some(because) = files::remote_file_system(path).or(by_user) else {
            continue;
        };
        let path_text = path.display().to_string();
        if places.iter().all(|known| known.path != path_text) {
            places.push(PolledPlace {
                path: path_text,
                short: context.user.folders.display(path),
                because,
            });
        }
    }
    places
}

/// Returns the size at which a session compacts, and the rule that says so.
fn compacts_here(gauge: &SessionGauge) -> Option<String> {
    let limits = gauge.limits();
    let rule = match limits.trigger {
        Some(trigger) => format!("{} ({})", tokens(trigger), limits.policy),
        None => limits.no_trigger()?,
    };
    let of = gauge
        .model()
        .map(|model| format!(" ({})", one_line(short_model(model))));
    let of = of.unwrap_or_default();
    // It follows "compacts at".
    let rule = rule.strip_prefix("compacts ").unwrap_or(&rule);
    Some(format!("{rule}, for the newest session{of}"))
}

impl Agent {
    /// Returns true if it has sessions, or a folder for them.
    pub fn is_installed(&self) -> bool {
        self.sessions > 0 || self.roots.iter().any(|root| root.exists)
    }

    fn new(
        format: &'static Format,
        context: &ReportContext,
        sessions: &Sessions,
        listed: &[SessionKey],
    ) -> Agent {
        let of = |key: &&SessionKey| sessions.facts(**key);
        let is_its = |key: &&SessionKey| of(key).is_some_and(|facts| facts.agent == format.id);
        let its: Vec<&SessionKey> = listed.iter().filter(is_its).collect();
        let roots = context.roots.iter().filter_map(|root| {
            root.agent().filter(|agent| agent.id == format.id)?;
            let path = root.path();
            let is_inside =
                |key: &&&SessionKey| of(key).is_some_and(|facts| facts.path.starts_with(path));
            Some(Root {
                path: path.display().to_string(),
                short: context.user.folders.display(path),
                exists: path.exists(),
                sessions: its.iter().filter(is_inside).count(),
            })
        });
        let proven = context.rules.proven(format.id);
        let active = |key: &SessionKey| sessions.activity_of(*key);
        let newest = its.iter().copied().max_by_key(|key| active(key));
        let gauge = newest.and_then(|key| sessions.gauge(*key));
        Agent {
            id: format.id,
            roots: roots.collect(),
            places: places(format),
            moved_by: moved_by(format),
            sessions: its.len(),
            newest: newest.and_then(active),
            compacts_at: trigger_rule(&context.rules, format.id),
            compacts_here: gauge.and_then(compacts_here),
            settings: settings::places(format),
            tier: proven.map_or(format.tier.name(), |_| "proven"),
            proven: proven.map(str::to_owned),
            facts: format.facts,
        }
    }
}
