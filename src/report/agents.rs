//! All agents: where their logs are, what is known of them and what is only estimated, when they
//! compact.

use super::text::clean;
use super::{Ground, Style};
use crate::agents::facts::trigger_rule;
use crate::agents::{Facts, Format};
use crate::ingest::discover::{Found, Scanner};
use crate::ingest::roots::SearchRoot;
use crate::paths;
use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;
use std::cmp::Reverse;
use std::io::{self, Write};
use std::path::Path;

/// The list: the schema `ctxgauge.agents/1`.
#[derive(Serialize)]
struct List<'a> {
    schema: &'static str,
    agents: &'a [Agent],
}

/// One agent.
#[derive(Serialize)]
struct Agent {
    id: &'static str,
    roots: Vec<RootPart>,
    sessions: usize,
    newest: Option<Timestamp>,
    compacts_at: String,
    #[serde(flatten)]
    facts: Facts,
}

/// A folder of an agent's logs.
#[derive(Serialize)]
struct RootPart {
    path: String,
    exists: bool,
}

/// Lists the formats that count: those with sessions first, the one that was written to last on top.
/// `told` writes a folder for people.
///
/// # Errors
///
/// Where `out` cannot be written to.
pub fn list(
    ground: &Ground,
    style: Style,
    told: &dyn Fn(&Path) -> String,
    out: &mut dyn Write,
) -> Result<()> {
    let found = Scanner::new(ground.roots.clone(), ground.formats.clone(), paths::env).look();
    let agents = ground.formats.iter();
    let mut agents: Vec<Agent> = agents
        .map(|format| Agent::new(*format, ground, &found))
        .collect();
    agents.sort_by_key(|agent| (agent.sessions == 0, Reverse(agent.newest), agent.id));
    match style {
        Style::Text => agents.iter().try_for_each(|agent| agent.write(told, out))?,
        Style::Json => {
            let list = List {
                schema: "ctxgauge.agents/1",
                agents: &agents,
            };
            serde_json::to_writer(&mut *out, &list)?;
            writeln!(out)?;
        }
    }
    Ok(())
}

impl Agent {
    fn new(format: &'static Format, ground: &Ground, found: &Found) -> Agent {
        let roots = ground.roots.iter().filter_map(|root| match root {
            SearchRoot::Usual(of, path) if of.id == format.id => Some(RootPart {
                path: path.display().to_string(),
                exists: path.is_dir(),
            }),
            _ => None,
        });
        let logs = found.files.iter();
        let logs = logs.filter(|log| log.facts.agent == format.id);
        Agent {
            id: format.id,
            roots: roots.collect(),
            sessions: logs.clone().count(),
            newest: logs.filter_map(|log| log.facts.modified).max(),
            compacts_at: trigger_rule(&ground.rules, format.id),
            facts: format.facts,
        }
    }

    fn write(&self, told: &dyn Fn(&Path) -> String, out: &mut dyn Write) -> io::Result<()> {
        let sessions = match (self.sessions, self.newest) {
            (0, _) => "no sessions".to_owned(),
            (1, Some(at)) => format!("1 session, of {}", at.strftime("%Y-%m-%d")),
            (n, Some(at)) => format!("{n} sessions, newest of {}", at.strftime("%Y-%m-%d")),
            (n, None) => format!("{n} sessions"),
        };
        writeln!(out, "{} · {sessions}", clean(self.id))?;
        let roots = self.roots.iter().map(|root| {
            let path = clean(&told(Path::new(&root.path)));
            let there = if root.exists { "" } else { " (not there)" };
            format!("{path}{there}")
        });
        let roots: Vec<String> = roots.collect();
        let roots = match roots.is_empty() {
            true => "in no usual place: give files or folders".to_owned(),
            false => roots.join(", "),
        };
        for (name, what) in [
            ("logs", roots.as_str()),
            ("live", self.facts.live),
            ("known", &self.facts.knowledge()),
            ("sub-agents", self.facts.sub_agents),
            ("compactions", self.facts.compactions),
            ("compacts at", &self.compacts_at),
            ("tried on", self.facts.tried),
        ] {
            writeln!(out, "  {name:<12} {}", clean(what))?;
        }
        Ok(())
    }
}
