//! Adds our entries to settings that are JSON, and finds them again.

use super::json::{Json, Syntax, field, texts};
use super::program::chained_in;
use super::{OtherCommand, Part, Program, Refusal};
use crate::agent::Agent;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject};
use jsonc_parser::json;
use std::iter;
use std::path::Path;

/// The reason for which a file is left unchanged.
pub(super) enum SkipReason {
    /// It is not clear what is set there, or it is not ours.
    Unclear(String),
    /// Another status line is set.
    Other(String),
}

impl SkipReason {
    pub(super) fn in_file(self, path: &Path) -> Refusal {
        let path = path.to_path_buf();
        match self {
            SkipReason::Unclear(why) => Refusal::Unclear { path, why },
            SkipReason::Other(command) => Refusal::OtherStatusLine { path, command },
        }
    }

    /// The key of this name has another value than expected.
    fn shape(name: &str) -> SkipReason {
        let why = format!("its `{name}` is not what it is in the agent's documentation");
        SkipReason::Unclear(why)
    }
}

/// Enters a part. What is there already stays as it is.
pub(super) fn enter(
    json: &Json,
    agent: Agent,
    part: Part,
    program: &Program,
    other: OtherCommand,
) -> Result<(), SkipReason> {
    let root = json.object();
    match part {
        Part::StatusLine => enter_status_line(&root, agent, program, other),
        Part::Hooks => enter_hooks(&root, agent, program),
        Part::Server => enter_server(&root, agent, program),
        Part::Plugin => Ok(()),
    }
}

/// Takes a part out, if it is there. What is not ours stays as it is.
pub(super) fn take_out(json: &Json, agent: Agent, part: Part, program: &Program) -> bool {
    let root = json.object();
    let is_out = match part {
        Part::StatusLine => take_out_status_line(&root, agent, program),
        Part::Hooks => take_out_hooks(&root, agent, program),
        Part::Server => take_out_server(&root, agent, program),
        Part::Plugin => None,
    };
    is_out.is_some()
}

/// Returns true if nothing is left but the version that we write into a new file.
pub(super) fn is_empty(text: &str) -> bool {
    let Ok(json) = Json::read(text, Syntax::Loose) else {
        return false;
    };
    let fields = json.object().properties();
    let mut names = fields.iter().filter_map(|field| field.decoded_name());
    !text.contains("//") && !text.contains("/*") && names.all(|name| name == VERSION)
}

/// The name of the server.
pub(super) const NAME: &str = "ctxgauge";
/// The reason for which the server is not entered.
pub(super) const NAME_IS_TAKEN: &str =
    "it has another server called `ctxgauge`; give that another name, or remove it";
const STATUS_LINE: &str = "statusLine";
const HOOKS: &str = "hooks";
/// The command of each hook.
const HOOK: &str = "hook";
const VERSION: &str = "version";

fn object(of: &CstObject, name: &str) -> Result<CstObject, SkipReason> {
    let made = of.object_value_or_create(name);
    made.ok_or_else(|| SkipReason::shape(name))
}

fn remove(from: &CstObject, name: &str) {
    if let Some(field) = from.get(name) {
        field.remove();
    }
}

fn remove_if_empty(from: &CstObject, name: &str) {
    let is_empty = match from.get(name).and_then(|field| field.value()) {
        Some(value) => value.children_exclude_trivia_and_tokens().is_empty(),
        None => false,
    };
    if is_empty {
        remove(from, name);
    }
}

/// Returns the object that has the status line.
fn line_holder(agent: Agent) -> Option<&'static str> {
    (agent == Agent::QwenCode).then_some("ui")
}

