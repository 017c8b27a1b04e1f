//! Defines the order of the sessions: sort direction, groups, idle ones.

use strum::{EnumIter, EnumString, IntoEnumIterator, IntoStaticStr};

/// The direction of a sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumIter, EnumString, IntoStaticStr)]
pub enum Direction {
    /// Sessions that matter more come first.
    #[default]
    #[strum(serialize = "")]
    Usual,
    /// The opposite.
    #[strum(serialize = "reversed")]
    Reversed,
}

impl Direction {
    /// Returns the arrow after a sort's name.
    pub const fn arrow(self) -> &'static str {
        match self {
            Direction::Usual => "▾",
            Direction::Reversed => "▴",
        }
    }
}

/// The property by which the sessions are grouped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumIter, EnumString, IntoStaticStr)]
pub enum Grouping {
    /// Nothing.
    #[default]
    #[strum(serialize = "")]
    None,
    /// Their projects.
    #[strum(serialize = "by project")]
    Project,
    /// Their agents.
    #[strum(serialize = "by agent")]
    Agent,
}

impl Grouping {
    /// Returns the words on screen; empty without groups.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Returns the value after this one; after the last, the first.
pub(super) fn next<T: IntoEnumIterator + PartialEq>(value: T) -> T {
    let mut later = T::iter().skip_while(|other| *other != value).skip(1);
    later.next().or_else(|| T::iter().next()).unwrap_or(value)
}
