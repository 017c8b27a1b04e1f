//! What the screens were set to, in words that outlive a version: a word that is not known any more is
//! passed over.

use super::{App, Column, Direction, Effect, Grouping, Idle, ItemSort, Panel, ShownItems};
use crate::model::threshold::Threshold;
use serde::{Deserialize, Serialize};

/// What the screens were set to. An empty word: as it is without.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Remembered {
    /// The list of sessions.
    pub sessions: RememberedSessions,
    /// The lists of items.
    pub items: RememberedItems,
    /// The session that was on screen last.
    pub last: LastSession,
}

/// The list of sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RememberedSessions {
    /// The order's name.
    pub sort: String,
    /// Which end of it comes first.
    pub direction: String,
    /// What they are grouped by.
    pub grouping: String,
    /// Whether idle ones are listed.
    pub idle: String,
    /// The filter, as typed.
    pub filter: String,
}

/// The lists of items.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RememberedItems {
    /// The order's name.
    pub sort: String,
    /// Which end of it comes first.
    pub direction: String,
    /// Whether those are listed that have left the context.
    pub listed: String,
    /// The filter, as typed.
    pub filter: String,
    /// From which size on an item is oversized; none: as the configuration has it.
    pub oversized: Option<Threshold>,
}

/// The session that was on screen last; without a path: the list of sessions was.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LastSession {
    /// The path of its log.
    pub path: String,
    /// Its id; one log can hold several sessions.
    pub id: String,
    /// The name of the panel.
    pub panel: String,
}

/// The word for what is not the usual.
const REVERSED: &str = "reversed";
/// The same.
const HIDDEN: &str = "hidden";
/// The same.
const ALL: &str = "all";

impl App {
    /// Begins with another size from which on items are oversized.
    pub fn set_usual_oversized(&mut self, size: Threshold) {
        self.usual_oversized = size;
        self.ui.oversized = size;
    }

    /// What the screens are set to.
    pub fn remember(&self) -> Remembered {
        let ui = &self.ui;
        Remembered {
            sessions: RememberedSessions {
                sort: ui.sort.name().to_owned(),
                direction: direction_word(ui.direction),
                grouping: ui.grouping.name().to_owned(),
                idle: word(ui.idle, Idle::Hidden, HIDDEN),
                filter: ui.filter.clone(),
            },
            items: RememberedItems {
                sort: ui.item_sort.name().to_owned(),
                direction: direction_word(ui.item_direction),
                listed: word(ui.listed, ShownItems::All, ALL),
                filter: ui.item_filter.clone(),
                oversized: Some(ui.oversized).filter(|size| *size != self.usual_oversized),
            },
            last: self.last(),
        }
    }

    /// Sets the screens to what was remembered. The session that was on screen last opens when its log is
    /// found, unless something was done before.
    pub fn recall(&mut self, remembered: &Remembered) {
        let (sessions, items) = (&remembered.sessions, &remembered.items);
        let ui = &mut self.ui;
        ui.sort = named(&Column::ALL, Column::name, &sessions.sort);
        ui.direction = direction(&sessions.direction);
        ui.grouping = named(&Grouping::ALL, Grouping::name, &sessions.grouping);
        ui.idle = of_word(&sessions.idle, HIDDEN, Idle::Hidden);
        ui.filter.clone_from(&sessions.filter);
        ui.item_sort = named(&ItemSort::ALL, ItemSort::name, &items.sort);
        ui.item_direction = direction(&items.direction);
        ui.listed = of_word(&items.listed, ALL, ShownItems::All);
        ui.item_filter.clone_from(&items.filter);
        ui.oversized = items.oversized.unwrap_or(self.usual_oversized);
        ui.panel = named(&Panel::ALL, Panel::name, &remembered.last.panel);
        self.awaited = Some(remembered.last.clone()).filter(|last| !last.path.is_empty());
        self.stale();
    }

    /// The session on screen; while one is awaited still, that one.
    fn last(&self) -> LastSession {
        if let Some(awaited) = &self.awaited {
            return awaited.clone();
        }
        let panel = self.ui.panel.name().to_owned();
        let shown = self.open_session().and_then(|key| {
            let path = self.fleet.facts(key)?.path.to_str()?;
            Some((path, self.fleet.get(key)?.meta.id.as_deref()))
        });
        let (path, id) = shown.unwrap_or_default();
        LastSession {
            path: path.to_owned(),
            id: id.unwrap_or_default().to_owned(),
            panel,
        }
    }

