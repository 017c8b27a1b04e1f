//! Keeps the content of a conversation's context, block by block.

use super::block::Block;
use model::event::Key;
use model::{Kind, Role};

/// Something in the context.
#[derive(Debug, Clone)]
pub struct ContextBlock {
    pub(super) key: Key,
    pub(super) content: BlockContent,
    pub(super) bytes: u64,
    /// The request whose output it is.
    pub(super) request: Option<Key>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockContent {
    /// The start of a response: no content of its own. It stays as long as anything of the response
    /// does, so that its usage report does. Whether the log shows what the response contained.
    Start { shown: bool },
    /// A block, by its fingerprint.
    Block {
        fingerprint: u64,
        role: Role,
        kind: Kind,
        call: Option<Key>,
    },
}

impl ContextBlock {
    pub(super) fn of(block: &Block<'_>, key: Key, request: Option<Key>) -> ContextBlock {
        ContextBlock {
            key,
            content: BlockContent::Block {
                fingerprint: block.fingerprint(),
                role: block.role,
                kind: block.kind,
                call: block.call.as_deref().map(Key::of),
            },
            bytes: block.bytes(),
            request,
        }
    }

    pub(super) fn is_start(&self) -> bool {
        matches!(self.content, BlockContent::Start { .. })
    }

    pub(super) fn fingerprint(&self) -> Option<u64> {
        match self.content {
            BlockContent::Block { fingerprint, .. } => Some(fingerprint),
            BlockContent::Start { .. } => None,
        }
    }

    pub(super) fn is_thinking(&self) -> bool {
        matches!(self.content, BlockContent::Block { kind, .. } if kind == Kind::Thinking)
    }

    pub(super) fn is_output(&self) -> bool {
        matches!(self.content, BlockContent::Block { role, .. } if role == Role::Assistant)
    }

    pub(super) fn result_of(&self) -> Option<Key> {
        match self.content {
            BlockContent::Block {
                kind: Kind::ToolResult,
                call,
                ..
            } => call,
            _ => None,
        }
    }

    /// Returns the mark by which other requests may be recognised. Thinking has none, since clients leave it out.
    pub(super) fn mark(&self) -> Option<BlockIdentity> {
        match self.content {
            BlockContent::Block {
                fingerprint,
                role,
                kind,
                call,
            } if kind != Kind::Thinking => Some(BlockIdentity {
                fingerprint,
                role,
                weight: match call {
                    Some(_) => u64::MAX,
                    None if role == Role::Assistant => self.bytes,
                    None => 0,
                },
            }),
            _ => None,
        }
    }
}

/// The identity of a block in other requests.
pub struct BlockIdentity {
    /// The hash of its content.
    pub fingerprint: u64,
    /// The role that it belongs to.
    pub role: Role,
    /// The degree to which it distinguishes a conversation from others: a call's id has the highest, the model's text
    /// one that grows with its length in bytes.
    pub weight: u64,
}