fn enter_status_line(
    root: &CstObject,
    agent: Agent,
    program: &Program,
    other: OtherCommand,
) -> Result<(), SkipReason> {
    let ours = program.command("statusline");
    let fresh = match agent {
        Agent::QwenCode => {
            // It does not run it again when an answer is complete.
            json!({ "type": "command", "command": ours, "refreshInterval": 2, "respectUserColors": true })
        }
        _ => json!({ "type": "command", "command": ours }),
    };
    let holder = match line_holder(agent) {
        Some(name) => object(root, name)?,
        None => root.clone(),
    };
    let Some(field_of_it) = holder.get(STATUS_LINE) else {
        holder.append(STATUS_LINE, fresh);
        return Ok(());
    };
    let set = field_of_it.object_value();
    let command = set.as_ref().and_then(|set| field(set, "command"));
    match (command, other) {
        (Some(command), _) if program.is_in(&command, "statusline") => {}
        (_, OtherCommand::Replace) => field_of_it.set_value(fresh),
        (Some(command), OtherCommand::Chain) => {
            if let Some(field) = set.and_then(|set| set.get("command")) {
                field.set_value(program.chained(&command).into());
            }
        }
        // Qwen Code has status lines that are no commands.
        (None, OtherCommand::Chain | OtherCommand::Refuse) => {
            return Err(SkipReason::Other("(no command)".to_owned()));
        }
        (Some(command), OtherCommand::Refuse) => return Err(SkipReason::Other(command)),
    }
    Ok(())
}

fn take_out_status_line(root: &CstObject, agent: Agent, program: &Program) -> Option<()> {
    let holder = match line_holder(agent) {
        Some(name) => root.object_value(name)?,
        None => root.clone(),
    };
    let set = holder.object_value(STATUS_LINE)?;
    let command = field(&set, "command")?;
    if !program.is_all_of(&command, "statusline") {
        return None;
    }
    match (chained_in(&command), set.get("command")) {
        (Some(other), Some(field)) => field.set_value(other.into()),
        _ => remove(&holder, STATUS_LINE),
    }
    if let Some(name) = line_holder(agent) {
        remove_if_empty(root, name);
    }
    Some(())
}

/// Returns the events of an agent whose hooks are ours.
fn events(agent: Agent) -> &'static [&'static str] {
    match agent {
        Agent::ClaudeCode | Agent::Codex => &["UserPromptSubmit", "PreCompact", "PostCompact"],
        Agent::QwenCode => &["UserPromptSubmit", "PreCompact", "PostCompact", "Stop"],
        Agent::GeminiCli => &["BeforeAgent", "PreCompress"],
        Agent::Cursor => &["beforeSubmitPrompt", "preCompact"],
        Agent::CopilotCli => &["userPromptSubmitted", "preCompact"],
        Agent::OpenCode | Agent::Pi => &[],
    }
}

/// Returns a hook as the agent has it.
fn hook(agent: Agent, program: &Program) -> CstInputValue {
    let command = program.command(HOOK);
    match agent {
        Agent::Cursor => json!({ "command": command }),
        Agent::CopilotCli => {
            let same = command.clone();
            json!({ "type": "command", "bash": command, "powershell": same, "timeoutSec": 5 })
        }
        // In milliseconds.
        Agent::GeminiCli => {
            json!({ "hooks": [{ "type": "command", "command": command, "timeout": 5000 }] })
        }
        _ => json!({ "hooks": [{ "type": "command", "command": command, "timeout": 5 }] }),
    }
}

fn enter_hooks(root: &CstObject, agent: Agent, program: &Program) -> Result<(), SkipReason> {
    let has_version = matches!(agent, Agent::Cursor | Agent::CopilotCli);
    if has_version && root.get(VERSION).is_none() {
        root.insert(0, VERSION, json!(1));
    }
    let hooks = object(root, HOOKS)?;
    for event in events(agent) {
        let all = hooks
            .array_value_or_create(event)
            .ok_or_else(|| SkipReason::shape(&format!("{HOOKS}.{event}")))?;
        let runs_ours = |command: &str| program.is_in(command, HOOK);
        let is_there = all.elements().iter().any(|node| has(node, &runs_ours));
        if !is_there {
            all.append(hook(agent, program));
        }
    }
    Ok(())
}

/// Returns true if a hook, or one of a group of them, has such a command.
fn has(node: &CstNode, is_it: &impl Fn(&str) -> bool) -> bool {
    let Some(object) = node.as_object() else {
        return false;
    };
    let mut inner = group(&object).into_iter().flat_map(|all| all.elements());
    runs(&object, is_it) || inner.any(|node| has(&node, is_it))
}

