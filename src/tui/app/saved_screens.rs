//! The settings of the screens that are saved from run to run, as words: unknown words of another version are
//! ignored. Filters are not saved, nor is `live only`: they may hide all
//! sessions of the next run.

use super::tabs::Tab;
use super::{App, Column, Effect};
use model::lists::sessions::SessionKey;
use model::values::threshold::Threshold;
use model::window::set::SetWindow;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::str::FromStr;

/// The settings of the screens. An empty word is the default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedScreens {
    /// The list of sessions.
    pub sessions: SavedSessions,
    /// The lists of items.
    pub items: SavedItems,
    /// The session that was on screen last.
    pub last: LastSession,
    /// The windows that were set, the latest last.
    pub windows: Vec<SetWindow>,
}

/// The list of sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedSessions {
    /// The sort.
    pub sort: String,
    /// Its direction.
    pub direction: String,
    /// The property by which they are grouped.
    pub grouping: String,
}

/// The lists of items.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedItems {
    /// The sort.
    pub sort: String,
    /// Its direction.
    pub direction: String,
    /// The word for listed or hidden items that have left the context.
    pub listed: String,
    /// The size from which an item is oversized; none: that of the configuration.
    pub oversized: Option<Threshold>,
}

/// The session that was on screen last; without a path it was the list of sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastSession {
    /// The path of its log.
    pub path: String,
    /// Its id; one log can hold several sessions.
    pub id: String,
    /// The name of the tab.
    pub panel: String,
}

impl App {
    /// Returns the settings of the screens.
    pub fn remember(&self) -> SavedScreens {
        let ui = &self.ui;
        let word = str::to_owned;
        SavedScreens {
            sessions: SavedSessions {
                sort: word(ui.sort.name),
                direction: word(ui.direction.into()),
                grouping: word(ui.grouping.into()),
            },
            items: SavedItems {
                sort: word(ui.item_sort.into()),
                direction: word(ui.item_direction.into()),
                listed: word(ui.listed_before.unwrap_or(ui.listed).into()),
                oversized: ui.oversized.filter(|size| *size != self.usual_oversized),
            },
            last: LastSession {
                panel: ui.tab.name.to_owned(),
                ..self.last.clone()
            },
            windows: self.sessions.set_windows().all().to_vec(),
        }
    }

    /// Sets the screens to what was remembered.
    pub fn recall(&mut self, remembered: &SavedScreens) {
        fn read<T: FromStr + Default>(word: &str) -> T {
            word.parse().unwrap_or_default()
        }
        let (sessions, items) = (&remembered.sessions, &remembered.items);
        let ui = &mut self.ui;
        ui.sort = Column::named(&sessions.sort).unwrap_or_default();
        ui.direction = read(&sessions.direction);
        ui.grouping = read(&sessions.grouping);
        ui.item_sort = read(&items.sort);
        ui.item_direction = read(&items.direction);
        ui.listed = read(&items.listed);
        ui.oversized = items.oversized;
        ui.tab = Tab::named(&remembered.last.panel).unwrap_or_default();
        let windows = remembered.windows.iter().filter(|set| set.tokens > 0);
        self.sessions.recall_windows(windows.cloned());
        self.last = remembered.last.clone();
        self.stale();
    }

    /// Notes that this session was open last.
    pub(super) fn note_last(&mut self, key: SessionKey) {
        let (facts, gauge) = (self.sessions.facts(key), self.sessions.gauge(key));
        let path = facts.and_then(|facts| facts.path.to_str());
        let id = gauge.and_then(|gauge| gauge.meta.id.as_deref());
        self.last = LastSession {
            path: path.unwrap_or_default().to_owned(),
            id: id.unwrap_or_default().to_owned(),
            panel: String::new(),
        };
    }

    /// Opens the session that was open last, as soon as its log is found.
    pub(super) fn open_last(&mut self) -> Effect {
        if self.last.path.is_empty() {
            self.notify("no session was open before".to_owned());
        } else {
            self.awaited = Some(self.last.clone());
        }
        self.open_awaited()
    }

    /// Opens the session of a log as soon as it is found, unless the user does something before: the one with this id.
    /// Without an id, if the log was on screen last, its session that was is meant.
    pub fn open_once_found(&mut self, log: &Path, id: Option<&str>) {
        let Some(path) = log.to_str() else { return };
        let last = Some(&self.last).filter(|last| last.path == path && id.is_none());
        self.awaited = Some(last.cloned().unwrap_or_else(|| LastSession {
            path: path.to_owned(),
            id: id.unwrap_or_default().to_owned(),
            panel: String::new(),
        }));
    }

    /// Opens the session that is awaited, if it is found by now.
    pub(super) fn open_awaited(&mut self) -> Effect {
        let Some(key) = self.awaited.as_ref().and_then(|it| self.find_awaited(it)) else {
            return Effect::None;
        };
        self.awaited = None;
        self.open_session_page(key)
    }

