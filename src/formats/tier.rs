//! Defines the reliability of a format's numbers.

/// The kind of logs with which the decoder of a format was tried, the most reliable first. Versions that were compared
/// with known counts are in `assets/proven.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Real logs.
    Read,
    /// Logs made up after the agent's sources or public readers.
    Sources,
    /// The decoder is a mapping of the user's.
    Mapping,
}

impl Tier {
    /// Returns its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Read => "real logs",
            Tier::Sources => "sources",
            Tier::Mapping => "mapping",
        }
    }
}
