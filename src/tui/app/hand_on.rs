//! The menu of files that are written of a session.

use super::{App, Effect, Overlay};
use crate::keymap::{Action, KeyPress};
use model::fleet::{FileId, SessionKey};
use std::path::PathBuf;
use std::sync::Arc;

/// A file that can be written of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A page to hand on.
    Html,
    /// The same as Markdown.
    Markdown,
    /// A table of items.
    Items,
}

impl FileKind {
    /// All of them, in the order of the menu.
    pub const ALL: [FileKind; 3] = [FileKind::Html, FileKind::Markdown, FileKind::Items];

    /// The key that chooses it in the menu.
    pub const fn key(self) -> char {
        match self {
            FileKind::Html => 'h',
            FileKind::Markdown => 'm',
            FileKind::Items => 'c',
        }
    }

    /// What it is, in the menu.
    pub const fn about(self) -> &'static str {
        match self {
            FileKind::Html => "HTML report, without texts and names",
            FileKind::Markdown => "Markdown report, without texts and names",
            FileKind::Items => "CSV of all items of this log, with names",
        }
    }
}

/// A file to write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRequest {
    /// What to write.
    pub kind: FileKind,
    /// The log.
    pub file: FileId,
    /// Where it is.
    pub log: Arc<PathBuf>,
    /// The session's id, where the log has several.
    pub session: Option<String>,
    /// The agent's id.
    pub agent: &'static str,
    /// The day of its newest record, in UTC; `None`: not known.
    pub day: Option<String>,
}

impl App {
    /// Opens the menu for the current session.
    pub(super) fn ask_hand_on(&mut self) {
        if let Some(key) = self.current() {
            self.ui.overlay = Some(Overlay::HandOn(key));
            self.ui.menu_row = 0;
        }
    }

    /// Handles a key while the menu is open. A key that is none of its closes it.
    pub(super) fn choose(&mut self, key: SessionKey, pressed: KeyPress) -> Effect {
        let action = self.keymap.action(self.scope(), pressed);
        let by_key = |kind: &FileKind| pressed == KeyPress::Char(kind.key());
        let chosen = FileKind::ALL.into_iter().find(by_key);
        let last = FileKind::ALL.len() - 1;
        let row = self.ui.menu_row.min(last);
        match (chosen, pressed, action) {
            (Some(kind), ..) => self.write(key, kind),
            (None, KeyPress::Enter, _) => self.write(key, FileKind::ALL[row]),
            (None, _, Some(Action::Up)) => {
                self.ui.menu_row = row.saturating_sub(1);
                Effect::None
            }
            (None, _, Some(Action::Down)) => {
                self.ui.menu_row = (row + 1).min(last);
                Effect::None
            }
            _ => {
                self.close_overlay();
                Effect::None
            }
        }
    }

    fn write(&mut self, key: SessionKey, kind: FileKind) -> Effect {
        self.close_overlay();
        let Some((session, facts)) = self.fleet.get(key).zip(self.fleet.facts(key)) else {
            return Effect::None;
        };
        let is_one_of_several = self.fleet.of_file(key.file).count() > 1;
        let id = session.meta.id.as_deref().or(facts.id.as_deref());
        let day = session.updated_at.map(|at| at.strftime("%F").to_string());
        let request = FileRequest {
            kind,
            file: key.file,
            log: Arc::clone(&facts.path),
            session: id.filter(|_| is_one_of_several).map(str::to_owned),
            agent: session.agent,
            day,
        };
        self.notify("writing…".to_owned());
        Effect::Write(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{Msg, Screen};
    use crate::tests::testing::{app, logs};

    fn press(app: &mut App, key: KeyPress) -> Effect {
        app.update(Msg::Key(key))
    }

    #[test]
    fn a_file_is_chosen_by_its_key_or_its_row() {
        let mut app = app(logs(), 80, 24);
        let selected = app.current().unwrap();
        for open in [false, true] {
            if open {
                press(&mut app, KeyPress::Enter);
                assert_eq!(app.ui.screen, Screen::Session(selected));
            }
            for (keys, kind) in [
                (vec![KeyPress::Enter], FileKind::Html),
                (vec![KeyPress::Char('h')], FileKind::Html),
                (vec![KeyPress::Down, KeyPress::Enter], FileKind::Markdown),
                (vec![KeyPress::Char('m')], FileKind::Markdown),
                (vec![KeyPress::Char('c')], FileKind::Items),
            ] {
                press(&mut app, KeyPress::Char('x'));
                assert_eq!(app.ui.overlay, Some(Overlay::HandOn(selected)));
                let effects: Vec<Effect> = keys.iter().map(|key| press(&mut app, *key)).collect();
                let Some(Effect::Write(request)) = effects.last() else {
                    panic!("{keys:?}: {effects:?}");
                };
                assert_eq!((request.kind, request.file), (kind, selected.file));
                assert_eq!(app.ui.overlay, None);
            }
        }
    }

    #[test]
    fn any_other_key_closes_the_menu_and_does_nothing_else() {
        let mut app = app(logs(), 80, 24);
        for key in [KeyPress::Esc, KeyPress::Char('q'), KeyPress::Char('s')] {
            let sort = app.ui.sort;
            press(&mut app, KeyPress::Char('x'));
            assert_eq!(press(&mut app, key), Effect::None);
            assert_eq!((app.ui.overlay, app.ui.sort), (None, sort));
        }
    }
}
