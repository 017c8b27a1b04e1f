//! Reads the hints that a client gives about itself and its session. They were tried with Claude Code 2.1.332, Codex
//! 0.171.0, Gemini CLI 0.61.0, Qwen Code 0.24.4, OpenCode 1.18.33, pi 1.5.2 and Copilot CLI 1.0.102.

use serde_json::{Map, Value};

/// The hints about the client that has made a call.
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
    /// Reads the hints from a client's name and the metadata of a call.
    pub(crate) fn of(client: Option<String>, meta: &Map<String, Value>) -> Hints {
        let text = |name: &str| meta.get(name).and_then(Value::as_str).map(str::to_owned);
        Hints {
            client,
            thread: text("threadId"),
            call: text("claudecode/toolUseId"),
        }
    }

    /// Returns true if the client's name is that of an agent, by the words of its id: `codex-mcp-client` is `codex`.
    pub(crate) fn is(&self, agent: &str) -> bool {
        let client = self.client.as_deref().unwrap_or_default();
        let client = client.to_ascii_lowercase();
        // Qwen Code has `qwen-cli-mcp-client-` before the server's name.
        let client = client.replace("qwen-cli-", "qwen-code-");
        let (client, agent) = (words(&client), words(agent));
        client.windows(agent.len()).any(|words| words == agent)
    }
}

fn words(name: &str) -> Vec<&str> {
    name.split(|c: char| !c.is_ascii_alphanumeric()).collect()
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
        let of_name = |client: &str| of(client, serde_json::json!({}));
        let qwen = of_name("qwen-cli-mcp-client-my-pi-server");
        assert!(qwen.is("qwen-code") && !qwen.is("codex"));
        assert!(of_name("copilot-cli").is("copilot-cli") && !of_name("copilot-cli").is("pi"));
        assert!(of_name("pi").is("pi") && !of_name("").is("pi"));
        let other = of("mcp", serde_json::json!({"threadId": 7}));
        assert_eq!((other.thread, other.call), (None, None));
    }
}
