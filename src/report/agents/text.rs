//! The agents for people, in lines of 80 columns at most.

use super::{Agent, PolledPlace, Root};
use crate::text::page::Page;
use crate::text::widest;
use ingest::{POLL_INTERVAL, ROUND_INTERVAL};
use render::text::{inert, left};
use std::io;
use textwrap::{Options, WordSplitter};

/// The most columns of a line: longer ones are hard to read.
const COLUMNS: usize = 80;
/// The columns of the names of facts, with two spaces on each side.
const NAME_COLUMNS: usize = 15;
const NO_PLACE: &str = "no default folder: name files or folders";

pub(super) fn write(out: &mut Page<'_>, agents: &[Agent]) -> io::Result<()> {
    if let [agent] = agents {
        write_head(out, agent)?;
        write_knowledge(out, agent)?;
        return write_rest(out, agent);
    }
    let installed = agents.iter().filter(|agent| agent.is_installed()).count();
    let (installed, others) = agents.split_at(installed);
    for agent in installed {
        write_head(out, agent)?;
        write_knowledge(out, agent)?;
        writeln!(out)?;
    }
    write_others(out, others)?;
    writeln!(
        out,
        "`ctxgauge agents NAME` shows all that is known of one."
    )
}

/// Writes the places that are polled, each on a line.
pub(super) fn write_polled(out: &mut Page<'_>, places: &[PolledPlace]) -> io::Result<()> {
    if places.is_empty() {
        return Ok(());
    }
    let (newest, others) = (POLL_INTERVAL.as_secs(), ROUND_INTERVAL.as_secs());
    writeln!(
        out,
        "\npolled: the newest logs every {newest} s, the others every {others} s or longer:"
    )?;
    for place in places {
        out.row(format_args!(
            "  {} (because of {})",
            inert(&place.short),
            place.because
        ))?;
    }
    Ok(())
}

/// Writes the agents of which nothing was found, each on a line.
fn write_others(out: &mut Page<'_>, agents: &[Agent]) -> io::Result<()> {
    if agents.is_empty() {
        return Ok(());
    }
    writeln!(out, "not found here; where their logs would be:")?;
    let names = widest(agents.iter().map(|agent| agent.id.to_owned()));
    for agent in agents {
        let places = match &agent.places[..] {
            [] => NO_PLACE,
            places => &places.join(", "),
        };
        let name = left(agent.id, names);
        out.row(format_args!("  {name}  {}", inert(places)))?;
    }
    writeln!(out)
}

fn write_head(out: &mut Page<'_>, agent: &Agent) -> io::Result<()> {
    let newest = agent.newest.map(|at| at.strftime("%Y-%m-%d"));
    let sessions = match (agent.sessions, newest) {
        (0, _) => "no sessions".to_owned(),
        (1, Some(day)) => format!("1 session, {day}"),
        (n, Some(day)) => format!("{n} sessions, newest {day}"),
        (n, None) => format!("{n} sessions"),
    };
    writeln!(out, "{} · {sessions}", inert(agent.id))
}

/// Writes where its logs are, which numbers are known, and when it compacts.
fn write_knowledge(out: &mut Page<'_>, agent: &Agent) -> io::Result<()> {
    let roots = agent.roots.iter().filter(|root| root.exists);
    let here: Vec<String> = roots.map(place).collect();
    let logs = match (here.is_empty(), agent.places.is_empty()) {
        (false, _) => here.join(", "),
        (true, false) => format!("{} (missing)", agent.places.join(", ")),
        (true, true) => NO_PLACE.to_owned(),
    };
    let (known, estimated) = match (agent.facts.known, agent.facts.estimated) {
        ("", "") => ("nothing", "all".to_owned()),
        ("", unseen) => ("nothing", format!("all, without {unseen}")),
        (known, "") => (known, "only what came after these".to_owned()),
        (known, estimated) => (known, estimated.to_owned()),
    };
    entry(out, "logs", &logs)?;
    entry(out, "known", known)?;
    entry(out, "estimated", &estimated)?;
    entry(out, "compacts at", &agent.compacts_at)
}

/// Returns a folder, with the number of its sessions.
fn place(root: &Root) -> String {
    match root.sessions {
        0 => format!("{} (empty)", root.short),
        n => format!("{} ({n})", root.short),
    }
}

/// Writes the other facts about an agent.
fn write_rest(out: &mut Page<'_>, agent: &Agent) -> io::Result<()> {
    let facts = agent.facts;
    if !agent.moved_by.is_empty() {
        entry(out, "moved by", &agent.moved_by.join(", "))?;
    }
    entry(out, "compactions", facts.compactions)?;
    match &agent.settings[..] {
        [] => {}
        settings => entry(out, "settings", &settings.join(", "))?,
    }
    entry(out, "sub-agents", facts.sub_agents)?;
    entry(out, "updated", facts.live)?;
    entry(out, "recognised", &format!("by {}", facts.mark))?;
    entry(out, "tested with", facts.tried)?;
    let trust = match &agent.proven {
        None => agent.tier.to_owned(),
        Some(version) => format!("proven against known counts, up to {version}"),
    };
    entry(out, "trust", &trust)
}

/// Writes a named fact on a line, or on several if it is long.
fn entry(out: &mut Page<'_>, name: &str, what: &str) -> io::Result<()> {
    let columns = out.columns().unwrap_or(COLUMNS).min(COLUMNS);
    let room = columns.saturating_sub(NAME_COLUMNS);
    let options = Options::new(room).word_splitter(WordSplitter::NoHyphenation);
    let what = inert(what);
    let mut name = name;
    for line in textwrap::wrap(&what, options.break_words(false)) {
        writeln!(out, "  {name:<11}  {line}")?;
        name = "";
    }
    Ok(())
}
