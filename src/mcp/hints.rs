//! What a client says about itself and its session, as tried with Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0
//! and OpenCode 1.18.33.

use rmcp::model::JsonObject;
use serde_json::Value;

/// What is known of whoever has made a call.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Hints {
    /// The client's name for itself.
    pub(crate) client: Option<String>,
    /// The id of the session that the client names in the call. Codex does.
    pub(crate) thread: Option<String>,
    /// The id of the tool call in the log. Claude Code gives it.
    pub(crate) call: Option<String>,
}

impl Hints {
    /// What a client's name and the metadata of a call say.
    pub(crate) fn of(client: Option<String>, meta: &JsonObject) -> Hints {
        let text = |name: &str| meta.get(name).and_then(Value::as_str).map(str::to_owned);
        Hints {
            client,
            thread: text("threadId"),
            call: text("claudecode/toolUseId"),
        }
    }

    /// Whether the client's name is that of an agent, by its id: `codex-mcp-client` is `codex`.
    pub(crate) fn is(&self, agent: &str) -> bool {
        let client = self.client.as_deref().unwrap_or_default();
        client.to_ascii_lowercase().contains(agent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_client_says_what_it_says() {
        let of = |client: &str, meta: Value| {
            Hints::of(Some(client.to_owned()), meta.as_object().unwrap())
        };
        let claude = of(
            "claude-code",
            serde_json::json!({"claudecode/toolUseId": "toolu_1", "progressToken": 2}),
        );
        assert_eq!(claude.call.as_deref(), Some("toolu_1"));
        assert!(claude.is("claude-code") && !claude.is("codex"));
        let codex = of(
            "codex-mcp-client",
            serde_json::json!({"callId": "call_1", "threadId": "01a2"}),
        );
        assert_eq!(codex.thread.as_deref(), Some("01a2"));
        assert!(codex.is("codex"));
        let other = of("mcp", serde_json::json!({"threadId": 7}));
        assert_eq!((other.thread, other.call), (None, None));
    }
}
