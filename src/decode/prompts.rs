//! Logs in which every request carries its whole prompt: request logs, spans, gateways.
//!
//! A [`Block`] is the smallest part of a prompt or an answer that is compared with others. A
//! [`PromptHistory`] compares the blocks of each new request with what the context holds, and emits what
//! is new and what has left.

mod block;
mod context_block;
mod history;
mod threads;

pub use block::{Block, Content, passages};
pub use context_block::BlockIdentity;
pub use history::{LossInference, Prompt, PromptHistory, Step, front_of, hash};
use model::Role;
pub use threads::{Thread, Threads};

/// Marks which blocks of a prompt begin a user turn, where messages do not show it, and removes empty
/// ones.
pub fn mark_turns(blocks: &mut Vec<Block<'_>>) {
    blocks.retain(|block| !block.is_empty());
    let mut previous = None;
    for block in blocks {
        block.begins_turn = block.role == Role::User && previous != Some(Role::User);
        previous = Some(block.role);
    }
}
