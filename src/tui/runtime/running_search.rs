//! The search over sessions that runs, one at a time. Another one, or leaving, ends it.

use super::Logs;
use crate::app::pager::Pattern;
use crate::app::pager::in_text;
use crate::app::{SearchRequest, SearchUpdate, Syntax};
use ingest::search::{self, Case, Matcher};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// The number of news that may wait for the screens; if there are more, the search waits.
const WAITING_NEWS: usize = 64;

/// Sends what a search finds to the screens, until they end it.
#[derive(Debug, Clone)]
pub struct Finder(Sender<SearchUpdate>);

impl Finder {
    /// Sends it to the screens. It breaks when they do not wait for it any more.
    pub fn say(&self, news: SearchUpdate) -> ControlFlow<()> {
        match self.0.blocking_send(news) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }

    /// Returns true if the screens wait for it.
    pub fn is_wanted(&self) -> bool {
        !self.0.is_closed()
    }
}

/// The search that runs.
#[derive(Default)]
pub(super) struct RunningSearch(Option<Receiver<SearchUpdate>>);

impl RunningSearch {
    /// Begins to search, and ends the search before. If the pattern is wrong, that one goes on.
    pub(super) fn begin(&mut self, logs: &dyn Logs, request: SearchRequest) -> SearchUpdate {
        let matcher = |syntax| Matcher::new(&request.pattern, syntax, Case::Smart);
        let matcher = match request.syntax {
            Syntax::Regex => matcher(search::Syntax::Regex),
            Syntax::Text => matcher(search::Syntax::Fixed),
            Syntax::Any => Ok(Matcher::any()),
        };
        let matcher = match matcher {
            Ok(matcher) => matcher,
            Err(why) => return SearchUpdate::Refused(last_line(&why)),
        };
        let (sender, news) = channel(WAITING_NEWS);
        self.0 = Some(news);
        logs.search(&request, matcher.clone(), Finder(sender));
        let typed = request.pattern.clone();
        SearchUpdate::Begun(request, Arc::new(SearchedPattern { matcher, typed }))
    }

    /// Ends the search.
    pub(super) fn end(&mut self) {
        self.0 = None;
    }

    /// Waits for what it finds next; without one, forever.
    pub(super) async fn news(&mut self) -> SearchUpdate {
        let news = match &mut self.0 {
            Some(news) => news.recv().await,
            None => std::future::pending().await,
        };
        news.unwrap_or_else(|| {
            self.0 = None;
            SearchUpdate::End
        })
    }

    /// Returns the next news that has arrived.
    pub(super) fn next_news(&mut self) -> Option<SearchUpdate> {
        self.0.as_mut()?.try_recv().ok()
    }
}

/// The pattern that is searched for.
#[derive(Debug)]
struct SearchedPattern {
    matcher: Matcher,
    typed: String,
}

impl Pattern for SearchedPattern {
    fn matches(&self, text: &str) -> Vec<Range<u32>> {
        self.matcher.ranges(text).filter_map(in_text).collect()
    }

    fn typed(&self) -> &str {
        &self.typed
    }
}

/// Returns the last line of an error in a pattern, which names the problem; those before show its place.
fn last_line(why: &str) -> String {
    let last = why.lines().last().unwrap_or_default();
    last.strip_prefix("error: ").unwrap_or(last).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{FindingsRequest, FindingsResult, HandOutRequest, HandOutResult};
    use ingest::TextJob;
    use model::lists::sessions::FileId;
    use std::sync::Mutex;

    /// Keeps the finders of the searches.
    #[derive(Default)]
    struct FinderList(Mutex<Vec<Finder>>);

    impl Logs for FinderList {
        fn look_at(&self, _: FileId) {}
        fn read_text(&self, _: TextJob) {}
        fn hand_out(&self, _: HandOutRequest, _: Box<dyn FnOnce(HandOutResult) + Send>) {}
        fn find(&self, _: FindingsRequest, _: Box<dyn FnOnce(FindingsResult) + Send>) {}

        fn search(&self, _: &SearchRequest, _: Matcher, finder: Finder) {
            self.0.lock().unwrap().push(finder);
        }

        fn there(
            &self,
            _: &str,
            _: &std::path::Path,
            _: Option<&str>,
        ) -> Option<Vec<std::ffi::OsString>> {
            None
        }

        fn is_invented(&self, _: FileId) -> bool {
            false
        }
    }

    impl FinderList {
        fn wanted(&self) -> Vec<bool> {
            let finders = self.0.lock().unwrap();
            finders.iter().map(Finder::is_wanted).collect()
        }
    }

    fn request(pattern: &str) -> SearchRequest {
        SearchRequest {
            pattern: pattern.to_owned(),
            syntax: Syntax::Regex,
            sessions: Arc::default(),
            filter: String::new(),
        }
    }

    #[test]
    fn another_search_ends_the_one_before_unless_its_pattern_is_wrong() {
        let (logs, mut searching) = (FinderList::default(), RunningSearch::default());
        let begun = searching.begin(&logs, request("a+"));
        let SearchUpdate::Begun(_, pattern) = begun else {
            panic!("{begun:?}");
        };
        assert_eq!(pattern.matches("baab aa"), [1..3, 5..7]);
        assert_eq!(logs.wanted(), [true]);
        let refused = searching.begin(&logs, request("a("));
        assert!(matches!(refused, SearchUpdate::Refused(why) if why == "unclosed group"));
        assert_eq!(logs.wanted(), [true]);
        searching.begin(&logs, request("b"));
        assert_eq!(logs.wanted(), [false, true]);
        searching.end();
        assert_eq!(logs.wanted(), [false, false]);
    }

    #[tokio::test]
    async fn a_search_is_over_when_its_finder_is_gone() {
        let (logs, mut searching) = (FinderList::default(), RunningSearch::default());
        searching.begin(&logs, request("a"));
        let finder = logs.0.lock().unwrap().remove(0);
        let say = move || finder.say(SearchUpdate::Searched(3));
        assert!(
            tokio::task::spawn_blocking(say)
                .await
                .unwrap()
                .is_continue()
        );
        assert!(matches!(searching.news().await, SearchUpdate::Searched(3)));
        assert!(matches!(searching.news().await, SearchUpdate::End));
        assert!(searching.next_news().is_none());
    }
}
