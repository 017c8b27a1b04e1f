//! Names items by their calls: the file that was read, the command that ran. A result's own text often does not contain
//! it, and begins with what all results of its tool begin with.
//!
//! Each face names items by [`Calls::name`]. The words are those of the call's preview, which is written when the call is read.

use crate::Kind;
use crate::event::Key;
use crate::history::{Item, ItemIx, NOT_LOGGED};
use crate::session::Session;
use jiff::Timestamp;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The most items between a call and its result that a list looks through.
const MOST_BETWEEN: usize = 1_000;

/// The tool calls of a session, by their ids. A call in pieces is represented by its first piece with arguments.
#[derive(Debug, Clone, Default)]
pub struct Calls(HashMap<Key, ItemIx>);

impl Calls {
    /// Returns the tool calls of a session.
    pub fn of(session: &Session) -> Calls {
        Calls::that(session, |_| true)
    }

    /// Returns the calls that these items are of. Few items need little memory, however long the session is.
    pub fn of_items(session: &Session, items: impl IntoIterator<Item = ItemIx>) -> Calls {
        let items = items.into_iter().filter_map(|ix| session.items().get(ix));
        let wanted: HashSet<Key> = items.filter_map(|item| item.call).collect();
        if wanted.is_empty() {
            return Calls::default();
        }
        Calls::that(session, |call| wanted.contains(&call))
    }

    /// Returns the call of one item, which is not far before it: a list asks for one item of each session.
    pub fn of_item(session: &Session, ix: ItemIx) -> Calls {
        let before = session.items().iter().take(ix).enumerate().rev();
        let call = session.items().get(ix).and_then(|item| item.call);
        let found = call.and_then(|call| {
            let is_call = |item: &Item| {
                item.kind == Kind::ToolCall
                    && item.call == Some(call)
                    && !arguments(item).is_empty()
            };
            let mut before = before.take(MOST_BETWEEN);
            before
                .find(|(_, item)| is_call(item))
                .map(|(ix, _)| (call, ix))
        });
        Calls(found.into_iter().collect())
    }

    fn that(session: &Session, is_wanted: impl Fn(Key) -> bool) -> Calls {
        let items = session.items().iter().enumerate();
        let mut calls = HashMap::new();
        for (ix, item) in items.filter(|(_, item)| item.kind == Kind::ToolCall) {
            if let Some(call) = item.call.filter(|call| is_wanted(*call))
                && !arguments(item).is_empty()
            {
                calls.entry(call).or_insert(ix);
            }
        }
        Calls(calls)
    }

    /// Returns the name of an item beside its tool or kind: what its call was made with, or else its beginning. At most
    /// [`crate::event::PREVIEW_BYTES`] long, on one line. This is log text: not safe to print.
    pub fn name<'s>(&self, session: &'s Session, item: &'s Item) -> Cow<'s, str> {
        match item.kind {
            Kind::ToolCall => relative(session, preview(item)),
            _ => match self.subject(session, item) {
                Some(subject) => subject,
                None => preview(item).into(),
            },
        }
    }

    /// Returns the arguments of a call or of a result's call; `None`: it is neither, or there are none.
    pub fn arguments_at<'s>(&self, session: &'s Session, ix: ItemIx) -> Option<Cow<'s, str>> {
        let item = session.items().get(ix)?;
        let found = match item.kind {
            Kind::ToolCall => Some(relative(session, arguments(item))),
            _ => self.subject(session, item),
        };
        found.filter(|arguments| !arguments.is_empty())
    }

    /// Returns the arguments of the call that a tool's result belongs to, as a person would write them. Paths below the
    /// session's folder are relative to it.
    pub fn subject<'s>(&self, session: &'s Session, result: &Item) -> Option<Cow<'s, str>> {
        if result.kind != Kind::ToolResult {
            return None;
        }
        let call = session.items().get(*self.0.get(&result.call?)?)?;
        Some(relative(session, arguments(call)))
    }
}

/// Returns true if an item is of a tool that changes files.
pub(crate) fn is_edit(item: &Item) -> bool {
    let tool = item.tool.as_deref().unwrap_or_default();
    let tool = tool.to_ascii_lowercase();
    let words = ["edit", "patch", "write_file"];
    tool == "write" || words.iter().any(|word| tool.contains(word))
}

/// Returns the files that the agent has changed since then, as its calls name them, relative to its folder.
pub fn edited_since(session: &Session, since: Timestamp) -> BTreeSet<String> {
    let calls = Calls::default();
    let newest = session.items().iter().rev();
    let newest = newest.take_while(|item| item.at.is_none_or(|at| at >= since));
    let edits = newest.filter(|item| item.kind == Kind::ToolCall && is_edit(item));
    let mut files = BTreeSet::new();
    for item in edits {
        for file in calls.name(session, item).split(", ") {
            let lines = file
                .rsplit_once(':')
                .filter(|(_, lines)| lines.starts_with(|c: char| c.is_ascii_digit()));
            files.insert(lines.map_or(file, |(file, _)| file).to_owned());
        }
    }
    files
}

/// Returns an item's preview, without the tool's name that begins a call. This is log text: not safe to print. A note
/// replaces hidden content, such as most thinking.
pub fn preview(item: &Item) -> &str {
    let is_hidden = || item.size.opaque > 0 || item.size.reported > 0;
    match arguments(item) {
        "" if is_hidden() => NOT_LOGGED,
        preview => preview,
    }
}

/// Returns a call's preview without the tool's name, and that of any other item as it is.
fn arguments(item: &Item) -> &str {
    let whole = &*item.preview;
    let tool = item.tool.as_deref().filter(|_| item.kind == Kind::ToolCall);
    let arguments = tool.and_then(|tool| whole.strip_prefix(tool));
    let is_apart = |rest: &&str| rest.is_empty() || rest.starts_with(' ');
    arguments.filter(is_apart).unwrap_or(whole).trim_start()
}

/// Returns a text without the session's folder before paths below it.
fn relative<'t>(session: &Session, text: &'t str) -> Cow<'t, str> {
    let cwd = session.meta.cwd.as_deref().filter(|cwd| cwd.len() > 1);
    let Some(cwd) = cwd.filter(|cwd| text.contains(*cwd)) else {
        return Cow::Borrowed(text);
    };
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(cwd) {
        kept.push_str(before);
        let begins = kept.ends_with([' ', '"', '\'', '=']) || kept.is_empty();
        let below = after
            .strip_prefix('/')
            .filter(|below| begins && !below.is_empty());
        rest = below.unwrap_or(after);
        if below.is_none() {
            kept.push_str(cwd);
        }
    }
    kept.push_str(rest);
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests;
