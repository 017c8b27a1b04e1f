//! The actions, with their names in a configuration.

use strum::{EnumIter, EnumString, IntoStaticStr};

/// A user's command. Its name in a configuration is the variant's in kebab case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumIter, EnumString, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Action {
    /// Moves the selection up.
    Up,
    /// Moves the selection down.
    Down,
    /// Moves up by a page.
    PageUp,
    /// Moves down by a page.
    PageDown,
    /// Goes to the first row.
    First,
    /// Goes to the last row.
    Last,
    /// Opens what is selected: a session, a group, an item's text, a tool's items, a sub-agent; from a text its session.
    Open,
    /// Goes back one step.
    Back,
    /// Starts to type a filter.
    Filter,
    /// Goes on to the next sort.
    Sort,
    /// Reverses the sort.
    Reverse,
    /// Groups the sessions by project, by agent, not at all.
    Group,
    /// Hides idle sessions, or shows them again.
    Idle,
    /// Opens the session that was open last.
    LastOpened,
    /// Lists the sub-agents of a session, or hides them.
    Fold,
    /// Goes to the session with the newest record.
    Newest,
    /// Shows the next tab.
    NextTab,
    /// Shows the previous tab.
    PreviousTab,
    /// Shows the items.
    Items,
    /// Shows what each tool's results cost.
    Tools,
    /// Shows what compactions did.
    Compactions,
    /// Shows what other policies would have done.
    WhatIf,
    /// Shows the sub-agents.
    Agents,
    /// Shows the largest growths.
    Jumps,
    /// Shows what took the tokens and the money.
    Why,
    /// Shows the context over time.
    Timeline,
    /// Lists only the items in the context, or all.
    All,
    /// Lists only the items of the selected item's tool or kind, or all again.
    OneTool,
    /// Goes to the next oversized item.
    NextOversized,
    /// Goes to the previous oversized item.
    PreviousOversized,
    /// Sets the size from which an item is oversized.
    Oversized,
    /// Marks an item, or removes the mark.
    Mark,
    /// Removes all marks.
    Unmark,
    /// Replays the session from its start.
    Replay,
    /// Plays or pauses.
    Play,
    /// Goes to the next request; to the next record where none was reported.
    StepForward,
    /// Goes to the previous request, or record.
    StepBack,
    /// Goes to the next record.
    NextRecord,
    /// Goes to the previous record.
    PreviousRecord,
    /// Goes to the next user turn.
    NextTurn,
    /// Goes to the previous user turn.
    PreviousTurn,
    /// Goes to the next compaction.
    NextCompaction,
    /// Goes to the previous compaction.
    PreviousCompaction,
    /// Plays faster.
    Faster,
    /// Plays slower.
    Slower,
    /// Goes to the request with the largest growth.
    Growth,
    /// Lists the largest items of the listed sessions.
    Largest,
    /// Starts to type a request or a time, and goes there.
    GoTo,
    /// Goes to the record of the selected item or compaction; from there to the item's removal.
    Moment,
    /// Ends a replay.
    Live,
    /// Starts to type what to search for: in a text, or in the texts of all listed sessions.
    Search,
    /// Goes to the next match.
    NextMatch,
    /// Goes to the previous match.
    PreviousMatch,
    /// Goes to the next page of a long text.
    NextPage,
    /// Goes to the previous page of a long text.
    PreviousPage,
    /// Indents JSON, or shows it as it is in the log.
    Pretty,
    /// Copies the text; of a session, what the user chooses: the command that resumes it, its id, its path.
    Copy,
    /// Opens the text in the pager.
    Pager,
    /// Opens the text, or the session's log, in the editor.
    Editor,
    /// Opens the session's folder in the editor.
    Folder,
    /// Shows which files can be written of the session.
    Share,
    /// Shows what can be done with the session.
    Menu,
    /// Runs the command that resumes the session in its agent.
    Resume,
    /// Shows the session in another pane of tmux.
    Pane,
    /// Sets the session's window.
    Window,
    /// Goes on to the next theme.
    Theme,
    /// Shows all notices.
    Notices,
    /// Shows the help.
    Help,
    /// Suspends the program.
    Suspend,
    /// Ends the program.
    Quit,
}

impl Action {
    /// Returns the action's name in a configuration.
    pub fn name(self) -> &'static str {
        self.into()
    }
}
