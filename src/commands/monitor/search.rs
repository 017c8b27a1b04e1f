//! Searches the texts of sessions for the screens, in a thread of its own.

use ingest::demo;
use ingest::log::LogFile;
use ingest::search::{Line, Matcher};
use model::event::cut::floor_char;
use model::lists::sessions::{FileId, SessionKey};
use render::item::{label, request};
use render::{NONE, text};
use report::ReportContext;
use report::search::{Hit, Search, Taker, in_logs, logs};
use std::collections::{HashMap, HashSet};
use std::io;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::thread;
use tui::Finder;
use tui::app::{FoundItem, SearchRequest, SearchUpdate, Syntax};

/// The reason why sessions of the demo are not searched.
pub(super) const INVENTED: &str = "the sessions of the demo are invented";

/// The most bytes of a line that are kept before its first match, and from there on: more than a row shows.
const BEFORE: usize = 400;
const AFTER: usize = 1_200;
/// The most characters of an item's name that are kept.
const LABEL: usize = 40;

/// Searches in a thread, until the finder's screens do not wait any more.
pub(super) fn start(
    context: ReportContext,
    wanted: &SearchRequest,
    matcher: Matcher,
    finder: Finder,
) {
    let sessions = Arc::clone(&wanted.sessions);
    let is_filtered = !wanted.filter.is_empty();
    let by_size = wanted.syntax == Syntax::Any;
    let search = move || {
        let wanted = (&matcher, by_size);
        // It breaks if the screens do not wait any more.
        let _ = search(&context, &sessions, is_filtered, wanted, &finder);
    };
    // If no thread can be started, the finder is dropped, which ends the search.
    drop(thread::Builder::new().name("search".into()).spawn(search));
}

fn search(
    context: &ReportContext,
    sessions: &Arc<HashSet<SessionKey>>,
    is_filtered: bool,
    (matcher, by_size): (&Matcher, bool),
    finder: &Finder,
) -> ControlFlow<()> {
    let mut left: HashMap<FileId, usize> = HashMap::new();
    for key in &**sessions {
        *left.entry(key.file).or_default() += 1;
    }
    let invented = left.keys().filter(|file| demo::holds(**file)).copied();
    for file in invented.collect::<Vec<_>>() {
        let conversations = left.remove(&file).unwrap_or(0);
        finder.say(SearchUpdate::Unread(conversations, INVENTED.to_owned()))?;
    }
    if !left.is_empty() {
        let mut logs = logs(context, None).files;
        logs.retain(|log| left.contains_key(&log.facts.file));
        let search = Search {
            matcher,
            since: None,
            project: None,
            role: None,
            tool: None,
            by_size,
            limit: None,
            lines: usize::MAX,
        };
        let mut reporter = Reporter {
            finder,
            sessions,
            is_filtered,
            left: &mut left,
        };
        in_logs(
            context,
            &search,
            &logs,
            &|| finder.is_wanted(),
            &mut reporter,
        );
    }
    if finder.is_wanted() {
        let lost = left.into_values().sum();
        let why = "their logs came through a pipe, or no longer exist".to_owned();
        if lost > 0 {
            finder.say(SearchUpdate::Unread(lost, why))?;
        }
    }
    ControlFlow::Continue(())
}

/// Sends what is found to the screens.
struct Reporter<'a> {
    finder: &'a Finder,
    sessions: &'a HashSet<SessionKey>,
    /// True if only some sessions of a log are wanted.
    is_filtered: bool,
    /// The number of sessions of each log that are not searched yet.
    left: &'a mut HashMap<FileId, usize>,
}

impl Taker for Reporter<'_> {
    fn wants(&self, key: SessionKey) -> bool {
        !self.is_filtered || self.sessions.contains(&key)
    }

    fn hit(&mut self, hit: &Hit<'_>) -> ControlFlow<()> {
        let found = found(hit);
        found.map_or(ControlFlow::Continue(()), |found| {
            self.finder.say(SearchUpdate::Found(Box::new(found)))
        })
    }

    fn searched(&mut self, log: &LogFile, searched: io::Result<()>) -> ControlFlow<()> {
        let sessions = self.left.remove(&log.facts.file).unwrap_or(0);
        self.finder.say(match searched {
            Ok(()) => SearchUpdate::Searched(sessions),
            Err(error) => SearchUpdate::Unread(sessions, error.to_string()),
        })
    }
}

/// Returns an item as the screens show it; `None`: no line of it is held.
fn found(hit: &Hit<'_>) -> Option<FoundItem> {
    let first = hit.lines.lines.first()?;
    let (text, matches) = around(first);
    let item = &hit.item;
    Some(FoundItem {
        key: hit.key,
        place: item.place,
        nth: item.nth,
        kind: item.kind,
        hash: item.hash,
        role: item.role,
        label: text::cut(&label(item), LABEL),
        tokens: hit.tokens,
        source: hit.source,
        // Without reports there is nothing to count.
        request: if hit.session.requests().is_empty() {
            NONE.to_owned()
        } else {
            request(item.entered)
        },
        in_context: item.in_context(),
        text,
        matches,
        line: first.number,
        more: hit.lines.lines.len() as u64 - 1 + hit.lines.more,
    })
}

/// Returns the part of a line around its first match, and the matches in it.
fn around(line: &Line) -> (String, Vec<Range<usize>>) {
    let text = &line.text;
    let first = line.matches.first().map_or(0, |range| range.start);
    let from = floor_char(text, first.saturating_sub(BEFORE));
    let to = floor_char(text, first.saturating_add(AFTER));
    let within = line.matches.iter().take_while(|range| range.start < to);
    let within = within.map(|range| range.start - from..range.end.min(to) - from);
    (text[from..to].to_owned(), within.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_around_the_first_match_is_kept() {
        let before = "é".repeat(10_000);
        let text = format!("{before}needle {} needle", "ü".repeat(10_000));
        let matches = text.match_indices("needle");
        let matches: Vec<_> = matches.map(|(at, it)| at..at + it.len()).collect();
        assert_eq!(matches.len(), 2);
        let line = Line {
            number: 1,
            text,
            matches,
        };
        let (part, matches) = around(&line);
        assert!(part.len() <= BEFORE + AFTER);
        let marked: Vec<&str> = matches.into_iter().map(|range| &part[range]).collect();
        assert_eq!(marked, ["needle"]);
        // A match that does not fit is cut.
        let line = Line {
            number: 1,
            text: "ü".repeat(10_000),
            matches: std::iter::once(0..20_000).collect(),
        };
        let (part, matches) = around(&line);
        assert_eq!((part.len(), matches.len()), (AFTER, 1));
        assert_eq!(matches.first(), Some(&(0..AFTER)));
    }
}
