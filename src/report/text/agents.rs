//! The agents for people.

use crate::render::text::inert;
use crate::report::agents::Agent;
use std::io::{self, Write};

pub(super) fn write(out: &mut dyn Write, agents: &[Agent]) -> io::Result<()> {
    agents.iter().try_for_each(|agent| write_one(out, agent))
}

fn write_one(out: &mut dyn Write, agent: &Agent) -> io::Result<()> {
    let newest = agent.newest.map(|at| at.strftime("%Y-%m-%d"));
    let sessions = match (agent.sessions, newest) {
        (0, _) => "no sessions".to_owned(),
        (1, Some(day)) => format!("1 session, {day}"),
        (n, Some(day)) => format!("{n} sessions, newest {day}"),
        (n, None) => format!("{n} sessions"),
    };
    writeln!(out, "{} · {sessions}", inert(agent.id))?;
    let roots = agent.roots.iter().map(|root| {
        let missing = if root.exists { "" } else { " (missing)" };
        format!("{}{missing}", root.short)
    });
    let mut roots = roots.collect::<Vec<_>>().join(", ");
    if roots.is_empty() {
        roots = "no default folder: name files or folders".to_owned();
    }
    for (name, what) in [
        ("logs", roots.as_str()),
        ("recognised", &format!("by {}", agent.facts.mark)),
        ("updated", agent.facts.live),
        ("known", &agent.facts.knowledge()),
        ("sub-agents", agent.facts.sub_agents),
        ("compactions", agent.facts.compactions),
        ("compacts at", &agent.compacts_at),
        ("tested with", agent.facts.tried),
    ] {
        writeln!(out, "  {name:<12} {}", inert(what))?;
    }
    if !agent.proven.is_empty() {
        let proven = agent.proven;
        writeln!(
            out,
            "  {:<12} against known counts, up to {proven}",
            "proven"
        )?;
    }
    Ok(())
}
