//! The data from which a context is computed.

use crate::history::SizedItem;
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
