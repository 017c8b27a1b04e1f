//! The keys on sessions whose logs are on other machines: they are opened there.

use super::{App, Effect, SearchRequest};
use crate::keymap::{Action, Scope};
use model::lists::sessions::SessionKey;
use render::number;
use render::text::{inert, one_line};
use std::collections::HashSet;
use std::sync::Arc;

/// The sign of a row whose machine does not answer, where the sign of a live one is.
pub const AWAY_SIGN: &str = "?";

impl App {
    /// Opens a session whose log is on another machine there; `None`: it is on this one.
    pub(super) fn open_there(&mut self, key: SessionKey) -> Option<Effect> {
        let facts = self.sessions.facts(key)?;
        let host = Arc::clone(self.sessions.host(key)?);
        let log = Arc::clone(&facts.path);
        // The log of several sessions does not say which one is meant.
        let is_in_log = |other: &SessionKey| {
            let facts = self.sessions.facts(*other);
            facts.is_some_and(|facts| facts.path == log)
                && self.sessions.host(*other) == Some(&host)
        };
        let are_several = self.sessions.keys().filter(is_in_log).nth(1).is_some();
        let gauge = self.sessions.gauge(key).filter(|_| are_several);
        let id = gauge.and_then(|gauge| gauge.meta.id.as_deref());
        let id = id.map(str::to_owned);
        self.notify(format!("opened on {host}"));
        Some(Effect::OpenThere { host, log, id })
    }

    /// Returns true if an action needs a log that is on another machine, and says where it is.
    pub(super) fn is_refused_there(&mut self, action: Action) -> bool {
        let needs_log = matches!(
            action,
            Action::Share | Action::Replay | Action::Editor | Action::Folder | Action::Window
        );
        let host = self.current().filter(|_| needs_log);
        let Some(host) = host.and_then(|key| self.sessions.host(key)).cloned() else {
            return false;
        };
        let key = self.keymap.key_text(Scope::Overview, Action::Open);
        self.notify(format!("the log is on {host}; {key} opens it there"));
        true
    }

    /// Leaves the sessions of other machines out of a search, and says that.
    pub(super) fn search_here(&mut self, mut request: SearchRequest) -> SearchRequest {
        let is_here = |key: &&SessionKey| self.sessions.host(**key).is_none();
        let here: HashSet<SessionKey> = request.sessions.iter().filter(is_here).copied().collect();
        let there = request.sessions.len() - here.len();
        if there > 0 {
            request.sessions = Arc::new(here);
            let logs = number::counted(there as u64, "log");
            self.notify(format!("not searched: {logs} on other machines"));
        }
        request
    }

    /// Returns how old what is shown of a session is, and why, if its machine does not answer.
    pub fn away_words(&self, key: SessionKey) -> Option<String> {
        let away = self.sessions.away(key)?;
        let age = away
            .since
            .map(|since| number::age(super::seconds_since(since, self.now)));
        let age = age.map_or_else(String::new, |age| format!("{age} old, "));
        Some(format!("{age}{}", inert(&one_line(&away.why))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{Msg, Screen, Severity, Syntax};
    use crate::keymap::KeyPress;
    use crate::tests::testing::{Log, app, now, type_keys};
    use model::event::Conversation;
    use model::lists::sessions::{Away, FileId, Update};

    fn two() -> App {
        let log = |n, id: &str| {
            Log::found(n, "codex", id, 8)
                .meta("/home/ada/shop", "gpt-5.4", None, None)
                .user(900, "why does the retry loop spin")
        };
        let mut app = app(
            vec![log(1, "here"), log(2, "there").on_host("build-1")],
            120,
            30,
        );
        type_keys(&mut app, "/host:build⏎");
        app.prepare(now());
        assert_eq!((app.shown.matching.len(), app.shown.listed_of), (1, 2));
        app
    }

    fn away(app: &mut App, away: Option<Away>) {
        let host = "build-1".into();
        app.update(Msg::Update(Update::Host { host, away }));
        app.prepare(now());
    }

    #[test]
    fn a_session_of_another_machine_is_opened_there() {
        let mut app = two();
        let effect = app.update(Msg::Key(KeyPress::Enter));
        let Effect::OpenThere { host, log, id } = effect else {
            panic!("{effect:?}");
        };
        assert_eq!(
            (&*host, log.to_str(), id),
            ("build-1", Some("/logs/codex/there.jsonl"), None)
        );
        assert_eq!(app.ui.screen, Screen::Overview);
        assert_eq!(app.take_rested(), None, "nothing is read here");
        for action in [
            Action::Share,
            Action::Replay,
            Action::Editor,
            Action::Folder,
            Action::Window,
        ] {
            assert!(app.is_refused_there(action), "{action:?}");
        }
        assert!(!app.is_refused_there(Action::Help));
        let sessions = app.searchable().0;
        let search = app.search_here(SearchRequest {
            pattern: "x".to_owned(),
            syntax: Syntax::Text,
            sessions,
            filter: String::new(),
        });
        assert!(search.sessions.is_empty());
    }

    #[test]
    fn of_a_log_with_several_sessions_the_selected_one_is_opened() {
        let log = |n, id: &str, host| {
            let log = Log::found(n, "opencode", id, 8).on_host(host);
            log.at_path("/home/ada/opencode.db")
        };
        let mut app = app(
            vec![
                log(1, "one", "build-1"),
                log(2, "two", "build-1"),
                log(3, "three", "lab"),
            ],
            120,
            30,
        );
        let ids = [1, 2, 3].map(|file| {
            let (file, conversation) = (FileId(file), Conversation::Main);
            match app.open_there(SessionKey { file, conversation }) {
                Some(Effect::OpenThere { id, .. }) => id,
                effect => panic!("{effect:?}"),
            }
        });
        assert_eq!(ids, [Some("one".to_owned()), Some("two".to_owned()), None]);
    }

    #[test]
    fn a_session_of_a_machine_that_is_away_is_never_live() {
        let mut app = two();
        let key = app.current().unwrap();
        assert!(app.is_live(key));
        let since = Some(now() - jiff::SignedDuration::from_mins(3));
        let why = "no route".into();
        let problem = |what: &str| Msg::Problem {
            path: "ssh://build-1".into(),
            what: what.to_owned(),
        };
        app.update(problem("left out: a line"));
        away(&mut app, Some(Away { since, why }));
        app.update(problem("no route"));
        assert_eq!(app.notices.unseen_of(Severity::Problem), 2);
        assert!(!app.is_live(key));
        assert_eq!(app.need(key), None);
        assert_eq!(app.away_words(key).as_deref(), Some("3m old, no route"));
        // That it was away is no problem any more.
        away(&mut app, None);
        assert!(app.is_live(key));
        let left: Vec<&str> = app.notices.all.iter().map(|it| &*it.text).collect();
        assert_eq!(left, ["left out: a line"]);
    }
}
