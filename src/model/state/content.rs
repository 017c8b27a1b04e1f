//! The sums over the items of a context.

use crate::history::{Item, SizedItem};
use crate::sizes::pictures::Media;
use crate::state::past::Inputs;

/// The data from which a context is computed.
#[derive(Debug, Clone)]
pub(crate) struct Content {
    /// The items in it, in the order of the log.
    pub(crate) items: Vec<SizedItem>,
    /// The number of items so far, in the context or not.
    pub(crate) so_far: usize,
    /// The other inputs from which it is computed.
    pub(crate) inputs: Inputs,
}

/// The sums of a context's items.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ContextSums {
    /// By role: tokens, those of them that the anchor reported, and items.
    pub(crate) roles: [[i128; 3]; 5],
    /// Tokens of system prompt and tools.
    pub(crate) shown: i128,
    /// Tokens of items that no report attributed, and how many items.
    pub(crate) guess: i128,
    pub(crate) guessed: i128,
    /// The tokens of those items whose text was not counted.
    pub(crate) by_length: i128,
    /// Tokens by formula of pictures in them.
    pub(crate) pictures: Media<i128>,
}

/// The contribution of an item to the sums.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Contribution {
    pub(crate) tokens: u64,
    pub(crate) is_here: bool,
    pub(crate) is_known: bool,
    pub(crate) is_anchored: bool,
    pub(crate) is_counted: bool,
    pub(crate) pictures: Media<u64>,
}

impl ContextSums {
    /// Adds what is in the context of an item, or takes it out: then `sign` is below 0.
    pub(crate) fn add(&mut self, item: &Item, part: Contribution, sign: i128) {
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
