//! Defines the places of agents' settings.

use super::Part;
use super::json::Syntax;
use crate::agent::Agent;
use files::paths::User;
use std::path::PathBuf;

/// The form of a file of settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// JSON, with what else the agent takes.
    Json(Syntax),
    /// TOML.
    Toml,
}

/// A file of settings, below the agent's folder.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub(super) below: &'static str,
    pub(super) form: Form,
    /// True if the agent reads it with a byte order mark before it.
    pub(super) takes_mark: bool,
}

/// Returns the file in which a part is entered; `None`: the agent does not have it.
///
/// Claude Code keeps its servers in a file of its own state that it rewrites all the time: `claude mcp add` is the way in.
pub(super) fn place(agent: Agent, part: Part) -> Option<Place> {
    let (below, form) = match (agent, part) {
        // Tried with 2.1.332, which skips a file that has more.
        (Agent::ClaudeCode, Part::StatusLine | Part::Hooks) => {
            ("settings.json", Form::Json(Syntax::Plain))
        }
        (Agent::GeminiCli, Part::Hooks | Part::Server)
        | (Agent::QwenCode, Part::StatusLine | Part::Hooks | Part::Server) => {
            ("settings.json", Form::Json(Syntax::Comments))
        }
        (Agent::CopilotCli, Part::StatusLine) => ("settings.json", Form::Json(Syntax::Loose)),
        (Agent::Cursor, Part::StatusLine) => ("cli-config.json", Form::Json(Syntax::Loose)),
        (Agent::Codex, Part::Hooks) => ("hooks.json", Form::Json(Syntax::Plain)),
        (Agent::Cursor, Part::Hooks) => ("hooks.json", Form::Json(Syntax::Loose)),
        (Agent::CopilotCli, Part::Hooks) => ("hooks/ctxgauge.json", Form::Json(Syntax::Loose)),
        (Agent::Codex, Part::Server) => ("config.toml", Form::Toml),
        (Agent::Cursor, Part::Server) => ("mcp.json", Form::Json(Syntax::Loose)),
        // Tried with 1.5.2, which starts no server of a file that has more.
        (Agent::Pi, Part::Server) => ("mcp.json", Form::Json(Syntax::Plain)),
        (Agent::CopilotCli, Part::Server) => ("mcp-config.json", Form::Json(Syntax::Loose)),
        (Agent::OpenCode, Part::Server) => ("opencode.json", Form::Json(Syntax::Loose)),
        (Agent::ClaudeCode, Part::Server)
        | (Agent::Codex | Agent::GeminiCli, Part::StatusLine)
        | (Agent::OpenCode | Agent::Pi, Part::StatusLine | Part::Hooks)
        | (_, Part::Plugin) => return None,
    };
    // Tried with Codex 0.171.0 and Gemini CLI 0.61.0; the other agents read such files.
    let takes_mark = !matches!(
        (agent, part),
        (Agent::GeminiCli, _) | (Agent::Codex, Part::Hooks)
    );
    Some(Place {
        below,
        form,
        takes_mark,
    })
}

/// The folder of the plugin for Claude Code, below that agent's.
pub(super) const PLUGIN: &str = "skills/ctxgauge";

/// Returns the folder of an agent's settings; `None`: the user has no home.
pub(super) fn folder(agent: Agent, user: &User) -> Option<PathBuf> {
    let set = |name: &str| user.env.get(name).map(PathBuf::from);
    let home = |below: &str| Some(user.folders.home.as_ref()?.join(below));
    match agent {
        Agent::ClaudeCode => set("CLAUDE_CONFIG_DIR").or_else(|| home(".claude")),
        Agent::Codex => set("CODEX_HOME").or_else(|| home(".codex")),
        Agent::GeminiCli => match set("GEMINI_CLI_HOME") {
            Some(folder) => Some(folder.join(".gemini")),
            None => home(".gemini"),
        },
        Agent::QwenCode => set("QWEN_HOME").or_else(|| home(".qwen")),
        Agent::Cursor => home(".cursor"),
        Agent::CopilotCli => set("COPILOT_HOME").or_else(|| home(".copilot")),
        Agent::OpenCode => Some(user.folders.xdg_config.as_ref()?.join("opencode")),
        Agent::Pi => set("PI_CODING_AGENT_DIR").or_else(|| home(".pi/agent")),
    }
}
