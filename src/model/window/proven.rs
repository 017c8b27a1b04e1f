//! The versions of agents whose logs were compared with known counts.

use serde::Deserialize;

/// The newest version of an agent that was run against a provider whose counts are known. A table has the scores of its
/// runs too, for people.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ProvenVersion {
    /// The version, as the agent's logs have it.
    pub version: String,
}