    /// Opens the session that was on screen last, once it is found.
    pub(super) fn open_awaited(&mut self) -> Effect {
        let Some(awaited) = &self.awaited else {
            return Effect::None;
        };
        let found = self.fleet.sessions().filter(|(key, session)| {
            let facts = self.fleet.facts(*key);
            facts.is_some_and(|facts| facts.path.to_str() == Some(&awaited.path))
                && session.meta.id.as_deref().unwrap_or_default() == awaited.id
        });
        match found.map(|(key, _)| key).min() {
            Some(key) => {
                self.awaited = None;
                self.open_session_page(key)
            }
            None => Effect::None,
        }
    }
}

fn direction_word(direction: Direction) -> String {
    word(direction, Direction::Reversed, REVERSED)
}

fn direction(said: &str) -> Direction {
    of_word(said, REVERSED, Direction::Reversed)
}

/// The word where it is this one, none where it is the usual.
fn word<T: PartialEq>(is: T, this: T, word: &str) -> String {
    if is == this {
        word.to_owned()
    } else {
        String::new()
    }
}

fn of_word<T: Default>(said: &str, word: &str, this: T) -> T {
    if said == word { this } else { T::default() }
}

/// The one of a name; the usual one where there is none.
fn named<T: Copy + Default>(all: &[T], name: fn(T) -> &'static str, said: &str) -> T {
    let found = all.iter().find(|one| name(**one) == said);
    found.copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::fleet::{Fleet, Update};
    use crate::tui::app::Msg;
    use crate::tui::keymap::Press;
    use crate::tui::testing::{Log, now, rules};

    fn app() -> App {
        App::new(Fleet::new(rules()), now())
    }

    fn set() -> App {
        let mut app = app();
        app.ui.sort = Column::Growth;
        app.ui.direction = Direction::Reversed;
        app.ui.grouping = Grouping::Agent;
        app.ui.idle = Idle::Hidden;
        app.ui.filter = "shop".to_owned();
        app.ui.item_sort = ItemSort::Carried;
        app.ui.item_direction = Direction::Reversed;
        app.ui.listed = ShownItems::All;
        app.ui.item_filter = "tool:Read".to_owned();
        app.ui.oversized = Threshold::Tokens(5_000);
        app.ui.panel = Panel::Tools;
        app
    }

    #[test]
    fn all_that_is_set_is_recalled() {
        let remembered = set().remember();
        let mut app = app();
        assert_ne!(app.remember(), remembered);
        app.recall(&remembered);
        assert_eq!(app.remember(), remembered);
    }

    #[test]
    fn words_of_another_version_are_passed_over() {
        let mut remembered = set().remember();
        remembered.sessions.sort = "luck".to_owned();
        remembered.items.listed = "some".to_owned();
        let mut app = app();
        app.recall(&remembered);
        assert_eq!(app.ui.sort, Column::default());
        assert_eq!(app.ui.listed, ShownItems::default());
        assert_eq!(app.ui.item_sort, ItemSort::Carried);
    }

    #[test]
    fn a_size_of_the_configuration_is_not_held_against_its_next_one() {
        let mut app = app();
        app.set_usual_oversized(Threshold::Tokens(7_000));
        assert_eq!(app.remember().items.oversized, None);
        app.ui.oversized = Threshold::Tokens(9_000);
        let remembered = app.remember();
        app.set_usual_oversized(Threshold::Tokens(8_000));
        app.recall(&remembered);
        assert_eq!(app.ui.oversized, Threshold::Tokens(9_000));
    }

    fn found(app: &mut App) -> Effect {
        let log = Log::found(7, "codex", "s7", 10).meta("shop", "gpt-5", None, None);
        for update in log.into_updates() {
            app.update(Msg::Update(update));
        }
        app.update(Msg::Update(Update::InitialScanDone))
    }

    #[test]
    fn the_last_session_opens_once_it_is_found() {
        let mut before = app();
        found(&mut before);
        before.prepare(now());
        before.update(Msg::Press(Press::Enter));
        let remembered = before.remember();
        assert!(!remembered.last.path.is_empty());

        let mut after = app();
        after.recall(&remembered);
        assert_eq!(after.remember(), remembered, "awaited still");
        assert!(matches!(found(&mut after), Effect::LookAt(_)));
        assert_eq!(after.open_session(), before.open_session());

        let mut busy = app();
        busy.recall(&remembered);
        busy.update(Msg::Press(Press::Down));
        assert_eq!(found(&mut busy), Effect::None);
        assert_eq!(busy.open_session(), None);
    }
}
