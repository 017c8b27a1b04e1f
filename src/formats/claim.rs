//! Defines the facts about a log that its path contains.

use super::database::DatabaseSpec;
use super::stores::StoreKind;
use std::path::{Component, Path, PathBuf};

/// The facts about a log that its path contains.
#[must_use]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The kind of its store.
    pub store: StoreKind,
    /// The session's id, if the path contains it.
    pub id: Option<String>,
    /// The id of the session that started this one, if the path contains it.
    pub parent: Option<String>,
    /// Another log of the same session that says more. If it exists, this one is read only when the user
    /// names it.
    pub superseded_by: Option<PathBuf>,
    /// Its standing among the logs of the agent.
    pub standing: Standing,
}

/// The standing of a file among the logs of its agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// A log.
    Log,
    /// A log if its first bytes are those of one: users and extensions choose such names for other files too.
    Perhaps,
    /// A log that the agent has put away. It is no session, but what it says was spent counts.
    Archive,
    /// A copy of a log at some moment. It is read only when the user names it.
    Copy,
}

impl Claim {
    /// A file of lines whose path says nothing more.
    pub const LINES: Claim = Claim {
        store: StoreKind::Lines,
        id: None,
        parent: None,
        superseded_by: None,
        standing: Standing::Log,
    };

    /// Returns a database, which contains the ids of its sessions.
    pub fn database(spec: &'static DatabaseSpec) -> Claim {
        Claim::LINES.kept_in(StoreKind::Database(spec))
    }

    /// Returns a file of lines of the session with this id.
    pub fn session(id: &str) -> Claim {
        Claim {
            id: Some(id.to_owned()),
            ..Claim::LINES
        }
    }

    /// Returns the claim with another store.
    pub fn kept_in(self, store: StoreKind) -> Claim {
        Claim { store, ..self }
    }

    /// Returns the claim with this standing.
    pub fn standing(self, standing: Standing) -> Claim {
        Claim { standing, ..self }
    }

    /// Returns the claim of a log whose session was started by this one.
    pub fn child_of(self, parent: &str) -> Claim {
        Claim {
            parent: Some(parent.to_owned()),
            ..self
        }
    }
}

/// Returns the path of the file that Claude Code and its kin write about a sub-agent, beside its log
/// `agent-<id>.jsonl`.
pub fn about_agent(log: &Path) -> Vec<PathBuf> {
    let name = log.file_name().and_then(|name| name.to_str());
    let is_agents = name.is_some_and(|name| name.starts_with("agent-") && name.ends_with(".jsonl"));
    if is_agents {
        vec![log.with_extension("meta.json")]
    } else {
        Vec::new()
    }
}

/// Returns the names in a path, from its end to its root or the first that is not UTF-8.
pub fn names(path: &Path) -> impl Iterator<Item = &str> {
    let parts = path.components().rev();
    parts.map_while(|part| match part {
        Component::Normal(name) => name.to_str(),
        _ => None,
    })
}

/// Returns true if a name looks like a UUID.
pub fn is_uuid(name: &str) -> bool {
    name.len() == 36 && name.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}
