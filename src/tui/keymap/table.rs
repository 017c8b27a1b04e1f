//! Every key there is, as long as the user has said nothing else.

use super::{Action, Binding, KeyPress, Scope, bind};

/// The order is that of the help overlay, and of the footer, which shows as many hints as fit.
#[rustfmt::skip]
pub static BINDINGS: &[Binding] = {
    use Action as A;
    use KeyPress::*;
    use Scope::*;
    &[
        bind(Anywhere, A::Up, &[Up, Char('k')], "one row up", Some("move")),
        bind(Anywhere, A::Down, &[Down, Char('j')], "one row down", Some("move")),
        bind(Anywhere, A::PageUp, &[PageUp, Ctrl('b')], "a page up", None),
        bind(Anywhere, A::PageDown, &[PageDown, Ctrl('f')], "a page down", None),
        bind(Anywhere, A::First, &[Home, Char('g')], "to the top", None),
        bind(Anywhere, A::Last, &[End, Char('G')], "to the bottom", None),

        bind(Overview, A::Open, &[Enter, Right, Char('l')], "open the session; fold or unfold a group", Some("open")),
        bind(Overview, A::Replay, &[Char('r')], "replay the session from its beginning", Some("replay")),
        bind(Overview, A::Filter, &[Char('/')], "filter by agent, project, model, title, path, what the user typed", Some("filter")),
        bind(Overview, A::Sort, &[Char('s')], "order by the next column; a click on a heading does it too", Some("sort")),
        bind(Overview, A::Reverse, &[Char('S')], "the other end of the order first", None),
        bind(Overview, A::Group, &[Char('p')], "group by project, by agent, not at all", Some("group")),
        bind(Overview, A::Idle, &[Char('i')], "hide idle sessions, or show them", Some("idle")),
        bind(Overview, A::Newest, &[Char('n')], "to the session that was written to last", None),
        bind(Overview, A::Back, &[Esc, Left, Char('h')], "clear the filter", None),

        bind(Session, A::Open, &[Enter], "read the item's text; list the tool's items; open the sub-agent", Some("open")),
        bind(Session, A::Back, &[Esc, Backspace, Char('h')], "back: to live, then to the sessions", Some("back")),
        bind(Session, A::NextTab, &[Tab], "the next tab", Some("tabs")),
        bind(Session, A::PreviousTab, &[BackTab], "the tab before", None),
        bind(Session, A::Play, &[Char(' ')], "play and pause; live it plays from the beginning", Some("play")),
        bind(Session, A::StepBack, &[Left], "to the request before; to the record, where none was reported", Some("step")),
        bind(Session, A::StepForward, &[Right], "to the next request, or record", Some("step")),
        bind(Session, A::Filter, &[Char('/')], "filter: words, role:tool, tool:Bash, source:estimated, >5k, out, oversized, again, marked", Some("filter")),
        bind(Session, A::Sort, &[Char('s')], "next order of the items: tokens, newest, carried", Some("sort")),
        bind(Session, A::Reverse, &[Char('S')], "the other end of the order first", None),
        bind(Session, A::All, &[Char('c')], "only what is in the context, or all items", None),
        bind(Session, A::OneTool, &[Char('t')], "only the selected item's tool, or all", None),
        bind(Session, A::NextOversized, &[Char('n')], "to the next oversized item", Some("oversized")),
        bind(Session, A::PreviousOversized, &[Char('N')], "to the oversized item before", None),
        bind(Session, A::Oversized, &[Char('o')], "from which size on an item is oversized", None),
        bind(Session, A::Mark, &[Char('m')], "mark the item: the context without it", None),
        bind(Session, A::Unmark, &[Char('M')], "take all marks back", None),
        bind(Session, A::Items, &[Char('1')], "items", None),
        bind(Session, A::Tools, &[Char('2')], "what each tool's results cost", None),
        bind(Session, A::Compactions, &[Char('3'), Char('C')], "what compactions did", None),
        bind(Session, A::WhatIf, &[Char('4')], "what other policies would have done", None),
        bind(Session, A::Agents, &[Char('5')], "sub-agents", None),
        bind(Session, A::Timeline, &[Char('6')], "the context over time", None),
        bind(Session, A::Replay, &[Char('r')], "play from the beginning", None),
        bind(Session, A::PreviousRecord, &[Char(',')], "to the record before", None),
        bind(Session, A::NextRecord, &[Char('.')], "to the next record", None),
        bind(Session, A::PreviousTurn, &[ShiftLeft, Char('{')], "to the user turn before", None),
        bind(Session, A::NextTurn, &[ShiftRight, Char('}')], "to the next user turn", None),
        bind(Session, A::PreviousCompaction, &[Char('[')], "to the compaction before", None),
        bind(Session, A::NextCompaction, &[Char(']')], "to the next compaction", None),
        bind(Session, A::Slower, &[Char('-')], "play slower", None),
        bind(Session, A::Faster, &[Char('+'), Char('=')], "play faster: 1× to 1000× the log's time, or so many requests a second", None),
        bind(Session, A::Growth, &[Char('L')], "to the request that the context grew most with", None),
        bind(Session, A::Moment, &[Char('@')], "to the moment at which the selected item or compaction came; again: at which the item left", None),
        bind(Session, A::Find, &[Char('f')], "find a record by its text", None),
        bind(Session, A::FindNext, &[Char('F')], "find the next one", None),
        bind(Session, A::Live, &[Char('l')], "back to live", None),

        bind(Text, A::Back, &[Esc, Backspace, Char('h')], "back to the session", Some("back")),
        bind(Text, A::Search, &[Char('/')], "search; capitals count where there are any", Some("search")),
        bind(Text, A::NextMatch, &[Char('n')], "the next hit", Some("next")),
        bind(Text, A::PreviousMatch, &[Char('N')], "the hit before", None),
        bind(Text, A::Pretty, &[Char('p')], "JSON set out over lines, or as it is", Some("JSON")),
        bind(Text, A::Copy, &[Char('y')], "copy to the clipboard (OSC 52)", Some("copy")),
        bind(Text, A::Pager, &[Char('o')], "open in $PAGER, with control characters made visible", Some("pager")),
        bind(Text, A::Editor, &[Char('e')], "open a copy in $VISUAL or $EDITOR", Some("editor")),
        bind(Text, A::NextPage, &[Char(']')], "the next page of a very long text", None),
        bind(Text, A::PreviousPage, &[Char('[')], "the page before", None),

        bind(Anywhere, A::Window, &[Char('w')], "set the session's window, or take that back", None),
        bind(Anywhere, A::Theme, &[Char('T')], "the next theme", None),
        bind(Anywhere, A::Notices, &[Char('!')], "what was told so far, and what could not be read", None),
        bind(Anywhere, A::Help, &[Char('?')], "this help", Some("help")),
        bind(Anywhere, A::Quit, &[Char('q'), Ctrl('c')], "quit", Some("quit")),
        bind(Anywhere, A::Suspend, &[Ctrl('z')], "to the shell; fg comes back", None),
    ]
};
