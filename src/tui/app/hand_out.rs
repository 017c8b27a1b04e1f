//! The menu of the reports and tables that can be made of a session to share.

use super::menu::{Choice, MenuRow};
use super::{App, Effect, Reach};
use model::lists::sessions::{FileId, SessionKey};
use std::path::PathBuf;
use std::sync::Arc;

/// A report or a table that can be made of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandOut {
    /// A page to share, as a file.
    Html,
    /// That page as Markdown.
    Markdown,
    /// The Markdown in the clipboard.
    Copy,
    /// A table of items, as a file.
    Items,
}

/// The result of making a hand-out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HandOutResult {
    /// A message to show.
    Said(String),
    /// A text to copy.
    Copy(String),
}

/// A request for a hand-out of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandOutRequest {
    /// The kind of the hand-out.
    pub kind: HandOut,
    /// The log.
    pub file: FileId,
    /// The path of its log.
    pub log: Arc<PathBuf>,
    /// The session's id, where the log has several.
    pub session: Option<String>,
    /// The agent's id.
    pub agent: &'static str,
    /// The day of its newest record, in UTC; `None`: not known.
    pub day: Option<String>,
    /// The window that the user has set for it.
    pub window: Option<u64>,
}

impl App {
    /// Returns the rows of the menu of those of a session.
    pub(super) fn hand_out_rows(session: SessionKey) -> Vec<MenuRow> {
        let rows = [
            ("h", "HTML report, without texts and names", HandOut::Html),
            (
                "m",
                "Markdown report, without texts and names",
                HandOut::Markdown,
            ),
            ("y", "the Markdown report, to the clipboard", HandOut::Copy),
            (
                "c",
                "CSV of all items of this log, with names",
                HandOut::Items,
            ),
        ];
        rows.map(|(key, about, kind)| MenuRow::new(key, about, Choice::HandOut(session, kind)))
            .into()
    }

    /// Has the chosen hand-out made.
    pub(super) fn hand_out(&mut self, key: SessionKey, kind: HandOut) -> Effect {
        let Some((gauge, facts)) = self.sessions.gauge(key).zip(self.sessions.facts(key)) else {
            return Effect::None;
        };
        let day = gauge.updated_at.map(|at| at.strftime("%F").to_string());
        let request = HandOutRequest {
            kind,
            file: key.file,
            log: Arc::clone(&facts.path),
            session: self.sessions.id_among_several(key).map(str::to_owned),
            agent: gauge.agent,
            day,
            window: [Reach::Session, Reach::Model]
                .into_iter()
                .find_map(|reach| self.window_set(key, reach)),
        };
        self.notify("writing…".to_owned());
        Effect::HandOn(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{Msg, Overlay, Screen};
    use crate::keymap::KeyPress;
    use crate::tests::testing::{app, logs, type_keys};

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
                (vec![KeyPress::Enter], HandOut::Html),
                (vec![KeyPress::Char('h')], HandOut::Html),
                (vec![KeyPress::Down, KeyPress::Enter], HandOut::Markdown),
                (vec![KeyPress::Char('m')], HandOut::Markdown),
                (vec![KeyPress::Char('y')], HandOut::Copy),
                (vec![KeyPress::Char('c')], HandOut::Items),
            ] {
                press(&mut app, KeyPress::Char('x'));
                assert_eq!(app.ui.overlay, Some(Overlay::HandOn(selected)));
                let effects: Vec<Effect> = keys.iter().map(|key| press(&mut app, *key)).collect();
                let Some(Effect::HandOn(request)) = effects.last() else {
                    panic!("{keys:?}: {effects:?}");
                };
                assert_eq!((request.kind, request.file), (kind, selected.file));
                assert_eq!(app.ui.overlay, None);
            }
        }
    }

    #[test]
    fn the_window_that_was_set_is_that_of_the_report() {
        let mut app = app(logs(), 80, 24);
        let mut window = |keys: &str| {
            type_keys(&mut app, keys);
            match press(&mut app, KeyPress::Char('m')) {
                Effect::HandOn(request) => request.window,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(window("/opus⏎x"), None);
        assert_eq!(window("w400k⏎x"), Some(400_000));
        assert_eq!(window("w⏎x"), None);
    }

    #[test]
    fn a_key_to_leave_closes_the_menu_and_any_other_does_nothing() {
        let mut app = app(logs(), 80, 24);
        for leave in [KeyPress::Esc, KeyPress::Char('q')] {
            let idle = app.ui.is_live_only;
            press(&mut app, KeyPress::Char('x'));
            for key in ['n', 'i', 'e', '1', '/'] {
                assert_eq!(press(&mut app, KeyPress::Char(key)), Effect::None);
                assert!(app.ui.overlay.is_some(), "{key}");
            }
            assert_eq!(press(&mut app, leave), Effect::None);
            assert_eq!((app.ui.overlay, app.ui.is_live_only), (None, idle));
        }
    }
}
