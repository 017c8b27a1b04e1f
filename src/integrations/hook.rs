//! The JSON that a hook is given.
//!
//! Six agents run commands at moments of a session and hand them an object. Which of them it was is read from the
//! fields that only it has, and from the names of its events. Only a few events concern a context; the others are
//! passed over.

mod answer;
mod context;

use super::agent::Agent;
use super::fields::{NoInput, id, path, read_fields, tokens, window, word};
pub use answer::{HookMessage, answer};
pub use context::ClientContext;
use serde_json::{Map, Value};
use std::path::PathBuf;

/// The moment at which a hook is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HookMoment {
    /// The user has sent a prompt, and the model does not have it yet.
    Prompt,
    /// The agent is about to compact. Gemini CLI is at every request.
    BeforeCompaction,
    /// The agent has compacted.
    AfterCompaction,
    /// The agent has done what it was asked to.
    TurnEnd,
    /// The agent says what it knows of its context.
    Context,
    /// Anything else.
    Other,
}

/// The event that a hook was given.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The agent that ran the hook.
    pub agent: Agent,
    /// The moment of the event.
    pub moment: HookMoment,
    /// The event's name, as the answer repeats it; empty: the agent does not name it.
    pub name: String,
    /// The session's id.
    pub session: Option<String>,
    /// The path of the log.
    pub log: Option<PathBuf>,
    /// The model's id, as the client writes it.
    pub model: Option<String>,
    /// The agent's version.
    pub version: Option<String>,
    /// The cause of a compaction, in the agent's word: `auto` or `manual`.
    pub cause: Option<String>,
    /// The window, in tokens.
    pub window: Option<u64>,
    /// The size of the context as the agent estimates it, in tokens.
    pub size: Option<u64>,
    /// The prompt of the newest request as the provider reported it, in tokens. At the end of a turn the log may not have
    /// it yet.
    pub reported: Option<u64>,
    /// The agent's statement about its context.
    pub context: Option<ClientContext>,
    /// True if the event is of a sub-agent: neither the session's prompt nor its context.
    pub is_sub_agent: bool,
}

/// Reads what an agent passes to a hook; `None`: it is of no agent that is known.
///
/// # Errors
///
/// If it is no JSON object.
pub fn read(input: &[u8]) -> Result<Option<Event>, NoInput> {
    Ok(of(&read_fields(input)?))
}

fn of(fields: &Map<String, Value>) -> Option<Event> {
    let name = word(fields, "hook_event_name").unwrap_or_default();
    let agent = agent(fields, &name)?;
    let session = match agent {
        Agent::Cursor => id(fields, "conversation_id").or_else(|| id(fields, "session_id")),
        Agent::CopilotCli => id(fields, "sessionId").or_else(|| id(fields, "session_id")),
        _ => id(fields, "session_id"),
    };
    let moment = if name.is_empty() {
        unnamed_moment(fields)
    } else {
        moment(&name)
    };
    let windows = ["context_window_size", "context_limit", "window"];
    Some(Event {
        agent,
        moment,
        session,
        log: path(fields, "transcript_path").or_else(|| path(fields, "transcriptPath")),
        model: word(fields, "model"),
        version: word(fields, "cursor_version").or_else(|| word(fields, "version")),
        cause: word(fields, "trigger"),
        window: windows.iter().find_map(|name| window(fields, name)),
        size: tokens(fields, "context_tokens").filter(|size| *size > 0),
        reported: tokens(fields, "input_tokens")
            .filter(|prompt| *prompt > 0 && agent == Agent::QwenCode),
        context: (moment == HookMoment::Context)
            .then(|| context::read(fields))
            .flatten(),
        is_sub_agent: fields.get("agent_id").is_some_and(|id| !id.is_null()),
        name,
    })
}

/// Returns the agent that these fields are from.
fn agent(fields: &Map<String, Value>, name: &str) -> Option<Agent> {
    let has = |name: &str| fields.contains_key(name);
    if has("sessionId") {
        return Some(Agent::CopilotCli);
    }
    if has("cursor_version") || has("conversation_id") {
        return Some(Agent::Cursor);
    }
    if !has("session_id") || name.is_empty() {
        return None;
    }
    match name {
        "BeforeAgent" | "AfterAgent" | "PreCompress" => return Some(Agent::GeminiCli),
        context::EVENT => return Some(Agent::ClaudeCode),
        _ => {}
    }
    match (has("timestamp"), has("permission_mode"), has("turn_id")) {
        (true, true, _) => Some(Agent::QwenCode),
        // As it passes events whose names are written as Claude Code's.
        (true, false, _) => Some(Agent::CopilotCli),
        (false, _, true) => Some(Agent::Codex),
        (false, _, false) => has("transcript_path").then_some(Agent::ClaudeCode),
    }
}

