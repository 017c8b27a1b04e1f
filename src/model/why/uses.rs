//! Counts calls, and what their results cost: by tool, command, server and skill, for sums over many sessions.

use super::oversized::ToolClass;
use crate::cost::calls::Calls;
use crate::cost::carried::CarriedCost;
use crate::cost::tools::{call_times, seconds_of, server_of};
use crate::history::Item;
use crate::session::Session;
use crate::values::median::median;
use crate::{Kind, Role};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use strum::IntoStaticStr;

/// The property by which calls are grouped.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, IntoStaticStr,
)]
#[strum(serialize_all = "lowercase")]
pub enum UseKind {
    /// The tool.
    Tool,
    /// The program that a shell ran, the first of its command line.
    Command,
    /// The MCP server of a tool.
    Server,
    /// The skill that was loaded by its tool.
    Skill,
}

/// The calls of one tool, command, server or skill.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Used {
    /// The number of calls with a result.
    pub calls: u64,
    /// The number of those that failed, as far as the log shows that.
    pub failed: u64,
    /// The tokens of their results.
    pub tokens: u64,
    /// Tokens times the requests whose prompts held them.
    pub carried: u64,
    /// The cost of `carried` in US dollars, see [`CarriedCost`].
    pub usd: f64,
    /// The part of `carried` whose price is not known.
    pub unpriced: u64,
    /// The milliseconds from each call to its result, where the log shows them.
    millis: Vec<u32>,
}

/// The calls of a session, or of several. Names may be text of a log: not safe to print.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Uses(BTreeMap<(UseKind, Box<str>), Used>);

impl UseKind {
    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl Used {
    /// Returns the seconds from a call to its result, the median; `None`: the log shows no times.
    pub fn median_seconds(&self) -> Option<f64> {
        let seconds = self.millis.iter().map(|millis| f64::from(*millis) / 1e3);
        median(seconds.collect())
    }

    fn add(&mut self, of: &Used) {
        self.calls = self.calls.saturating_add(of.calls);
        self.failed = self.failed.saturating_add(of.failed);
        self.tokens = self.tokens.saturating_add(of.tokens);
        self.carried = self.carried.saturating_add(of.carried);
        self.usd += of.usd;
        self.unpriced = self.unpriced.saturating_add(of.unpriced);
        self.millis.extend(&of.millis);
    }
}

impl Uses {
    /// Returns the calls of a session. Those that it has inherited belong to the session that it continues.
    pub(super) fn of(session: &Session, carried: &CarriedCost<'_>) -> Uses {
        let (calls, called) = (Calls::of(session), call_times(session));
        let mut uses = Uses::default();
        let mut skill: Option<Box<str>> = None;
        for (ix, item) in session.items().iter().enumerate() {
            let request = item.entered.and_then(|ix| session.requests().get(ix));
            if request.is_some_and(|request| request.is_inherited) {
                continue;
            }
            let (tokens, _) = session.tokens(ix);
            let (sent, usd) = (carried.tokens(ix, tokens), carried.usd(ix, tokens));
            // A client that puts in a file was not asked to.
            let is_result = item.role == Role::Tool && item.kind == Kind::ToolResult;
            let is_call = is_result && item.call.is_some();
            let used = Used {
                calls: u64::from(is_call),
                failed: u64::from(is_call && item.is_failed),
                tokens,
                carried: sent,
                usd: usd.unwrap_or(0.0),
                unpriced: usd.map_or(sent, |_| 0),
                millis: seconds_of(item, &called)
                    .map(|seconds| (seconds * 1e3) as u32)
                    .into_iter()
                    .collect(),
            };
            if is_call {
                let words = calls.subject(session, item);
                let names = names(item, words.as_deref());
                let loaded = names.iter().find(|(kind, _)| *kind == UseKind::Skill);
                skill = loaded.map(|(_, name)| (*name).into());
                names
                    .into_iter()
                    .for_each(|(kind, name)| uses.add_one(kind, name, &used));
            } else if let (Kind::Skill, Some(name)) = (item.kind, &skill) {
                // The text of the skill follows the result of its call.
                uses.add_one(UseKind::Skill, name, &used);
            }
        }
        uses
    }

    /// Adds the calls of another session.
    pub fn add(&mut self, of: &Uses) {
        for ((kind, name), used) in &of.0 {
            self.add_one(*kind, name, used);
        }
    }

    fn add_one(&mut self, kind: UseKind, name: &str, of: &Used) {
        self.0.entry((kind, name.into())).or_default().add(of);
    }

