//! The cost of a session's sub-agents.

use crate::Kind;
use crate::history::ItemIx;
use crate::lists::sessions::{SessionKey, Sessions};
use crate::lists::summary::Answer;
use crate::session::Session;

/// A sub-agent of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Child {
    /// Its own session.
    pub key: SessionKey,
    /// Tokens in its context.
    pub used: u64,
    /// Its requests.
    pub requests: usize,
    /// All its prompts together, in tokens.
    pub prompts: u64,
    /// All its outputs together, in tokens, as far as its log has them.
    pub outputs: u64,
    /// The parent's item with its result; `None`: not found.
    pub result: Option<ItemIx>,
}

/// Returns the sub-agents that a session started itself, in no particular order.
pub fn children(sessions: &Sessions, parent: SessionKey) -> Vec<Child> {
    let Some((of, id)) = sessions
        .get(parent)
        .and_then(|session| Some((session, session.meta.id.as_deref()?)))
    else {
        return Vec::new();
    };
    let below = sessions
        .gauges()
        .filter(|(key, child)| *key != parent && child.meta.parent.as_deref() == Some(id));
    below
        .map(|(key, child)| Child {
            key,
            used: child.context.used,
            requests: child.requests,
            prompts: child.prompted,
            outputs: child.output,
            result: child.answer.and_then(|answer| result_of(of, answer)),
        })
        .collect()
}

/// Returns the parent's tool result that begins like the child's last text.
fn result_of(parent: &Session, answer: Answer) -> Option<ItemIx> {
    let mut items = parent.items().iter();
    items.position(|item| item.kind == Kind::ToolResult && answer.begins(&item.preview))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;
    use crate::event::{Conversation, Event, Meta, NewItem};
    use crate::lists::sessions::{FileId, Update};
    use crate::testing::{Log, file_facts, new_item};
    use std::sync::Arc;

    fn named(id: &str, parent: Option<&str>) -> Log {
        Log::new().event(Event::Meta(Box::new(Meta {
            id: Some(id.into()),
            parent: parent.map(Into::into),
            ..Meta::default()
        })))
    }

    fn saying(log: Log, role: Role, kind: Kind, text: &str) -> Log {
        let item = NewItem {
            preview: text.into(),
            ..new_item(role, kind, 100)
        };
        log.node(text, vec![item])
    }

    fn add(all: &mut Sessions, n: u64, log: Log) -> SessionKey {
        let file = FileId(n);
        all.apply(Update::Found(Box::new(file_facts(file, "tested", "log"))));
        let sessions = vec![(Conversation::Main, log.session)];
        all.apply(Update::Rebuilt { file, sessions });
        SessionKey {
            file,
            conversation: Conversation::Main,
        }
    }

    #[test]
    fn what_each_sub_agent_cost_and_what_it_came_back_with() {
        let words = "The parser drops the last line of a file.";
        let parent = named("p", None);
        let parent = saying(
            parent,
            Role::Tool,
            Kind::ToolResult,
            "something else entirely",
        );
        let parent = saying(
            parent,
            Role::Tool,
            Kind::ToolResult,
            "The parser drops the last line of a file. agentId: a1",
        );
        let child = saying(named("c", Some("p")), Role::Assistant, Kind::Text, words);
        let mut sessions = Sessions::new(Arc::default());
        let key = add(&mut sessions, 1, parent);
        let below = add(&mut sessions, 2, child.report(5_000).report(7_000));
        add(&mut sessions, 3, named("other", Some("q")));

        let found = children(&sessions, key);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].key, found[0].requests), (below, 2));
        assert_eq!(found[0].prompts, 12_000);
        assert_eq!(found[0].result, Some(1));
        assert_eq!(children(&sessions, below), []);
    }

    #[test]
    fn few_words_tell_nothing() {
        let parent = saying(named("p", None), Role::Tool, Kind::ToolResult, "Done.");
        let child = saying(named("c", Some("p")), Role::Assistant, Kind::Text, "Done.");
        let mut sessions = Sessions::new(Arc::default());
        let key = add(&mut sessions, 1, parent);
        add(&mut sessions, 2, child);
        assert_eq!(children(&sessions, key)[0].result, None);
    }
}
