//! The plugin for Claude Code, in the folder from which it loads those of a user.

use super::file::{Change, read};
use super::places::PLUGIN;
use super::{Program, Refusal};
use std::path::Path;

/// The line of its module that names this program.
const PROGRAM: &str = "const PROGRAM = 'ctxgauge'";

/// Returns the changes that write the plugin.
pub(super) fn enter(agent: &Path, program: &Program) -> Result<Vec<Change>, Refusal> {
    let executable = serde_json::Value::from(program.executable());
    let named = format!("const PROGRAM = {executable}");
    changes(agent, |text| Some(text.replace(PROGRAM, &named)))
}

/// Returns the changes that remove it.
pub(super) fn take_out(agent: &Path) -> Result<Vec<Change>, Refusal> {
    changes(agent, |_| None)
}

fn changes(agent: &Path, after: impl Fn(&str) -> Option<String>) -> Result<Vec<Change>, Refusal> {
    let files = assets::PLUGIN.iter().map(|(below, text)| {
        let path = agent.join(PLUGIN).join(below);
        let before = read(&path)?;
        let after = after(text);
        Ok(Change {
            path,
            before,
            has_ours: after.is_some(),
            after,
        })
    });
    files.collect()
}
