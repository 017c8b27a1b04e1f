//! Finds which of several sessions asks: an agent writes a call to its log before it makes it.

use crate::log::LogFile;
use crate::log::reader::tail_to_end;
use model::Kind;
use model::event::{Conversation, Key};
use model::session::Session;
use model::window::Rules;
use std::collections::HashSet;
use std::sync::Arc;

/// The number of a session's newest items that are compared with a call.
const NEWEST_ITEMS: usize = 256;

/// The call that is being answered.
pub struct ToolCall<'a> {
    /// Its id in the log, where the client gives it.
    pub id: Option<Key>,
    /// The tool that is called.
    pub tool: &'a str,
}

/// The evidence of a call in a session's newest items.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evidence {
    /// Nothing.
    None,
    /// The name of the tool, in another call that has no result yet: Qwen Code's `tool_call`, pi's `codemode`.
    Mention,
    /// The call itself.
    Call,
}

impl ToolCall<'_> {
    /// Searches the end of a log for the call. Returns the evidence, and the conversation: of the session itself, or of a
    /// sub-agent in the same log.
    pub fn find(&self, log: &LogFile, rules: &Arc<Rules>) -> (Evidence, Conversation) {
        let sessions = tail_to_end(log, rules).unwrap_or_default();
        let found = sessions
            .iter()
            .map(|(conversation, session)| (self.find_in(session), *conversation));
        let found = found.max_by_key(|(evidence, conversation)| {
            (*evidence, *conversation == Conversation::Main)
        });
        found.unwrap_or((Evidence::None, Conversation::Main))
    }

    fn find_in(&self, session: &Session) -> Evidence {
        let mut newest = session.items().iter().rev().take(NEWEST_ITEMS);
        if let Some(id) = self.id {
            let call = newest.find(|item| item.call == Some(id));
            return call.map_or(Evidence::None, |_| Evidence::Call);
        }
        let mut answered = HashSet::new();
        let mut found = Evidence::None;
        for item in newest {
            match item.kind {
                Kind::ToolResult => answered.extend(item.call),
                Kind::ToolCall if item.call.is_none_or(|call| !answered.contains(&call)) => {
                    found = found.max(self.find_in_call(item.tool.as_deref(), &item.preview));
                }
                _ => {}
            }
        }
        found
    }

    /// Agents put the server's name before that of its tool.
    fn find_in_call(&self, name: Option<&str>, preview: &str) -> Evidence {
        if name.is_some_and(|name| name.ends_with(self.tool)) {
            Evidence::Call
        } else if preview.contains(self.tool) {
            Evidence::Mention
        } else {
            Evidence::None
        }
    }
}
