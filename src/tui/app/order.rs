//! How the sessions are listed: by which column, which end first, in which groups, with the idle ones or
//! without.

/// What the sessions are ordered by: a column of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Column {
    /// The live ones first, then the newest.
    #[default]
    Recent,
    /// The least headroom first.
    Headroom,
    /// The fullest first, as a share of the window.
    Context,
    /// The fewest requests until the next compaction first.
    Next,
    /// The most known tokens first.
    Known,
    /// The most estimated tokens first.
    Estimated,
    /// What grew most of late first.
    Growth,
    /// By the agent's name.
    Agent,
    /// By the project's name.
    Project,
    /// By the model's name.
    Model,
}

impl Column {
    /// All columns, as the sort key steps through them.
    pub const ALL: [Column; 10] = [
        Column::Recent,
        Column::Headroom,
        Column::Context,
        Column::Next,
        Column::Known,
        Column::Estimated,
        Column::Growth,
        Column::Agent,
        Column::Project,
        Column::Model,
    ];

    /// The column's word on screen.
    pub const fn name(self) -> &'static str {
        match self {
            Column::Recent => "recent",
            Column::Headroom => "headroom",
            Column::Context => "context",
            Column::Next => "next",
            Column::Known => "known",
            Column::Estimated => "estimated",
            Column::Growth => "growth",
            Column::Agent => "agent",
            Column::Project => "project",
            Column::Model => "model",
        }
    }

    /// The column after this one.
    #[must_use]
    pub fn next(self) -> Column {
        let at = Column::ALL.iter().position(|column| *column == self);
        Column::ALL[at.map_or(0, |at| (at + 1) % Column::ALL.len())]
    }
}

/// Which end of an order comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// The one that matters more.
    #[default]
    Usual,
    /// The other one.
    Reversed,
}

impl Direction {
    /// The other direction.
    #[must_use]
    pub const fn turned(self) -> Direction {
        match self {
            Direction::Usual => Direction::Reversed,
            Direction::Reversed => Direction::Usual,
        }
    }

    /// The arrow behind an order's name.
    pub const fn arrow(self) -> &'static str {
        match self {
            Direction::Usual => "▾",
            Direction::Reversed => "▴",
        }
    }
}

/// What the sessions are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grouping {
    /// Nothing.
    #[default]
    None,
    /// Their projects.
    Project,
    /// Their agents.
    Agent,
}

impl Grouping {
    /// All of them.
    pub const ALL: [Grouping; 3] = [Grouping::None, Grouping::Project, Grouping::Agent];

    /// The next of them.
    #[must_use]
    pub const fn next(self) -> Grouping {
        match self {
            Grouping::None => Grouping::Project,
            Grouping::Project => Grouping::Agent,
            Grouping::Agent => Grouping::None,
        }
    }

    /// The word on screen; empty where nothing is grouped.
    pub const fn name(self) -> &'static str {
        match self {
            Grouping::None => "",
            Grouping::Project => "by project",
            Grouping::Agent => "by agent",
        }
    }
}

/// Whether sessions without a sign of life are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Idle {
    /// They are.
    #[default]
    Shown,
    /// Only those live, and those of live sub-agents.
    Hidden,
}

impl Idle {
    /// The other one.
    #[must_use]
    pub const fn other(self) -> Idle {
        match self {
            Idle::Shown => Idle::Hidden,
            Idle::Hidden => Idle::Shown,
        }
    }
}
