//! The formats that are built in: a file or a folder for each agent, and nothing else.

pub mod antigravity;
pub mod claude_code;
pub mod cline;
pub mod codex;
pub mod copilot_cli;
pub mod crush;
pub mod cursor;
pub mod droid;
pub mod gemini_cli;
pub mod goose;
pub mod grok;
pub mod hermes;
pub mod hpd_agent;
pub mod kimi;
pub mod kiro;
pub mod mew;
pub mod mistral_vibe;
pub mod mistral_vibe_2;
pub mod openclaw;
pub mod opencode;
pub mod openhands;
pub mod otel_genai;
pub mod ouro;
pub mod pi;
pub mod qwen_code;
pub mod request_log;
pub mod tasks;
pub mod vscode_gateway;
pub mod zed;

use formats::Format;

/// The formats that need code, in the order in which they are tried on a file.
pub static DECODERS: &[&Format] = &[
    &qwen_code::QWEN_CODE, // before Claude Code, whose records look like its own
    &claude_code::CLAUDE_CODE,
    &codex::CODEX,
    &gemini_cli::GEMINI_CLI,
    &antigravity::ANTIGRAVITY,
    &openclaw::OPENCLAW, // before pi, whose format it writes
    &pi::PI,
    &copilot_cli::COPILOT_CLI,
    &droid::DROID,
    &grok::GROK,
    &crush::CRUSH,
    &goose::GOOSE,
    &hermes::HERMES,
    &zed::ZED,
    &cursor::CURSOR,
    &cline::CLINE,
    &tasks::ROO_CODE,
    &tasks::KILO_CODE,
    &tasks::CLINE_TASKS,
    &otel_genai::OTEL_GENAI,
    &mew::MEW,
    &hpd_agent::HPD_AGENT,
    &openhands::OPENHANDS,
    &mistral_vibe::MISTRAL_VIBE,
    &mistral_vibe_2::MISTRAL_VIBE_2,
    &opencode::KILO, // before OpenCode, whose tables it has
    &opencode::OPENCODE,
    &vscode_gateway::VSCODE_GATEWAY, // before raw requests, which it may contain
    &request_log::REQUEST_LOG,
    &ouro::OURO,
    &kiro::KIRO,
    &kimi::KIMI,
];
