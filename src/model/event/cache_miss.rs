//! The provider's own reason for which it did not have a prompt in its cache.

/// The provider's diagnosis of a prompt that it could not read from its cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheMiss {
    /// The cause.
    pub cause: MissCause,
    /// About as many tokens would have been read from the cache without it; `None`: the provider does not say.
    pub tokens: Option<u64>,
}

/// The cause, as the provider names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissCause {
    /// The tools of the request are others.
    Tools,
    /// The system prompt is another one.
    System,
    /// Earlier messages are others.
    Messages,
    /// Another model was asked.
    Model,
    /// The provider no longer knows the prompt before: as a rule, its time is over.
    NotFound,
    /// The provider cannot tell.
    Unavailable,
    /// Anything else, as the log names it.
    Other(Box<str>),
}

impl MissCause {
    /// Returns the cause of this name, by the provider or by Claude Code's client.
    pub fn named(name: &str) -> MissCause {
        match name {
            "tools_changed" => MissCause::Tools,
            "system_changed" | "system_prompt_changed" => MissCause::System,
            "messages_changed" | "messages_rewritten" => MissCause::Messages,
            "model_changed" => MissCause::Model,
            "previous_message_not_found" | "ttl_expired_5m" | "ttl_expired_1h" => {
                MissCause::NotFound
            }
            "unavailable" | "unknown" => MissCause::Unavailable,
            other => MissCause::Other(super::name::cut(other).into()),
        }
    }

    /// Returns its name, as logs and reports write it.
    pub fn name(&self) -> &str {
        match self {
            MissCause::Tools => "tools_changed",
            MissCause::System => "system_changed",
            MissCause::Messages => "messages_changed",
            MissCause::Model => "model_changed",
            MissCause::NotFound => "previous_message_not_found",
            MissCause::Unavailable => "unavailable",
            MissCause::Other(name) => name,
        }
    }
}
