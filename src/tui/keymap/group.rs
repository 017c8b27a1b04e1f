//! Groups the actions by what they are for, as the list of keys shows them.

use super::Action;
use strum::{EnumIter, IntoStaticStr};

/// The purpose of an action; the groups are in the order of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum ActionGroup {
    /// To open something, and to go back.
    #[strum(serialize = "open and go back")]
    Open,
    /// To choose what is listed, and in which order.
    #[strum(serialize = "list and find")]
    List,
    /// To go to a tab.
    Tabs,
    /// To go to another moment.
    Replay,
    /// To take something out of the program.
    #[strum(serialize = "share and open elsewhere")]
    HandOn,
    /// To move the selection.
    Move,
    /// All other.
    Other,
}

impl ActionGroup {
    /// Returns the group of an action.
    pub fn of(action: Action) -> ActionGroup {
        use Action::*;
        match action {
            Open | Back | LastOpened | Newest | Menu => ActionGroup::Open,
            Filter | Search | Largest | Sort | Reverse | Group | Idle | Fold | All | OneTool => {
                ActionGroup::List
            }
            Mark | Unmark | Oversized | NextOversized | PreviousOversized | NextMatch
            | PreviousMatch => ActionGroup::List,
            NextTab | PreviousTab | Items | Tools | Compactions | WhatIf | Agents | Timeline
            | Jumps | Why => ActionGroup::Tabs,
            Replay | Play | StepForward | StepBack | NextRecord | PreviousRecord | NextTurn
            | PreviousTurn | NextCompaction | PreviousCompaction | Faster | Slower | Growth
            | Moment | GoTo | Live => ActionGroup::Replay,
            Copy | Pager | Editor | Folder | Share | Resume | Pane => ActionGroup::HandOn,
            Up | Down | PageUp | PageDown | First | Last | NextPage | PreviousPage => {
                ActionGroup::Move
            }
            Pretty | Window | Theme | Notices | Help | Quit | Suspend => ActionGroup::Other,
        }
    }
}
