//! Findings in words: what happened, how much it took, and what to change.

use super::number::{counted, short, tokens, usd};
use super::rebuild::named_cause;
use model::why::{Finding, FindingDetail, FindingKind, ListedNames, ToolClass};

/// Returns what happened. It may contain text of a log: not safe to print.
pub fn what(finding: &Finding) -> String {
    let about = &finding.about;
    match (finding.kind, &finding.detail) {
        (FindingKind::Rebuild, _) => format!("the cache was rebuilt: {}", named_cause(about)),
        (FindingKind::Window, FindingDetail::Window(of)) => {
            format!("prompts exceeded a window of {}", short(of.window))
        }
        (FindingKind::Window, _) => "prompts were larger than needed".to_owned(),
        (FindingKind::Oversized, _) => {
            format!("results of {about} were cut or have very long lines")
        }
        (FindingKind::Repeated, _) => {
            format!("results of {about} repeat lines that the context had already")
        }
        (FindingKind::Listings, FindingDetail::Listed(ListedNames { names, used, .. })) => {
            format!("{about} are listed and hardly used: {used} of {names}")
        }
        (FindingKind::Listings, _) => format!("{about} are listed and hardly used"),
        (FindingKind::Polling, _) => format!("jobs were polled again and again with {about}"),
    }
}

/// Returns how often it was, in so many sessions, and the tokens that it took.
pub fn size(finding: &Finding, sessions: u64) -> String {
    let within = counted(sessions, "session");
    match &finding.detail {
        FindingDetail::Window(_) => format!("{within}: {}", took(finding)),
        _ => match times(finding) {
            Some(times) => format!("{times} in {within}, {}", took(finding)),
            None => format!("in {within}, {}", took(finding)),
        },
    }
}

/// Returns how often it was in one session, and the tokens that it took.
pub fn size_here(finding: &Finding) -> String {
    let parts = times(finding).into_iter().chain([took(finding)]);
    parts.collect::<Vec<String>>().join(", ")
}

/// Returns how often it was; `None`: that says nothing.
fn times(finding: &Finding) -> Option<String> {
    let word = match finding.kind {
        FindingKind::Rebuild => "time",
        FindingKind::Oversized | FindingKind::Repeated => "result",
        FindingKind::Polling => "poll",
        FindingKind::Window | FindingKind::Listings => return None,
    };
    Some(counted(finding.count, word))
}

/// Returns the tokens that it took.
fn took(finding: &Finding) -> String {
    let took = tokens(finding.tokens);
    match (finding.kind, &finding.detail) {
        (FindingKind::Rebuild, _) => format!("{took} tokens rebuilt"),
        (_, FindingDetail::Window(of)) => {
            let compactions = counted(of.compactions, "compaction");
            format!(
                "{} tokens of prompts would be {}, with {compactions} instead of {}",
                tokens(of.was),
                tokens(of.prompts),
                of.compactions_were
            )
        }
        _ => format!("{took} tokens carried"),
    }
}

/// Returns its cost by list price, and what that is.
pub fn cost(finding: &Finding) -> String {
    let Some(cost) = finding.usd.map(usd) else {
        return "no price is known".to_owned();
    };
    let range = finding
        .range
        .map(|(low, high)| format!(" ({} to {})", usd(low), usd(high)));
    let about = match finding.kind {
        FindingKind::Rebuild => "more than from the cache, by list price",
        FindingKind::Window => "could be saved, the compactions paid, by list price",
        _ => "at the list price of cached input",
    };
    format!("{cost}{} {about}", range.unwrap_or_default())
}

/// Returns what to change, with the setting and its file where the agent has one; `None`: nothing is known that helps.
/// It may contain text of a log: not safe to print.
pub fn act(finding: &Finding, agent: &str) -> Option<String> {
    match finding.kind {
        FindingKind::Rebuild => rebuild(&finding.about, agent).map(str::to_owned),
        FindingKind::Window => window(finding, agent),
        FindingKind::Oversized => Some(narrower(&finding.about).to_owned()),
        FindingKind::Repeated => Some(
            "ask for the part that is new: a range of lines, `git diff`, only the failed tests"
                .to_owned(),
        ),
        FindingKind::Listings => listings(finding, agent),
        FindingKind::Polling => Some(
            "wait once with a longer timeout, write the output to a file and read its end, or use a quieter flag"
                .to_owned(),
        ),
    }
}

fn rebuild(cause: &str, agent: &str) -> Option<&'static str> {
    let is_claude = agent == CLAUDE;
    Some(match cause {
        "tools_changed" => {
            "connect servers and plugins before the session begins; a tool that comes or goes changes the whole prompt"
        }
        "system_changed" => {
            "change memory files, output styles and modes between sessions, not within them"
        }
        "model_switched" => {
            "switch models between sessions, or right after a compaction: each model has a cache of its own"
        }
        "expired" if is_claude => {
            "come back before the cache expires, or compact before a pause; the status line shows the time"
        }
        "expired" | "previous_message_not_found" => {
            "come back before the cache expires, or compact before a pause"
        }
        "messages_changed" => {
            "earlier messages were edited or taken out: rewind less, and compact instead of clearing results"
        }
        _ => return None,
    })
}

fn window(finding: &Finding, agent: &str) -> Option<String> {
    let FindingDetail::Window(of) = &finding.detail else {
        return None;
    };
    let (size, short) = (of.window, short(of.window));
    Some(match agent {
        CLAUDE => format!(
            "`/autocompact {short}`, or \"autoCompactWindow\": {size} in ~/.claude/settings.json"
        ),
        "codex" => format!("model_auto_compact_token_limit = {size} in ~/.codex/config.toml"),
        _ => format!("compact by hand at {short}, or set the agent's own limit to it"),
    })
}

fn narrower(tool: &str) -> &'static str {
    match ToolClass::of(tool) {
        Some(ToolClass::Command) => {
            "limit what the command prints: a filter, `head -c`, a quieter flag, a file that is read in parts"
        }
        Some(ToolClass::Search) => {
            "search more narrowly: a folder, a limit, names of files only; leave out generated and minified files"
        }
        Some(ToolClass::Fetch) => "ask for the part of the page that is needed",
        None => "ask the server for less: a narrower query, a page size, fewer fields",
    }
}

fn listings(finding: &Finding, agent: &str) -> Option<String> {
    let FindingDetail::Listed(ListedNames { unused, .. }) = &finding.detail else {
        return None;
    };
    let first = unused.first()?;
    let setting = match (agent, &*finding.about) {
        (CLAUDE, "skills") => {
            format!(
                "\"skillOverrides\": {{\"{first}\": \"off\"}} in .claude/settings.json, or turn off its plugin with `/plugin`"
            )
        }
        (CLAUDE, "agents") => {
            format!(
                "\"permissions\": {{\"deny\": [\"Agent({first})\"]}} in .claude/settings.json, or turn off its plugin with `/plugin`"
            )
        }
        (CLAUDE, _) => "turn the server off with `/mcp`".to_owned(),
        ("codex", "skills") => {
            format!("[[skills.config]] name = \"{first}\", enabled = false in ~/.codex/config.toml")
        }
        ("codex", "servers") => {
            format!("[mcp_servers.{first}] enabled = false in ~/.codex/config.toml")
        }
        _ => "turn them off for this project".to_owned(),
    };
    Some(format!("{setting}; not used: {}", unused.join(", ")))
}

/// The id of Claude Code.
const CLAUDE: &str = "claude-code";