fn moment(name: &str) -> HookMoment {
    match name {
        "UserPromptSubmit" | "BeforeAgent" | "beforeSubmitPrompt" => HookMoment::Prompt,
        "PreCompact" | "PreCompress" | "preCompact" => HookMoment::BeforeCompaction,
        "PostCompact" => HookMoment::AfterCompaction,
        "Stop" | "AfterAgent" | "stop" => HookMoment::TurnEnd,
        context::EVENT => HookMoment::Context,
        _ => HookMoment::Other,
    }
}

/// Returns the moment of an event without a name. Copilot does not name the event in its own form.
fn unnamed_moment(fields: &Map<String, Value>) -> HookMoment {
    let has = |name: &str| fields.contains_key(name);
    if has("trigger") {
        HookMoment::BeforeCompaction
    } else if has("stopReason") && !has("agentName") {
        HookMoment::TurnEnd
    } else if has("prompt") && !has("transformedPrompt") {
        HookMoment::Prompt
    } else {
        HookMoment::Other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client_record::RecordedCompaction;
    use proptest::prelude::*;

    const CLAUDE: &str = r#"{"session_id":"3f2a","transcript_path":"/h/.claude/projects/-p/3f2a.jsonl","cwd":"/p",
        "prompt_id":"65162a41","permission_mode":"default","hook_event_name":"UserPromptSubmit","prompt":"Go on."}"#;
    const CLAUDE_AFTER: &str = r#"{"session_id":"3f2a","transcript_path":"/h/.claude/projects/-p/3f2a.jsonl","cwd":"/p",
        "prompt_id":"65162a41","hook_event_name":"PostCompact","trigger":"manual","compact_summary":"…"}"#;
    const CODEX: &str = r#"{"session_id":"01a2","turn_id":"01a3","transcript_path":"/h/.codex/sessions/rollout-01a2.jsonl",
        "cwd":"/p","hook_event_name":"PreCompact","model":"gpt-5.5","trigger":"auto"}"#;
    const GEMINI: &str = r#"{"session_id":"841f","transcript_path":"/h/.gemini/tmp/p/chats/session-841f.jsonl","cwd":"/p",
        "hook_event_name":"PreCompress","timestamp":"2026-11-24T11:07:43.596Z","trigger":"auto"}"#;
    const QWEN: &str = r#"{"session_id":"99de","transcript_path":"/h/.qwen/projects/-p/chats/99de.jsonl","cwd":"/p",
        "hook_event_name":"Stop","timestamp":"2026-11-24T11:08:01.222Z","permission_mode":"yolo","stop_hook_active":false,
        "last_assistant_message":"Done.","context_usage":0.55441,"context_limit":100000,"input_tokens":55441}"#;
    const CURSOR: &str = r#"{"conversation_id":"c0de","generation_id":"g1","hook_event_name":"preCompact",
        "cursor_version":"2026.09","workspace_roots":["/p"],"transcript_path":null,"model":"composer-2","trigger":"auto",
        "context_usage_percent":85,"context_tokens":170000,"context_window_size":200000,"message_count":45,
        "messages_to_compact":30,"is_first_compaction":true}"#;
    const COPILOT: &str = r#"{"sessionId":"4c5d","timestamp":1795518822040,"cwd":"/p",
        "transcriptPath":"/h/.copilot/session-state/4c5d/events.jsonl","trigger":"auto","customInstructions":""}"#;
    const COPILOT_PROMPT: &str =
        r#"{"sessionId":"4c5d","timestamp":1795518821222,"cwd":"/p","prompt":"Go on."}"#;

    fn event(text: &str) -> Event {
        read(text.as_bytes()).expect("an object").expect("an event")
    }

    #[test]
    fn six_agents_are_told_apart_by_their_fields() {
        let of = |text| {
            let event = event(text);
            (event.agent, event.moment, event.session.unwrap_or_default())
        };
        let cases = [
            (CLAUDE, Agent::ClaudeCode, HookMoment::Prompt, "3f2a"),
            (
                CLAUDE_AFTER,
                Agent::ClaudeCode,
                HookMoment::AfterCompaction,
                "3f2a",
            ),
            (CODEX, Agent::Codex, HookMoment::BeforeCompaction, "01a2"),
            (
                GEMINI,
                Agent::GeminiCli,
                HookMoment::BeforeCompaction,
                "841f",
            ),
            (QWEN, Agent::QwenCode, HookMoment::TurnEnd, "99de"),
            (CURSOR, Agent::Cursor, HookMoment::BeforeCompaction, "c0de"),
            (
                COPILOT,
                Agent::CopilotCli,
                HookMoment::BeforeCompaction,
                "4c5d",
            ),
            (
                COPILOT_PROMPT,
                Agent::CopilotCli,
                HookMoment::Prompt,
                "4c5d",
            ),
        ];
        for (text, agent, moment, session) in cases {
            assert_eq!(of(text), (agent, moment, session.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_agents_say_of_the_context_is_read() {
        let (qwen, cursor) = (event(QWEN), event(CURSOR));
        assert_eq!((qwen.window, qwen.size), (Some(100_000), None));
        assert_eq!((cursor.window, cursor.size), (Some(200_000), Some(170_000)));
        assert_eq!(cursor.version.as_deref(), Some("2026.09"));
        assert_eq!(cursor.log, None);
        assert_eq!(event(COPILOT).cause.as_deref(), Some("auto"));
        assert!(event(COPILOT).log.is_some());
        assert_eq!(event(CLAUDE_AFTER).cause.as_deref(), Some("manual"));
        assert!(!event(CLAUDE).is_sub_agent);
        let sub = CLAUDE.replace("\"cwd\"", "\"agent_id\":\"a1\",\"cwd\"");
        assert!(event(&sub).is_sub_agent);
    }

    const CONTEXT: &str = r#"{"hook_event_name":"CtxgaugeContext","session_id":"3f2a","model":"claude-opus-4-6","version":
        "2.1.331","window":200000,"breakdown":{"categories":[{"name":"System prompt","tokens":7064,"kind":"used"},
        {"name":"System tools (deferred)","tokens":10342,"kind":"deferred"},{"name":"Messages","tokens":18756,"kind":"used"},
        {"name":"Autocompact buffer","tokens":33000,"kind":"buffer"},{"name":"Free space","tokens":47879,"kind":"free"}],
        "totalTokens":38038,"autoCompactThreshold":67000,"isAutoCompactEnabled":true}}"#;

    #[test]
    fn what_claude_code_says_of_its_context_is_read_or_nothing_of_it() {
        let said = |text: &str| {
            let event = event(text);
            assert_eq!(
                (event.agent, event.moment),
                (Agent::ClaudeCode, HookMoment::Context)
            );
            event.context
        };
        let whole = said(CONTEXT).expect("a context");
        assert_eq!(whole.compaction, RecordedCompaction::At(67_000));
        assert_eq!(whole.tokens, 38_038);
        let parts = [
            ("System prompt".to_owned(), 7_064),
            ("Messages".to_owned(), 18_756),
        ];
        assert_eq!(whole.parts, parts);
        let other = |from: &str, to: &str| {
            assert!(CONTEXT.contains(from));
            said(&CONTEXT.replace(from, to)).map(|said| said.compaction)
        };
        assert_eq!(
            other("\"kind\":\"buffer\"", "\"kind\":\"free\""),
            Some(RecordedCompaction::WhenRefused)
        );
        assert_eq!(
            other("Enabled\":true", "Enabled\":false"),
            Some(RecordedCompaction::Off)
        );
        for (from, to) in [
            ("isAutoCompactEnabled", "isAutoCompact"),
            ("autoCompactThreshold", "threshold"),
            ("67000", "670000"),
            ("67000", "0"),
            ("\"categories\":[", "\"categories\":[7,"),
            ("\"tokens\":7064", "\"tokens\":\"7064\""),
            ("\"window\":200000", "\"window\":null"),
            ("\"totalTokens\":38038", "\"totalTokens\":-1"),
        ] {
            assert_eq!(other(from, to), None, "{to}");
        }
    }

    #[test]
    fn events_of_other_kinds_are_other_moments() {
        for (text, from, to) in [
            (CLAUDE, "UserPromptSubmit", "PreToolUse"),
            (CODEX, "PreCompact", "SessionStart"),
            (COPILOT, "\"trigger\"", "\"toolName\""),
        ] {
            assert_eq!(
                event(&text.replace(from, to)).moment,
                HookMoment::Other,
                "{to}"
            );
        }
        let sub = COPILOT.replace(
            "\"trigger\":\"auto\"",
            "\"agentName\":\"task\",\"stopReason\":\"end_turn\"",
        );
        assert_eq!(event(&sub).moment, HookMoment::Other);
    }

    #[test]
    fn every_cut_is_named_and_other_objects_are_of_nobody() {
        for text in [CLAUDE, CODEX, GEMINI, QWEN, CURSOR, COPILOT] {
            for end in 1..text.len() {
                let cut = text.as_bytes().get(..end).unwrap_or_default();
                assert_eq!(read(cut), Err(NoInput::Cut), "{end}");
            }
        }
        assert_eq!(read(b"{}"), Ok(None));
        assert_eq!(read(b"{\"session_id\":\"3f2a\"}"), Ok(None));
        assert_eq!(read(b"null"), Err(NoInput::Other));
    }

    proptest! {
        #[test]
        fn any_fields_are_read(
            fields in prop::collection::vec(
                (
                    prop::sample::select(vec![
                        "session_id", "sessionId", "conversation_id", "hook_event_name", "timestamp", "permission_mode",
                        "turn_id", "trigger", "transcript_path", "context_tokens", "context_limit", "agent_id", "prompt",
                    ]),
                    prop_oneof![
                        Just(Value::Null),
                        any::<i64>().prop_map(Value::from),
                        any::<f64>().prop_map(Value::from),
                        ".{0,12}".prop_map(Value::from),
                        Just(Value::from("PreCompact")),
                        Just(Value::from(vec![1])),
                    ],
                ),
                0..12,
            ),
        ) {
            let fields: Map<String, Value> =
                fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
            let read = read(Value::Object(fields).to_string().as_bytes());
            prop_assert!(read.is_ok());
        }
    }
}
