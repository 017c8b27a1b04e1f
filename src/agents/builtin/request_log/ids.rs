//! The ids by which requests name their conversation.

use decode::bodies::{Object, string};
use decode::lenient::{LostFields, Raw, Text, parse, record};

record! {
    /// The ids by which a line, a body or their metadata name the conversation.
    pub(super) struct Ids<'a> {
        session_id: Text<'a> = "session_id" | "sessionId" | "litellm_session_id",
        conversation_id: Text<'a> = "conversation_id" | "conversationId",
        conversation: Option<Raw<'a>>,
        thread_id: Text<'a> = "thread_id" | "threadId",
        chat_id: Text<'a> = "chat_id" | "chatId",
        agent_id: Text<'a>,
        user_id: Text<'a>,
        trace_id: Text<'a> = "trace_id" | "traceId",
        metadata: Option<Object<'a>>,
    }
}

impl<'a> Ids<'a> {
    /// Returns the ids in a JSON object, none where it is something else.
    pub(super) fn read(json: &'a str, lost: &LostFields) -> Ids<'a> {
        parse(json, lost).unwrap_or_default()
    }

    /// Returns the conversation's id.
    pub(super) fn session(&self, lost: &LostFields) -> Option<String> {
        let own = [
            &self.session_id,
            &self.conversation_id,
            &self.thread_id,
            &self.chat_id,
            &self.agent_id,
        ];
        let own = own.into_iter().find_map(Text::boxed).map(String::from);
        own.or_else(|| conversation(self.conversation?, lost))
            .or_else(|| session_of_user(self.user_id.get()?))
            .or_else(|| Ids::read(self.metadata?.0.get(), lost).session(lost))
    }

    /// Returns the trace's id: calls of one run, or of one request and its retries.
    pub(super) fn trace(&self, lost: &LostFields) -> Option<String> {
        let own = self.trace_id.boxed().map(String::from);
        own.or_else(|| Ids::read(self.metadata?.0.get(), lost).trace(lost))
    }
}

record! {
    struct Holder<'a> {
        id: Text<'a>,
    }
}

/// Returns the Responses API's conversation: an id, or an object that holds one.
fn conversation(raw: Raw<'_>, lost: &LostFields) -> Option<String> {
    if let Some(id) = string(raw) {
        return Some(id.into_owned());
    }
    let holder: Holder<'_> = lost.at("conversation").read(raw)?;
    holder.id.boxed().map(String::from)
}

/// Returns the session in a user's id. Claude Code puts its session into the user's id: `user_…_session_<id>`, later as
/// JSON in a string.
fn session_of_user(user: &str) -> Option<String> {
    let lost = LostFields::default();
    match user.rsplit_once("_session_") {
        Some((_, id)) if !id.is_empty() => Some(id.to_owned()),
        _ => Ids::read(user, &lost).session(&lost),
    }
}
