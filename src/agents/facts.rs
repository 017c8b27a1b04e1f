//! What is known of each agent's logs, in words, and how a file is refused that is none of them.

use super::{Base, Format};
use crate::model::window::Rules;
use serde::Serialize;
use serde::de::IgnoredAny;
use std::collections::HashSet;

/// What an agent's logs tell and what they do not: a row of `ctxgauge agents` and of the README's
/// table. Where its logs are and when it compacts is told by [`Format::roots`] and the models table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Facts {
    /// What a file of this agent holds near its beginning, as far as [`Format::recognise`] looks for
    /// it; of another file it is said to have "no …".
    pub mark: &'static str,
    /// When its logs show what happens: `each line as it is written`.
    pub live: &'static str,
    /// The provider's numbers that its logs hold: `prompts, outputs, reasoning`. Empty: none, all is
    /// estimated.
    pub known: &'static str,
    /// What stays estimated although one would expect it to be known; empty: nothing. Where nothing is
    /// known: what the estimate leaves out.
    pub estimated: &'static str,
    /// Whether sub-agents show, and where.
    pub sub_agents: &'static str,
    /// Whether compactions show, and how.
    pub compactions: &'static str,
    /// The versions that it was tried on, real logs first.
    pub tried: &'static str,
}

/// [`Facts::live`] of logs that grow line by line.
pub const EACH_LINE: &str = "each line";
/// [`Facts::live`] of documents that are rewritten.
pub const EACH_REWRITE: &str = "each rewrite";

impl Facts {
    /// Nothing.
    pub(super) const NONE: Facts = Facts {
        mark: "",
        live: "",
        known: "",
        estimated: "",
        sub_agents: "",
        compactions: "",
        tried: "",
    };

    /// What is known and what is not, in one sentence.
    pub fn knowledge(&self) -> String {
        match (self.known, self.estimated) {
            ("", "") => "all estimated".to_owned(),
            ("", unseen) => format!("all estimated, without {unseen}"),
            (known, "") => known.to_owned(),
            (known, estimated) => format!("{known}; estimated: {estimated}"),
        }
    }
}

/// When an agent compacts, by the models table: its usual rule, then those for some versions, models
/// or windows.
pub fn trigger_rule(rules: &Rules, agent: &str) -> String {
    let mut told: Vec<(bool, String)> = Vec::new();
    for policy in rules.policy.iter().filter(|policy| policy.agent == agent) {
        let mut only: Vec<String> = Vec::new();
        only.extend(policy.up_to.as_ref().map(|v| format!("up to {v}")));
        only.extend(
            policy
                .until
                .map(|last| format!("until {}", last.strftime("%Y-%m-%d"))),
        );
        only.extend(policy.models.iter().cloned());
        if policy.window_from > 0 {
            only.push(format!("windows from {}", grouped(policy.window_from)));
        }
        // It stands behind "compacts at".
        let name = policy.name.strip_prefix("at ").unwrap_or(&policy.name);
        let text = match only.is_empty() {
            true => name.to_owned(),
            false => format!("{name} ({})", only.join(", ")),
        };
        told.push((!only.is_empty(), text));
    }
    told.sort_by_key(|(special, _)| *special);
    let told: Vec<String> = told.into_iter().map(|(_, text)| text).collect();
    match told.is_empty() {
        true => "not known".to_owned(),
        false => told.join("; "),
    }
}

/// A number with a comma before each three digits.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut told = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            told.push(',');
        }
        told.push(digit);
    }
    told
}

/// The usual folders of an agent's logs, as people write them, and what names them otherwise.
pub fn places(format: &Format) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    let mut named: Vec<String> = Vec::new();
    for root in format.roots {
        let base = match root.base {
            Base::Home(below) => format!("~/{below}"),
            Base::XdgConfig(below) => format!("~/.config/{below}"),
            Base::XdgData(below) => format!("~/.local/share/{below}"),
            Base::At(folder) => folder.to_owned(),
        };
        let below = |folder: &str| {
            let folder = folder.trim_end_matches('/');
            match root.logs {
                "" => folder.to_owned(),
                logs => format!("{folder}/{logs}"),
            }
        };
        told.push(below(&base));
        named.extend(root.env.map(|env| below(&format!("${env}"))));
    }
    told.extend(named);
    let mut seen = HashSet::new();
    told.retain(|place| seen.insert(place.clone()));
    told
}