/// Returns true if a hook itself has such a command.
fn runs(hook: &CstObject, is_it: &impl Fn(&str) -> bool) -> bool {
    let commands = ["command", "bash"].map(|name| field(hook, name));
    commands.iter().flatten().any(|command| is_it(command))
}

fn group(object: &CstObject) -> Option<CstArray> {
    object.array_value(HOOKS)
}

fn take_out_hooks(root: &CstObject, agent: Agent, program: &Program) -> Option<()> {
    let hooks = root.object_value(HOOKS)?;
    let is_ours = |command: &str| program.is_all_of(command, HOOK);
    let mut is_out = None;
    for event in events(agent) {
        let Some(all) = hooks.array_value(event) else {
            continue;
        };
        let all = all.elements().into_iter();
        let ours: Vec<CstNode> = all.filter(|node| has(node, &is_ours)).collect();
        for node in &ours {
            take_out_hook(node, &is_ours);
        }
        if !ours.is_empty() {
            is_out = Some(());
            remove_if_empty(&hooks, event);
        }
    }
    is_out?;
    remove_if_empty(root, HOOKS);
    is_out
}

/// Takes a hook out, or those of a group that are ours. A group of others stays.
fn take_out_hook(node: &CstNode, is_ours: &impl Fn(&str) -> bool) {
    let group = node.as_object().and_then(|object| group(&object));
    for inner in group.iter().flat_map(CstArray::elements) {
        if inner.as_object().is_some_and(|hook| runs(&hook, is_ours)) {
            inner.remove();
        }
    }
    if group.is_none_or(|group| group.elements().is_empty()) {
        node.clone().remove();
    }
}

fn servers_key(agent: Agent) -> &'static str {
    match agent {
        Agent::OpenCode => "mcp",
        _ => "mcpServers",
    }
}

fn enter_server(root: &CstObject, agent: Agent, program: &Program) -> Result<(), SkipReason> {
    let servers = object(root, servers_key(agent))?;
    if let Some(server) = servers.get(NAME) {
        let call = server.object_value().and_then(|server| call(&server));
        let is_there = call.is_some_and(|call| program.is_server(&call));
        let taken = || SkipReason::Unclear(NAME_IS_TAKEN.to_owned());
        return is_there.then_some(()).ok_or_else(taken);
    }
    let call = program.server();
    let (command, arguments) = (call[0].as_str(), call[1..].to_vec());
    let server = match agent {
        Agent::OpenCode => json!({ "type": "local", "command": call, "enabled": true }),
        Agent::CopilotCli => {
            json!({ "type": "local", "command": command, "args": arguments, "tools": ["*"] })
        }
        _ => json!({ "command": command, "args": arguments }),
    };
    servers.append(NAME, server);
    Ok(())
}

/// The keys of a server that are entered. One with others is the user's.
const SERVER_KEYS: &[&str] = &["type", "command", "args", "tools", "enabled"];

fn take_out_server(root: &CstObject, agent: Agent, program: &Program) -> Option<()> {
    let name = servers_key(agent);
    let servers = root.object_value(name)?;
    let server = servers.get(NAME)?;
    let entry = server.object_value()?;
    let keys = entry.properties();
    let mut keys = keys.iter().filter_map(|field| field.decoded_name());
    let is_ours = program.is_server(&call(&entry)?);
    if !is_ours || !keys.all(|key| SERVER_KEYS.contains(&&*key)) {
        return None;
    }
    server.remove();
    remove_if_empty(root, name);
    Some(())
}

/// Returns the program of a server and its arguments.
fn call(server: &CstObject) -> Option<Vec<String>> {
    // OpenCode has both in one list.
    if let Some(command) = texts(server, "command") {
        return Some(command);
    }
    let program = field(server, "command")?;
    let arguments = texts(server, "args").unwrap_or_default();
    Some(iter::once(program).chain(arguments).collect())
}
