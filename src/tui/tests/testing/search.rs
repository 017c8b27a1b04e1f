//! A search over sessions, as the runtime reports it.

use super::now;
use crate::app::pager::{Pattern, in_text};
use crate::app::{App, FoundItem, Msg, SearchRequest, SearchUpdate, Syntax};
use model::lists::sessions::SessionKey;
use std::ops::Range;
use std::sync::Arc;

/// A text, as a pattern.
#[derive(Debug)]
pub(crate) struct Plain(pub(crate) String);

impl Pattern for Plain {
    fn matches(&self, text: &str) -> Vec<Range<u32>> {
        let found = text.match_indices(&self.0);
        let ranges = found.map(|(at, found)| at..at + found.len());
        ranges.filter_map(in_text).collect()
    }

    fn typed(&self) -> &str {
        &self.0
    }
}

/// Begins a search over the listed sessions.
pub(crate) fn begin_search(app: &mut App, pattern: &str) {
    let (sessions, filter) = app.searchable();
    let request = SearchRequest {
        pattern: pattern.to_owned(),
        syntax: Syntax::Regex,
        sessions,
        filter,
    };
    let pattern = Arc::new(Plain(pattern.to_owned()));
    say(app, SearchUpdate::Begun(request, pattern));
}

/// What a search says.
pub(crate) fn say(app: &mut App, news: SearchUpdate) {
    app.update(Msg::Search(news));
    app.prepare(now());
}

/// An item of a session as a search finds it by its preview.
pub(crate) fn found_in(app: &App, key: SessionKey, ix: usize, needle: &str) -> FoundItem {
    let session = app.sessions.get(key).expect("a session");
    let item = &session.items()[ix];
    let (tokens, source) = session.tokens(ix);
    let text = item.preview.to_owned();
    let found = text.match_indices(needle);
    FoundItem {
        key,
        place: item.place,
        nth: item.nth,
        kind: item.kind,
        hash: item.hash,
        role: item.role,
        label: render::item::label(item).into_owned(),
        tokens,
        source,
        request: render::item::request(item.entered),
        in_context: item.in_context(),
        matches: found.map(|(at, found)| at..at + found.len()).collect(),
        text: text.into(),
        line: 14,
        more: 3,
    }
}
