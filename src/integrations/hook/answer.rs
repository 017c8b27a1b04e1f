//! Writes a hook's answer in the form that each agent reads. An agent that gets no answer goes on as without a hook.

use super::{Event, HookMoment};
use crate::agent::Agent;
use serde_json::{Map, Value, json};

/// The message of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookMessage {
    /// A sentence for the user.
    ToUser(String),
    /// A sentence for the user, and one for the model, where the agent passes it on. That has no text of the log but names
    /// of tools: a model may take it for an instruction.
    ToBoth(String, String),
    /// The prompt is not sent, and why.
    Block(String),
}

impl HookMessage {
    /// Returns the message after another sentence.
    #[must_use]
    pub fn after(self, sentence: &str) -> HookMessage {
        let joined = |text: String| format!("{sentence}\n{text}");
        match self {
            HookMessage::ToUser(text) => HookMessage::ToUser(joined(text)),
            HookMessage::ToBoth(text, model) => HookMessage::ToBoth(joined(text), model),
            HookMessage::Block(text) => HookMessage::Block(joined(text)),
        }
    }
}

/// Returns the JSON that says it, on a line; `None`: this agent shows nothing at this moment.
pub fn answer(event: &Event, say: &HookMessage) -> Option<String> {
    let value = match event.agent {
        Agent::ClaudeCode | Agent::Codex | Agent::QwenCode => common(event, say, "block")?,
        Agent::GeminiCli => common(event, say, "deny")?,
        Agent::Cursor => cursor(event, say),
        Agent::CopilotCli => copilot(say),
        Agent::OpenCode | Agent::Pi => return None,
    };
    Some(value.to_string())
}

/// Returns the answer in the form that Claude Code began and others took over.
fn common(event: &Event, say: &HookMessage, block: &str) -> Option<Value> {
    // Claude Code takes the output of its hook before a compaction for instructions for the summary.
    if event.moment == HookMoment::BeforeCompaction && event.agent == Agent::ClaudeCode {
        return None;
    }
    let mut fields = Map::new();
    match say {
        HookMessage::Block(why) => {
            fields.insert("decision".into(), block.into());
            fields.insert("reason".into(), why.as_str().into());
        }
        HookMessage::ToUser(text) | HookMessage::ToBoth(text, _) => {
            fields.insert("systemMessage".into(), text.as_str().into());
        }
    }
    if let (HookMessage::ToBoth(_, text), HookMoment::Prompt) = (say, event.moment) {
        let more = json!({ "hookEventName": event.name, "additionalContext": text });
        fields.insert("hookSpecificOutput".into(), more);
    }
    Some(Value::Object(fields))
}

fn cursor(event: &Event, say: &HookMessage) -> Value {
    let (HookMessage::ToUser(text) | HookMessage::ToBoth(text, _) | HookMessage::Block(text)) = say;
    match (say, event.moment) {
        (HookMessage::Block(_), _) => json!({ "continue": false, "user_message": text }),
        (_, HookMoment::Prompt) => json!({ "continue": true, "user_message": text }),
        _ => json!({ "user_message": text }),
    }
}

/// Returns the answer for Copilot. It takes none at a prompt and before a compaction, but shows lines of this form.
fn copilot(say: &HookMessage) -> Value {
    let (HookMessage::ToUser(text) | HookMessage::ToBoth(text, _) | HookMessage::Block(text)) = say;
    json!({ "type": "progress", "message": text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(agent: Agent, name: &str, moment: HookMoment, say: &HookMessage) -> Option<Value> {
        let event = Event {
            agent,
            moment,
            name: name.to_owned(),
            session: None,
            log: None,
            model: None,
            version: None,
            cause: None,
            window: None,
            size: None,
            reported: None,
            context: None,
            is_sub_agent: false,
        };
        let line = answer(&event, say)?;
        assert!(!line.contains('\n'));
        Some(serde_json::from_str(&line).unwrap())
    }

    #[test]
    fn a_sentence_is_for_the_user_and_for_the_model_where_that_was_asked_for() {
        let text = "84% of 167k";
        let both = |text: String| HookMessage::ToBoth(text.clone(), text);
        let prompt = |agent, name, say: fn(String) -> HookMessage| {
            said(agent, name, HookMoment::Prompt, &say(text.to_owned())).unwrap()
        };
        for agent in [Agent::ClaudeCode, Agent::Codex, Agent::QwenCode] {
            assert_eq!(
                prompt(agent, "UserPromptSubmit", HookMessage::ToUser),
                json!({ "systemMessage": text })
            );
            assert_eq!(
                prompt(agent, "UserPromptSubmit", both)["hookSpecificOutput"],
                json!({ "hookEventName": "UserPromptSubmit", "additionalContext": text })
            );
        }
        let gemini = prompt(Agent::GeminiCli, "BeforeAgent", both);
        assert_eq!(gemini["hookSpecificOutput"]["hookEventName"], "BeforeAgent");
        let cursor = prompt(Agent::Cursor, "beforeSubmitPrompt", both);
        assert_eq!(cursor, json!({ "continue": true, "user_message": text }));
        let copilot = prompt(Agent::CopilotCli, "", HookMessage::ToUser);
        assert_eq!(copilot, json!({ "type": "progress", "message": text }));
    }

    #[test]
    fn nothing_but_a_block_blocks() {
        for (agent, name) in [
            (Agent::ClaudeCode, "UserPromptSubmit"),
            (Agent::Codex, "UserPromptSubmit"),
            (Agent::QwenCode, "UserPromptSubmit"),
            (Agent::GeminiCli, "BeforeAgent"),
            (Agent::Cursor, "beforeSubmitPrompt"),
            (Agent::CopilotCli, ""),
        ] {
            let text = || "full".to_owned();
            for say in [
                HookMessage::ToUser(text()),
                HookMessage::ToBoth(text(), text()),
            ] {
                let said = said(agent, name, HookMoment::Prompt, &say).unwrap();
                let blocks = said.get("decision").is_some() || said["continue"] == false;
                assert!(!blocks, "{agent:?}: {said}");
            }
            let block = said(agent, name, HookMoment::Prompt, &HookMessage::Block(text())).unwrap();
            let blocks = block.get("decision").is_some() || block["continue"] == false;
            assert_eq!(blocks, agent != Agent::CopilotCli, "{block}");
        }
    }

    #[test]
    fn nothing_becomes_part_of_a_summary_or_is_added_to_it() {
        let say = HookMessage::ToBoth("full".to_owned(), "full".to_owned());
        let before = |agent| said(agent, "PreCompact", HookMoment::BeforeCompaction, &say);
        assert_eq!(before(Agent::ClaudeCode), None);
        assert_eq!(
            before(Agent::Codex),
            Some(json!({ "systemMessage": "full" }))
        );
        let after = said(
            Agent::ClaudeCode,
            "PostCompact",
            HookMoment::AfterCompaction,
            &say,
        );
        assert_eq!(after, Some(json!({ "systemMessage": "full" })));
    }
}
