//! A participant that has a context, and what it holds.

use super::wire::Payload;
use model::Role;
use model::event::{
    Cause, Conversation, EventSink, Key, Meta, NewItem, Node, Part, Reset, RetainedItems, Usage,
};
use std::collections::HashSet;

/// A participant that has a context.
pub(super) struct Participant {
    pub(super) id: Box<str>,
    pub(super) conversation: Conversation,
    /// Envelopes that it holds, in the order in which they came, with their tokens by its own count.
    pub(super) held: Vec<(Key, u64)>,
    /// Envelopes that it has received.
    pub(super) received: HashSet<Key>,
    /// Its own newest count of its context, in tokens.
    pub(super) tokens: Option<u64>,
    /// Its report of a compaction on request, until it reports the tokens that were freed.
    pub(super) compacted: Option<CompactedContext>,
}

/// A context after a compaction on request, by the participant's own count.
pub(super) struct CompactedContext {
    /// The count before it.
    pub(super) before: Option<u64>,
    /// The count after it.
    pub(super) usage: Usage,
}

impl Participant {
    pub(super) fn new(id: &str, conversation: Conversation) -> Participant {
        Participant {
            id: id.into(),
            conversation,
            held: Vec::new(),
            received: HashSet::new(),
            tokens: None,
            compacted: None,
        }
    }

    pub(super) fn add(&mut self, key: Key, item: NewItem, part: Part, out: &mut EventSink<'_>) {
        self.hold(key, own_tokens(&item));
        out.set_conversation(self.conversation);
        out.node(Node::new(Some(key), part, vec![item]));
    }

    /// Returns the role and the part that chat by somebody has for it.
    pub(super) fn class(&self, from: &str) -> (Role, Part) {
        if *self.id == *from {
            (Role::Assistant, Part::Output)
        } else {
            (Role::User, Part::Input)
        }
    }

    /// Notes that it holds this envelope.
    pub(super) fn hold(&mut self, key: Key, tokens: u64) {
        self.received.insert(key);
        self.held.push((key, tokens));
    }

    /// Takes in a compaction on request, of which it reports how much was freed.
    pub(super) fn compact(&mut self, payload: &Payload<'_>, key: Key, out: &mut EventSink<'_>) {
        let (before, after) = match &self.compacted {
            Some(compacted) => (compacted.before, Some(compacted.usage.prompt)),
            None => {
                let freed = payload.freed_tokens.0;
                let after = self.tokens.zip(freed);
                (
                    self.tokens,
                    after.map(|(all, freed)| all.saturating_sub(freed)),
                )
            }
        };
        self.tokens = after.or(self.tokens);
        let freed = payload.freed_messages.or_zero();
        let oldest = usize::try_from(freed).unwrap_or(usize::MAX);
        let reset = Reset {
            before,
            after,
            ..Reset::compaction(Cause::Manual, RetainedItems::Nothing)
        };
        self.reset(reset, oldest, key, out);
    }

    /// Returns the number of the oldest envelopes that together hold this many tokens.
    pub(super) fn oldest(&self, mut tokens: u64) -> usize {
        let gone = self.held.iter().take_while(|(_, own)| {
            let goes = tokens > 0;
            tokens = tokens.saturating_sub(*own);
            goes
        });
        gone.count()
    }

    /// Takes in a reset by the envelope of this key, with the sizes by the participant's own count: so many of the oldest
    /// envelopes leave.
    pub(super) fn reset(&mut self, of: Reset, oldest: usize, key: Key, out: &mut EventSink<'_>) {
        self.held.drain(..oldest.min(self.held.len()));
        out.set_conversation(self.conversation);
        out.reset(Reset {
            key: Some(key.under("reset")),
            kept: RetainedItems::Nodes(self.held.iter().map(|(key, _)| *key).collect()),
            ..of
        });
    }

    /// Emits the count that was held back.
    pub(super) fn flush(&mut self, out: &mut EventSink<'_>) {
        out.set_conversation(self.conversation);
        out.usage(self.compacted.take().map(|compacted| compacted.usage));
    }

    /// Returns its name and its id in this space.
    pub(super) fn meta(&self, space: &str) -> Meta {
        Meta {
            id: Some(format!("{space}/{}", self.id).into()),
            title: Some(self.id.clone()),
            ..Meta::default()
        }
    }
}

/// Returns the tokens of a message by the participants' own count: four characters a token.
pub(super) fn own_tokens(item: &NewItem) -> u64 {
    item.size.chars.div_ceil(4).into()
}
