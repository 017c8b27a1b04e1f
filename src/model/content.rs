//! The sums over the items of a context.

use super::history::{Item, SizedItem};
use super::past::Inputs;
use super::pictures::Media;

/// The data from which a context is computed.
#[derive(Debug, Clone)]
pub(super) struct Content {
    /// The items in it, in the order of the log.
    pub(super) items: Vec<SizedItem>,
    /// The number of items so far, in the context or not.
    pub(super) so_far: usize,
    /// The other inputs from which it is computed.
    pub(super) inputs: Inputs,
}

/// The sums of a context's items.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ContextSums {
    /// By role: tokens, those of them that the anchor reported, and items.
    pub(super) roles: [[i128; 3]; 5],
    /// Tokens of system prompt and tools.
    pub(super) shown: i128,
    /// Tokens of items that no report attributed, and how many items.
    pub(super) guess: i128,
    pub(super) guessed: i128,
    /// The tokens of those items whose text was not counted.
    pub(super) by_length: i128,
    /// Tokens by formula of pictures in them.
    pub(super) pictures: Media<i128>,
}

/// The contribution of an item to the sums.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Contribution {
    pub(super) tokens: u64,
    pub(super) is_here: bool,
    pub(super) is_known: bool,
    pub(super) is_anchored: bool,
    pub(super) is_counted: bool,
    pub(super) pictures: Media<u64>,
}

impl ContextSums {
    /// Adds what is in the context of an item, or takes it out: then `sign` is below 0.
    pub(super) fn add(&mut self, item: &Item, part: Contribution, sign: i128) {
        if !part.is_here {
            return;
        }
        let tokens = i128::from(part.tokens) * sign;
        let [all, known, items] = &mut self.roles[item.role.index()];
        *all += tokens;
        *items += sign;
        if part.is_anchored {
            *known += tokens;
        }
        if item.is_prefix() {
            self.shown += tokens;
        }
        if !part.is_known {
            self.guess += tokens;
            self.guessed += sign;
            self.pictures.images += i128::from(part.pictures.images) * sign;
            self.pictures.documents += i128::from(part.pictures.documents) * sign;
            if !part.is_counted {
                self.by_length += tokens;
            }
        }
    }
}
