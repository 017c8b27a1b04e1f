//! What a user can ask for by name.

/// What a user can ask for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// A page up.
    PageUp,
    /// A page down.
    PageDown,
    /// To the first row.
    First,
    /// To the last row.
    Last,
    /// Opens what is selected: a session, a group, an item's text, a tool's items, a sub-agent.
    Open,
    /// Back to where one came from.
    Back,
    /// Begins to type a filter.
    Filter,
    /// The next order.
    Sort,
    /// The other end of the order first.
    Reverse,
    /// Groups the sessions by project, by agent, not at all.
    Group,
    /// Hides the sessions without a sign of life, or shows them again.
    Idle,
    /// To the session that was written to last.
    Newest,
    /// The next tab.
    NextPanel,
    /// The tab before.
    PreviousPanel,
    /// The items.
    Items,
    /// What each tool's results cost.
    Tools,
    /// What compactions did.
    Compactions,
    /// What other policies would have done.
    WhatIf,
    /// The sub-agents.
    Agents,
    /// The context over time.
    Course,
    /// Between the items in the context and all items.
    All,
    /// Only the items of the selected one's tool, or all again.
    OneTool,
    /// To the next oversized item.
    NextOversized,
    /// To the oversized item before.
    PreviousOversized,
    /// Sets from which size on an item is oversized.
    Oversized,
    /// Marks an item, to see the context without it; or takes that back.
    Mark,
    /// Takes all marks back.
    Unmark,
    /// Plays the session from its beginning.
    Replay,
    /// Plays or pauses.
    Play,
    /// To the next request; to the next record where none was reported.
    StepOn,
    /// To the request before, or record.
    StepBack,
    /// To the next record.
    RecordOn,
    /// To the record before.
    RecordBack,
    /// To the next user turn.
    TurnOn,
    /// To the user turn before.
    TurnBack,
    /// To the next compaction.
    ResetOn,
    /// To the compaction before.
    ResetBack,
    /// Plays faster.
    Faster,
    /// Plays slower.
    Slower,
    /// To the request that the context grew most with.
    Growth,
    /// To the next record with a text that is asked for.
    Find,
    /// To the next record with the same text.
    FindNext,
    /// To the moment at which the selected item or compaction came; from there to when the item left.
    Moment,
    /// Back to what the log ends with.
    Live,
    /// Begins to type what to search for in a text.
    Search,
    /// To the next hit.
    NextHit,
    /// To the hit before.
    PreviousHit,
    /// The next page of a long text.
    NextPage,
    /// The page before.
    PreviousPage,
    /// JSON set out over lines, or as it stands in the log.
    Pretty,
    /// Copies the text.
    Copy,
    /// Opens the text in the pager.
    Pager,
    /// Opens the text in the editor.
    Editor,
    /// Sets the session's window by hand.
    Window,
    /// The next theme.
    Theme,
    /// The overlay of what was told so far.
    Notices,
    /// The help overlay.
    Help,
    /// To the shell, to come back later.
    Suspend,
    /// Ends the program.
    Quit,
}

impl Action {
    /// The action's name in a configuration. It stays what it is.
    pub const fn name(self) -> &'static str {
        match self {
            Action::Up => "up",
            Action::Down => "down",
            Action::PageUp => "page-up",
            Action::PageDown => "page-down",
            Action::First => "first",
            Action::Last => "last",
            Action::Open => "open",
            Action::Back => "back",
            Action::Filter => "filter",
            Action::Sort => "sort",
            Action::Reverse => "reverse",
            Action::Group => "group",
            Action::Idle => "idle",
            Action::Newest => "newest",
            Action::NextPanel => "next-panel",
            Action::PreviousPanel => "previous-panel",
            Action::Items => "items",
            Action::Tools => "tools",
            Action::Compactions => "compactions",
            Action::WhatIf => "what-if",
            Action::Agents => "agents",
            Action::Course => "course",
            Action::All => "all",
            Action::OneTool => "one-tool",
            Action::NextOversized => "next-oversized",
            Action::PreviousOversized => "previous-oversized",
            Action::Oversized => "oversized",
            Action::Mark => "mark",
            Action::Unmark => "unmark",
            Action::Replay => "replay",
            Action::Play => "play",
            Action::StepOn => "step-on",
            Action::StepBack => "step-back",
            Action::RecordOn => "record-on",
            Action::RecordBack => "record-back",
            Action::TurnOn => "turn-on",
            Action::TurnBack => "turn-back",
            Action::ResetOn => "reset-on",
            Action::ResetBack => "reset-back",
            Action::Faster => "faster",
            Action::Slower => "slower",
            Action::Growth => "growth",
            Action::Find => "find",
            Action::FindNext => "find-next",
            Action::Moment => "moment",
            Action::Live => "live",
            Action::Search => "search",
            Action::NextHit => "next-hit",
            Action::PreviousHit => "previous-hit",
            Action::NextPage => "next-page",
            Action::PreviousPage => "previous-page",
            Action::Pretty => "pretty",
            Action::Copy => "copy",
            Action::Pager => "pager",
            Action::Editor => "editor",
            Action::Window => "window",
            Action::Theme => "theme",
            Action::Notices => "notices",
            Action::Help => "help",
            Action::Suspend => "suspend",
            Action::Quit => "quit",
        }
    }
}