    /// Returns all of one kind with their names, the most carried first.
    pub fn by(&self, kind: UseKind) -> Vec<(&str, &Used)> {
        let of = self.0.iter().filter(|((of, _), _)| *of == kind);
        let mut all: Vec<_> = of.map(|((_, name), used)| (&**name, used)).collect();
        all.sort_by_key(|(_, used)| Reverse((used.carried, used.tokens, used.calls)));
        all
    }
}

/// Returns the names under which a result counts. `words` are what its call was made with.
fn names<'a>(result: &'a Item, words: Option<&'a str>) -> Vec<(UseKind, &'a str)> {
    let tool = result.tool.as_deref().unwrap_or("unknown");
    let is_shell = ToolClass::of(tool) == Some(ToolClass::Command);
    let command = words.filter(|_| is_shell).and_then(program);
    let skill = words.filter(|_| tool == "Skill");
    let skill = skill.and_then(|words| words.split_whitespace().next());
    let all = [
        Some((UseKind::Tool, tool)),
        server_of(tool).map(|name| (UseKind::Server, name)),
        command.map(|name| (UseKind::Command, name)),
        skill.map(|name| (UseKind::Skill, name)),
    ];
    all.into_iter().flatten().collect()
}

/// Returns the program that a command line runs first, without its folder. A change of the folder and settings of
/// variables before it do not count. `None`: its beginning does not show one.
fn program(words: &str) -> Option<&str> {
    // Codex runs scripts, which call its tools.
    let command = if words.contains("tools.") {
        words.split_once("cmd")?.1
    } else {
        words
    };
    let mut rest = command.trim_start_matches(['"', '`', '\'', ':', ' ']);
    while rest.starts_with("cd ") {
        let end = rest.find(['&', ';'])?;
        rest = rest[end..].trim_start_matches(['&', ';', ' ']);
    }
    let is_setting = |word: &&str| word.contains('=');
    let word = rest.split_whitespace().find(|word| !is_setting(word))?;
    let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
    let name = name.trim_end_matches(';');
    let is_name = |c: char| c.is_alphanumeric() || "-_.+[".contains(c);
    (!name.is_empty() && name.chars().all(is_name)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Key, NewItem};
    use crate::testing::{Log, new_item};

    #[test]
    fn the_first_program_of_a_command_line_counts() {
        for (words, name) in [
            ("git diff --stat", Some("git")),
            ("cd /w/a && FOO=1 cargo test", Some("cargo")),
            ("cd /w; /usr/bin/env python3", Some("env")),
            (
                "await tools.exec_command({ cmd: \"sed -n 1p a\" })",
                Some("sed"),
            ),
            ("const r = await tools.other({ a: 1 })", None),
            ("cd /a/very/long/path/that/is…", None),
            ("(a; b)", None),
            ("", None),
        ] {
            assert_eq!(program(words), name, "{words}");
        }
    }

    fn item(kind: Kind, tool: &str, id: &str, words: &str) -> NewItem {
        let role = match kind {
            Kind::ToolResult => Role::Tool,
            Kind::Skill => Role::Container,
            _ => Role::Assistant,
        };
        NewItem {
            tool: (!tool.is_empty()).then(|| tool.into()),
            call: (!id.is_empty()).then(|| Key::of(id)),
            is_failed: kind == Kind::ToolResult && id == "b",
            preview: format!("{tool} {words}").into(),
            ..new_item(role, kind, 100)
        }
    }

    #[test]
    fn calls_count_by_tool_command_server_and_skill() {
        let calls = [
            ("a", "Bash", "cd /w && git diff"),
            ("b", "Bash", "git log"),
            ("c", "mcp__docs__page", "url=x"),
            ("d", "Skill", "box:pack now"),
        ];
        let mut log = Log::new().timed();
        for (id, tool, words) in calls {
            log = log.node(
                &format!("{id}-call"),
                vec![item(Kind::ToolCall, tool, id, words)],
            );
            log = log.node(id, vec![item(Kind::ToolResult, tool, id, "")]);
        }
        let log = log.node("skill", vec![item(Kind::Skill, "", "", "the text")]);
        let log = log.node("put", vec![item(Kind::ToolResult, "file", "", "")]);
        let log = log.report(2_000).report(2_100);
        let carried = CarriedCost::by(&log.session, 2);
        let mut all = Uses::of(&log.session, &carried);
        all.add(&all.clone());
        let rows = |kind| -> Vec<(String, u64, u64)> {
            let of = all.by(kind).into_iter();
            let rows = of.map(|(name, of)| (name.to_owned(), of.calls, of.failed));
            let mut rows: Vec<_> = rows.collect();
            rows.sort();
            rows
        };
        let row = |name: &str, calls, failed| (name.to_owned(), calls, failed);
        assert_eq!(rows(UseKind::Command), [row("git", 4, 2)]);
        assert_eq!(rows(UseKind::Server), [row("docs", 2, 0)]);
        assert_eq!(rows(UseKind::Skill), [row("box:pack", 2, 0)]);
        let tools = [
            row("Bash", 4, 2),
            row("Skill", 2, 0),
            row("mcp__docs__page", 2, 0),
        ];
        assert_eq!(rows(UseKind::Tool), tools);
        let (skill, tool) = (all.by(UseKind::Skill)[0].1, all.by(UseKind::Tool));
        // The skill's text is sent too.
        let call = tool.iter().find(|(name, _)| *name == "Skill").unwrap().1;
        assert!(
            skill.carried > call.carried && call.carried >= 2 * call.tokens,
            "{all:?}"
        );
        assert!(skill.median_seconds().is_some_and(|seconds| seconds > 0.0));
    }
}
