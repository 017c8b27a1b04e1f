//! The agents for people.

use super::{Agent, Agents, Root};
use crate::output::document::{Document, Facts, Line, Section, facts};
use ingest::{POLL_INTERVAL, ROUND_INTERVAL};

const NO_PLACE: &str = "no default folder: name files or folders";

/// Puts the agents together: all that is known of one, or the most important facts on those that are found here.
pub(super) fn document(all: &Agents) -> Document {
    let sections = if let [agent] = &all.agents[..] {
        vec![section(agent).with([knowledge(agent), others(agent)].concat())]
    } else {
        let is_installed = |agent: &&Agent| agent.is_installed();
        let installed = all.agents.iter().filter(is_installed);
        let installed = installed.map(|agent| section(agent).with(knowledge(agent)));
        installed.chain([absent(&all.agents)]).collect()
    };
    let polled = polled(all);
    Document {
        title: Line::default(),
        sections: sections.into_iter().chain(polled).collect(),
    }
}

/// Returns the places that are polled.
fn polled(all: &Agents) -> Option<Section> {
    let (newest, others) = (POLL_INTERVAL.as_secs(), ROUND_INTERVAL.as_secs());
    let heading =
        format!("polled: the newest logs every {newest} s, the others every {others} s or longer");
    let lines = all.polled.iter().map(|place| {
        let because = format!(" (because of {})", place.because);
        Line::log(&place.short).and(because)
    });
    (!all.polled.is_empty()).then(|| Section::new(heading).with_all(lines))
}

/// Returns the agents of which nothing was found.
fn absent(agents: &[Agent]) -> Section {
    let agents = agents.iter().filter(|agent| !agent.is_installed());
    let places = agents.map(|agent| (agent.id, places(agent)));
    let places: Facts = places.collect();
    let section = Section::new("not found here; where their logs would be:");
    let section = if places.is_empty() {
        Section::default()
    } else {
        section.with(places)
    };
    section.with("`ctxgauge agents NAME` shows all that is known of one.")
}

/// Returns the places of an agent's logs, whether they exist or not.
fn places(agent: &Agent) -> Line {
    match &agent.places[..] {
        [] => NO_PLACE.into(),
        places => Line::log(&places.join(", ")),
    }
}

/// Begins the section on an agent.
fn section(agent: &Agent) -> Section {
    let newest = agent.newest.map(|at| at.strftime("%Y-%m-%d"));
    let sessions = match (agent.sessions, newest) {
        (0, _) => "no sessions".to_owned(),
        (1, Some(day)) => format!("1 session, {day}"),
        (n, Some(day)) => format!("{n} sessions, newest {day}"),
        (n, None) => format!("{n} sessions"),
    };
    Section::new(format!("{} · {sessions}", agent.id))
}

/// Returns where its logs are, which numbers are known, and when it compacts.
fn knowledge(agent: &Agent) -> Facts {
    let roots = agent.roots.iter().filter(|root| root.exists);
    let here: Vec<String> = roots.map(place).collect();
    let logs = match (here.is_empty(), agent.places.is_empty()) {
        (false, _) => Line::log(&here.join(", ")),
        (true, false) => places(agent).and(" (missing)"),
        (true, true) => NO_PLACE.into(),
    };
    let (known, estimated) = match (agent.facts.known, agent.facts.estimated) {
        ("", "") => ("nothing", "all".to_owned()),
        ("", unseen) => ("nothing", format!("all, without {unseen}")),
        (known, "") => (known, "only what came after these".to_owned()),
        (known, estimated) => (known, estimated.to_owned()),
    };
    vec![
        ("logs", logs),
        ("known", known.into()),
        ("estimated", estimated.into()),
        (
            "compacts at",
            match &agent.compacts_here {
                Some(here) => Line::log(here),
                None => agent.compacts_at.clone().into(),
            },
        ),
    ]
}

/// Returns a folder, with the number of its sessions.
fn place(root: &Root) -> String {
    match root.sessions {
        0 => format!("{} (empty)", root.short),
        n => format!("{} ({n})", root.short),
    }
}

/// Returns the other facts about an agent.
fn others(agent: &Agent) -> Facts {
    let list = |all: &[String]| (!all.is_empty()).then(|| all.join(", ").into());
    let trust = match &agent.proven {
        None => agent.tier.into(),
        Some(version) => format!("proven against known counts, up to {version}").into(),
    };
    let about = agent.facts;
    let all = agent.compacts_here.as_ref();
    let all = all.map(|_| agent.compacts_at.clone().into());
    facts([
        ("all rules", all),
        ("moved by", list(&agent.moved_by)),
        ("compactions", Some(about.compactions.into())),
        ("settings", list(&agent.settings)),
        ("sub-agents", Some(about.sub_agents.into())),
        ("updated", Some(about.live.into())),
        ("recognised", Some(format!("by {}", about.mark).into())),
        ("tested with", Some(about.tried.into())),
        ("trust", Some(trust)),
    ])
}
