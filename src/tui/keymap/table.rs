//! The default keys.

use super::{Action, Binding, KeyPress, Scope, bind};

/// All bindings, in the order of the help and of the footer, which shows as many hints as fit: the most useful first.
#[rustfmt::skip]
pub static BINDINGS: &[Binding] = {
    use Action as A;
    use KeyPress::*;
    use Scope::*;
    &[
        bind(Overview, A::Open, &[Enter, Right, Char('l')], "open the session; fold or unfold the group", Some("open")),
        bind(Overview, A::Filter, &[Char('/')], "filter by agent, project, model, title, path or user message", Some("filter")),
        bind(Overview, A::Sort, &[Char('s')], "sort by the next column (or click a heading)", Some("sort")),
        bind(Overview, A::Reverse, &[Char('S')], "reverse the sort", None),
        bind(Overview, A::Group, &[Char('p')], "group by project, by agent, or not at all", Some("group")),
        bind(Overview, A::Idle, &[Char('i')], "hide or show idle sessions", Some("live only")),
        bind(Overview, A::Replay, &[Char('r')], "replay the session from its start", Some("replay")),
        bind(Overview, A::Newest, &[Char('n')], "go to the most recent session", None),
        bind(Overview, A::Back, &[Esc, Left, Char('h')], "clear the filter", None),

        bind(Session, A::Open, &[Enter], "open: the item's text, the tool's items, all that a compaction removed and kept, the sub-agent", Some("open")),
        bind(Session, A::Back, &[Esc, Backspace, Char('h')], "go back: end the replay, clear the filter, close the session", Some("back")),
        bind(Session, A::NextTab, &[Tab], "next tab", Some("tabs")),
        bind(Session, A::PreviousTab, &[BackTab], "previous tab", None),
        bind(Session, A::Play, &[Char(' ')], "play or pause the replay", Some("play")),
        bind(Session, A::StepBack, &[Left], "previous request (or record, if the log has no usage)", Some("step")),
        bind(Session, A::StepForward, &[Right], "next request (or record)", Some("step")),
        bind(Session, A::Filter, &[Char('/')], "filter items: text, role:tool, tool:Bash, source:estimated, >5k, out, oversized, again, marked", Some("filter")),
        bind(Session, A::Sort, &[Char('s')], "sort the items by tokens, newest or carried cost", Some("sort")),
        bind(Session, A::Reverse, &[Char('S')], "reverse the sort", None),
        bind(Session, A::Mark, &[Char('m')], "mark the item, to see the size without it", Some("mark")),
        bind(Session, A::Unmark, &[Char('M')], "remove all marks", None),
        bind(Session, A::Moment, &[Char('@')], "go to the selected item's or compaction's record, and show its age; again: to its removal", Some("go there")),
        bind(Session, A::Replay, &[Char('r')], "replay from the start", Some("replay")),
        bind(Session, A::All, &[Char('c')], "list only the items in the context, or all", None),
        bind(Session, A::OneTool, &[Char('t')], "list only the items of the selected item's tool, or all", None),
        bind(Session, A::NextOversized, &[Char('n')], "next oversized item", Some("oversized")),
        bind(Session, A::PreviousOversized, &[Char('N')], "previous oversized item", None),
        bind(Session, A::Oversized, &[Char('o')], "set the threshold for oversized items", None),
        bind(Session, A::Items, &[Char('1')], "tab: items", None),
        bind(Session, A::Tools, &[Char('2')], "tab: what each tool's results cost", None),
        bind(Session, A::Compactions, &[Char('3'), Char('C')], "tab: what each compaction removed", None),
        bind(Session, A::WhatIf, &[Char('4')], "tab: what other compaction policies would have done", None),
        bind(Session, A::Agents, &[Char('5')], "tab: sub-agents", None),
        bind(Session, A::Timeline, &[Char('6')], "tab: the context over time", None),
        bind(Session, A::PreviousRecord, &[Char(',')], "previous record", None),
        bind(Session, A::NextRecord, &[Char('.')], "next record", None),
        bind(Session, A::PreviousTurn, &[ShiftLeft, Char('{')], "previous user turn", None),
        bind(Session, A::NextTurn, &[ShiftRight, Char('}')], "next user turn", None),
        bind(Session, A::PreviousCompaction, &[Char('[')], "previous compaction", None),
        bind(Session, A::NextCompaction, &[Char(']')], "next compaction", None),
        bind(Session, A::Slower, &[Char('-')], "play slower", None),
        bind(Session, A::Faster, &[Char('+'), Char('=')], "play faster (1× to 1000×, then requests per second)", None),
        bind(Session, A::Growth, &[Char('L')], "go to the request with the largest growth", None),
        bind(Session, A::Find, &[Char('f')], "find a record by its text", None),
        bind(Session, A::FindNext, &[Char('F')], "find the next match", None),
        bind(Session, A::Live, &[Char('l')], "end the replay (live)", None),

        bind(Text, A::Back, &[Esc, Backspace, Char('h')], "go back to the session", Some("back")),
        bind(Text, A::Search, &[Char('/')], "search; case-sensitive if it contains capitals", Some("search")),
        bind(Text, A::NextMatch, &[Char('n')], "next match", Some("next")),
        bind(Text, A::PreviousMatch, &[Char('N')], "previous match", None),
        bind(Text, A::Pretty, &[Char('p')], "show JSON indented, or as logged", Some("JSON")),
        bind(Text, A::Copy, &[Char('y')], "copy to the clipboard (OSC 52)", Some("copy")),
        bind(Text, A::Pager, &[Char('o')], "open in $PAGER, with visible control characters", Some("pager")),
        bind(Text, A::Editor, &[Char('e')], "open a copy in $VISUAL or $EDITOR", Some("editor")),
        bind(Text, A::NextPage, &[Char(']')], "next page of a very long text", None),
        bind(Text, A::PreviousPage, &[Char('[')], "previous page", None),

        bind(Anywhere, A::Up, &[Up, Char('k')], "move up", Some("move")),
        bind(Anywhere, A::Down, &[Down, Char('j')], "move down", Some("move")),
        bind(Anywhere, A::PageUp, &[PageUp, Ctrl('b')], "move up a page", None),
        bind(Anywhere, A::PageDown, &[PageDown, Ctrl('f')], "move down a page", None),
        bind(Anywhere, A::First, &[Home, Char('g')], "go to the top", None),
        bind(Anywhere, A::Last, &[End, Char('G')], "go to the bottom", None),
        bind(Anywhere, A::Window, &[Char('w')], "set or reset the window size, of this session or of all with its model", None),
        bind(Anywhere, A::Theme, &[Char('T')], "next theme", None),
        bind(Anywhere, A::Notices, &[Char('!')], "notices: alerts and their sessions, errors, files that could not be read", None),
        bind(Anywhere, A::Help, &[Char('?')], "what the signs on this screen mean; again: the keys", Some("help")),
        bind(Anywhere, A::Quit, &[Char('q'), Ctrl('c')], "quit", Some("quit")),
        bind(Anywhere, A::Suspend, &[Ctrl('z')], "suspend (fg resumes)", None),
    ]
};
