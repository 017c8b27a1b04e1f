//! What a conversation's context holds, piece by piece.

use super::unit::Unit;
use crate::model::event::Key;
use crate::model::{Kind, Role};

/// Something in the context.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) key: Key,
    pub(super) sort: Sort,
    pub(super) bytes: u64,
    /// The request whose output it is.
    pub(super) request: Option<Key>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// Where a response begins: holds nothing, and stays as long as anything of the response does, so
    /// that its report does. Whether the log shows what the response said.
    Start { shown: bool },
    /// A unit, by its hash.
    Unit {
        print: u64,
        role: Role,
        kind: Kind,
        call: Option<Key>,
    },
}

impl Held {
    pub(super) fn of(unit: &Unit<'_>, key: Key, request: Option<Key>) -> Held {
        Held {
            key,
            sort: Sort::Unit {
                print: unit.print(),
                role: unit.role,
                kind: unit.kind,
                call: unit.call.as_deref().map(Key::of),
            },
            bytes: unit.bytes(),
            request,
        }
    }

    pub(super) fn is_start(&self) -> bool {
        matches!(self.sort, Sort::Start { .. })
    }

    pub(super) fn is_thinking(&self) -> bool {
        matches!(
            self.sort,
            Sort::Unit {
                kind: Kind::Thinking,
                ..
            }
        )
    }

    pub(super) fn is_said(&self) -> bool {
        matches!(
            self.sort,
            Sort::Unit {
                role: Role::Assistant,
                ..
            }
        )
    }

    pub(super) fn result_of(&self) -> Option<Key> {
        match self.sort {
            Sort::Unit {
                kind: Kind::ToolResult,
                call,
                ..
            } => call,
            _ => None,
        }
    }
}

/// By what a unit is known to other requests.
pub(super) struct Print {
    pub(super) print: u64,
    pub(super) role: Role,
    /// How well it tells a conversation from others: a call's id best, what the model said the better
    /// the longer it is, in bytes.
    pub(super) tells: u64,
}
