//! How far a format's numbers can be trusted.

/// What the decoder of a format was tried with, the most reliable first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Whole runs of this version, compared with counts that are known. Sessions of newer versions are marked.
    Proven(&'static str),
    /// Real logs.
    Read,
    /// Logs made up after the agent's sources or public readers.
    Sources,
    /// The decoder is a mapping of the user's.
    Mapping,
}

impl Tier {
    /// The newest version that was compared with known counts.
    pub fn proven(self) -> Option<&'static str> {
        match self {
            Tier::Proven(version) => Some(version),
            Tier::Read | Tier::Sources | Tier::Mapping => None,
        }
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Tier::Proven(_) => "proven",
            Tier::Read => "real logs",
            Tier::Sources => "sources",
            Tier::Mapping => "mapping",
        }
    }
}
