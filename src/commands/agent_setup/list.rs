//! All agents that can be set up, with their parts.

use super::{option, step};
use anyhow::Result;
use files::paths::User;
use integrations::agent::Agent;
use integrations::settings::{self, Change, OtherCommand, Part, Program, Refusal};
use std::io::Write;
use strum::VariantArray;

/// Writes the list, and how to go on.
pub(super) fn write(user: &User, program: &Program, out: &mut dyn Write) -> Result<()> {
    let width = Agent::VARIANTS.iter().map(|agent| agent.id().len()).max();
    let width = width.unwrap_or_default();
    for &agent in Agent::VARIANTS {
        let parts = settings::parts(agent).into_iter();
        let parts =
            parts.map(|part| format!("{}{}", option(part), state(agent, part, user, program)));
        let by_hand = step(agent, Part::Server, program, false);
        let by_hand = by_hand.map(|_| format!("{} (by hand)", option(Part::Server)));
        let parts: Vec<String> = parts.chain(by_hand).collect();
        writeln!(out, "{:width$}  {}", agent.id(), parts.join("  "))?;
    }
    writeln!(
        out,
        "\n`ctxgauge setup AGENT OPTIONS` shows the change to the settings of an agent, and makes it with --write."
    )?;
    Ok(())
}

/// Returns the present state of a part, to follow its name; empty: it is not entered.
fn state(agent: Agent, part: Part, user: &User, program: &Program) -> &'static str {
    match settings::enter(agent, &[part], user, program, OtherCommand::Refuse) {
        Ok(changes) if changes.iter().any(Change::is_some) => "",
        Ok(_) => " (set up)",
        Err(Refusal::OtherStatusLine { .. }) => " (another one is set)",
        Err(_) => " (its settings cannot be read)",
    }
}
