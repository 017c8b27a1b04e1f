//! The conversations of a file whose requests name theirs.

use super::history::{LossInference, PromptHistory};
use model::event::{Conversation, EventSink, Key, Meta};
use std::collections::HashMap;

/// The conversations of a file. The one that comes first is the file's own.
#[derive(Default)]
pub struct Threads {
    first: Option<Key>,
    threads: HashMap<Key, Thread>,
}

/// The history of a conversation and the newest facts about it.
pub struct Thread {
    /// The history.
    pub history: PromptHistory,
    /// The facts that were emitted.
    pub known: Meta,
}

impl Threads {
    /// Returns the conversation that events of this key go to: the main one for the first key, else one of its own.
    pub fn conversation(&mut self, conversation: Key) -> Conversation {
        match *self.first.get_or_insert(conversation) {
            first if first == conversation => Conversation::Main,
            _ => Conversation::Side(conversation),
        }
    }

    /// Returns the thread of this key, and directs the next events of the sink to its conversation. `losses` is how the cause
    /// of a loss is inferred. Facts are emitted if the thread or its model is new.
    pub fn thread(
        &mut self,
        conversation: Key,
        losses: LossInference,
        meta: Meta,
        out: &mut EventSink<'_>,
    ) -> &mut Thread {
        out.set_conversation(self.conversation(conversation));
        let thread = self.threads.entry(conversation);
        let thread = thread.or_insert_with(|| Thread {
            history: PromptHistory::new(losses),
            known: Meta::default(),
        });
        let is_other = meta.model.is_some() && meta.model != thread.known.model;
        if is_other || thread.known == Meta::default() {
            thread.known = meta.clone();
            out.meta(meta);
        }
        thread
    }
}