    /// Returns the session with this id or, without an id, the only one of the log that is nobody's sub-agent.
    fn find_awaited(&self, awaited: &LastSession) -> Option<SessionKey> {
        let is_in_log = |key: &SessionKey| {
            let facts = self.sessions.facts(*key);
            facts.is_some_and(|facts| {
                facts.host.is_none() && facts.path.to_str() == Some(&awaited.path)
            })
        };
        let found = self.sessions.gauges().filter(|(key, _)| is_in_log(key));
        if !awaited.id.is_empty() {
            let mut found =
                found.filter(|(_, gauge)| gauge.meta.id.as_deref() == Some(&awaited.id));
            return found.next().map(|(key, _)| key);
        }
        let found: Vec<(SessionKey, bool)> = found
            .map(|(key, gauge)| (key, gauge.meta.parent.is_none()))
            .collect();
        let mut of_nobody = found.iter().filter(|(_, is_own)| *is_own);
        match (of_nobody.next(), of_nobody.next()) {
            (Some((key, _)), None) => Some(*key),
            (None, _) => found.first().map(|(key, _)| *key),
            // The list shows them.
            (Some(_), Some(_)) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::tabs::TABS;
    use crate::app::{Direction, Grouping, ItemSort, Msg, ShownItems};
    use crate::keymap::KeyPress;
    use crate::tests::testing::{Log, now, rules};
    use model::lists::sessions::{Sessions, Update};

    fn app() -> App {
        App::new(Sessions::new(rules()), now())
    }

    fn set() -> App {
        let mut app = app();
        app.ui.sort = Column::named("growth").unwrap();
        app.ui.direction = Direction::Reversed;
        app.ui.grouping = Grouping::Agent;
        app.ui.item_sort = ItemSort::Carried;
        app.ui.item_direction = Direction::Reversed;
        app.ui.listed = ShownItems::All;
        app.ui.oversized = Some(Threshold::Tokens(5_000));
        app.ui.tab = &TABS[1];
        app
    }

    #[test]
    fn all_that_is_set_is_recalled() {
        let remembered = set().remember();
        let mut app = app();
        assert_ne!(app.remember(), remembered);
        app.recall(&remembered);
        assert_eq!(app.remember(), remembered);
        // A list that was live only would be empty at the next start.
        let mut live_only = set();
        live_only.ui.is_live_only = true;
        assert_eq!(live_only.remember(), remembered);
    }

    #[test]
    fn words_of_another_version_are_passed_over() {
        let mut remembered = set().remember();
        remembered.sessions.sort = "luck".to_owned();
        remembered.items.listed = "some".to_owned();
        let mut app = app();
        app.recall(&remembered);
        assert_eq!(app.ui.sort, Column::first());
        assert_eq!(app.ui.listed, ShownItems::default());
        assert_eq!(app.ui.item_sort, ItemSort::Carried);
    }

    #[test]
    fn a_size_of_the_configuration_is_not_held_against_its_next_one() {
        let mut app = app();
        app.usual_oversized = Threshold::Tokens(7_000);
        assert_eq!(app.remember().items.oversized, None);
        app.ui.oversized = Some(Threshold::Tokens(9_000));
        let remembered = app.remember();
        app.usual_oversized = Threshold::Tokens(8_000);
        app.recall(&remembered);
        assert_eq!(app.oversized(), Threshold::Tokens(9_000));
    }

    fn found(app: &mut App) -> Effect {
        let log = Log::found(7, "codex", "s7", 10).meta("shop", "gpt-5", None, None);
        for update in log.into_updates() {
            app.update(Msg::Update(update));
        }
        app.update(Msg::Update(Update::InitialScanDone))
    }

    #[test]
    fn the_last_session_is_one_key_away_and_a_log_that_is_named_opens() {
        let mut before = app();
        found(&mut before);
        before.prepare(now());
        before.update(Msg::Key(KeyPress::Enter));
        let remembered = before.remember();
        assert!(!remembered.last.path.is_empty());

        let mut after = app();
        after.recall(&remembered);
        assert_eq!(after.remember(), remembered);
        assert_eq!(found(&mut after), Effect::None);
        assert_eq!(after.open_session(), None);
        after.prepare(now());
        assert!(matches!(
            after.update(Msg::Key(KeyPress::Tab)),
            Effect::LookAt(_)
        ));
        assert_eq!(after.open_session(), before.open_session());
        // It is the last one also from the list.
        after.prepare(now());
        after.update(Msg::Key(KeyPress::Esc));
        assert_eq!(after.open_session(), None);
        assert_eq!(after.remember(), remembered);

        let mut early = app();
        early.recall(&remembered);
        assert_eq!(early.update(Msg::Key(KeyPress::Tab)), Effect::None);
        assert!(matches!(found(&mut early), Effect::LookAt(_)));

        let mut named = app();
        named.open_once_found(Path::new(&remembered.last.path), None);
        assert!(matches!(found(&mut named), Effect::LookAt(_)));
        assert_eq!(named.open_session(), before.open_session());

        for id in ["one", "two"] {
            let mut several = app();
            several.open_once_found(Path::new("/a.db"), Some(id));
            for (n, id) in [(1, "one"), (2, "two")] {
                let log = Log::found(n, "opencode", id, 10).at_path("/a.db");
                for update in log.into_updates() {
                    several.update(Msg::Update(update));
                }
            }
            several.update(Msg::Update(Update::InitialScanDone));
            let key = several.open_session().unwrap();
            let gauge = several.sessions.gauge(key).unwrap();
            assert_eq!(gauge.meta.id.as_deref(), Some(id));
        }

        let mut other = app();
        other.recall(&remembered);
        other.open_once_found(Path::new("other.jsonl"), None);
        assert_eq!(found(&mut other), Effect::None);

        let mut busy = app();
        busy.open_once_found(Path::new(&remembered.last.path), None);
        busy.update(Msg::Key(KeyPress::Down));
        assert_eq!(found(&mut busy), Effect::None);
        assert_eq!(busy.open_session(), None);
    }
}
