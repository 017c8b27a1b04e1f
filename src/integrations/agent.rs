//! The agents whose own programs can call this one.

/// An agent that runs other programs: for its status line, as hooks, or as servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Agent {
    /// Claude Code.
    ClaudeCode,
    /// Codex's command line.
    Codex,
    /// Gemini CLI.
    GeminiCli,
    /// Qwen Code.
    QwenCode,
    /// Cursor's command line.
    Cursor,
    /// Copilot's command line.
    CopilotCli,
    /// OpenCode.
    #[strum(serialize = "opencode")]
    OpenCode,
    /// pi.
    Pi,
}

impl Agent {
    /// Returns the agent's id, as in reports.
    pub fn id(self) -> &'static str {
        self.into()
    }

    /// Returns the agent with this id.
    pub fn of_id(id: &str) -> Option<Agent> {
        let all = <Agent as strum::VariantArray>::VARIANTS;
        all.iter().copied().find(|agent| agent.id() == id)
    }

    /// Returns true if it shows a hook's message at a prompt. Qwen Code 0.24.4 shows it at the end of a turn alone.
    pub fn shows_hooks_at_prompts(self) -> bool {
        self != Agent::QwenCode
    }

    /// Returns true if it runs a hook after a compaction.
    pub fn has_hook_after_compaction(self) -> bool {
        matches!(self, Agent::ClaudeCode | Agent::Codex | Agent::QwenCode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_its_agent() {
        for agent in <Agent as strum::VariantArray>::VARIANTS {
            assert_eq!(Agent::of_id(agent.id()), Some(*agent));
        }
        assert_eq!(Agent::CopilotCli.id(), "copilot-cli");
        assert_eq!(Agent::OpenCode.id(), "opencode");
        assert_eq!(Agent::of_id("claude"), None);
    }
}