/// Why a file that begins with these bytes is no log of these formats: what it looks like, and what
/// each format misses in it.
pub fn refusal(formats: &[&'static Format], head: &[u8]) -> String {
    if head.trim_ascii().is_empty() {
        return "it is empty: nothing tells which agent's log it is; --agent NAME says it"
            .to_owned();
    }
    let missed: Vec<String> = formats
        .iter()
        .map(|format| format!("{} (no {})", format.id, format.facts.mark))
        .collect();
    format!(
        "{}, and no log of a known kind; tried: {}; --agent NAME reads it as one all the same",
        look(head),
        missed.join(", ")
    )
}

/// What a file's first bytes look like.
fn look(head: &[u8]) -> &'static str {
    let first = head.trim_ascii_start();
    let line = first.split(|byte| *byte == b'\n').next().unwrap_or(first);
    if memchr::memchr(0, head).is_some() {
        return "it is a binary file";
    }
    match serde_json::from_slice::<IgnoredAny>(line) {
        Ok(IgnoredAny) if line.starts_with(b"{") => "its first line is a JSON object",
        Ok(IgnoredAny) => "its first line is JSON, but no object",
        Err(error) if error.is_eof() => "it is a JSON document",
        Err(_) => "its first line is no JSON",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agents;

    #[test]
    fn what_is_refused_says_how_it_looks_and_what_each_format_misses() {
        let looks = [
            (&b"{\"a\":1}\n"[..], "a JSON object"),
            (b"[1]\n", "no object"),
            (b"{\n \"a\": 1}", "a JSON document"),
            (b"hello\n", "no JSON"),
            (b"\x7fELF\0\0", "binary"),
            (b" \n", "empty"),
        ];
        for (head, look) in looks {
            let why = refusal(agents::ALL, head);
            assert!(why.contains(look), "{why}");
            assert!(why.contains("--agent"), "{why}");
        }
        let why = refusal(agents::ALL, b"hello\n");
        for format in agents::ALL {
            assert!(why.contains(&format!("{} (no ", format.id)), "{why}");
        }
    }

    #[test]
    fn every_format_says_what_its_logs_tell() {
        for format in agents::ALL {
            let facts = format.facts;
            let said = [
                facts.mark,
                facts.live,
                facts.sub_agents,
                facts.compactions,
                facts.tried,
            ];
            assert!(said.iter().all(|text| !text.is_empty()), "{}", format.id);
            let all = said.into_iter().chain([facts.known, facts.estimated]);
            let cells = all.filter(|text| text.contains(['|', '\n']));
            assert_eq!(cells.count(), 0, "{}: no cell of a table", format.id);
        }
    }

    #[test]
    fn places_are_told_once_each() {
        let told = |id| places(agents::by_id(id).unwrap()).join(" ");
        assert_eq!(
            told("pi"),
            "~/.pi/agent/sessions $PI_CODING_AGENT_DIR/sessions"
        );
        assert_eq!(
            told("claude-code"),
            "~/.claude/projects ~/.config/claude/projects $CLAUDE_CONFIG_DIR/projects"
        );
        assert_eq!(
            told("gemini-cli"),
            "~/.gemini/tmp $GEMINI_CLI_HOME/.gemini/tmp"
        );
    }

    #[test]
    fn a_trigger_rule_names_the_usual_one_first() {
        let rules: Rules = toml::from_str(
            "[[policy]]\nagent = \"a\"\nname = \"old\"\nup_to = \"1.2\"\n\
             [[policy]]\nagent = \"a\"\nname = \"large\"\nwindow_from = 1_000_000\nmodels = [\"m*\"]\n\
             [[policy]]\nagent = \"a\"\nname = \"at 100 tokens\"\n",
        )
        .unwrap();
        let rule = trigger_rule(&rules, "a");
        assert_eq!(
            rule,
            "100 tokens; old (up to 1.2); large (m*, windows from 1,000,000)"
        );
        assert_eq!(trigger_rule(&rules, "b"), "not known");
    }
}
