//! What keys, clicks and the wheel do.

use super::{App, Cursor, Effect, Listed, Mode, Overlay, Panel, Screen, Stale, Top};
use crate::model::fleet::Sort;
use crate::tui::keymap::{Action, Press};

/// Rows that one notch of the mouse wheel moves.
const WHEEL: isize = 3;

impl App {
    pub(super) fn press(&mut self, press: Press) -> Effect {
        if self.typed_window(press) || (self.ui.mode == Mode::Filter && self.typed(press)) {
            return Effect::None;
        }
        // An overlay goes away with the next key, which does nothing else.
        if !matches!(press, Press::Ctrl(_)) && self.ui.overlay.take().is_some() {
            return Effect::None;
        }
        let action = self.keymap.action(self.scope(), press);
        action.map_or(Effect::None, |action| self.act(action))
    }

    /// A key while the filter is typed. Returns whether it was taken.
    fn typed(&mut self, press: Press) -> bool {
        match press {
            Press::Char(c) => self.ui.filter.push(c),
            Press::Backspace => {
                self.ui.filter.pop();
            }
            Press::Ctrl('u') => self.ui.filter.clear(),
            Press::Enter => self.ui.mode = Mode::Browse,
            Press::Esc => {
                self.ui.mode = Mode::Browse;
                self.ui.filter.clear();
            }
            _ => return false,
        }
        self.stale = Stale::Lists;
        true
    }

    fn act(&mut self, action: Action) -> Effect {
        let page = self.page();
        match action {
            Action::Up => self.step(-1),
            Action::Down => self.step(1),
            Action::PageUp => self.step(-page),
            Action::PageDown => self.step(page),
            Action::First => self.step(isize::MIN),
            Action::Last => self.step(isize::MAX),
            Action::Open => return self.open(),
            Action::Back => self.back(),
            Action::Filter => self.ui.mode = Mode::Filter,
            Action::Sort => {
                let at = Sort::ALL.iter().position(|sort| *sort == self.ui.sort);
                let next = at.map_or(0, |at| (at + 1) % Sort::ALL.len());
                self.ui.sort = Sort::ALL[next];
                self.stale = Stale::Lists;
            }
            Action::Items => {
                // From elsewhere it leads back to the items as they were listed.
                if self.ui.panel == Panel::Items {
                    self.ui.listed = match self.ui.listed {
                        Listed::InContext => Listed::All,
                        Listed::All => Listed::InContext,
                    };
                }
                self.ui.panel = Panel::Items;
                self.stale = Stale::Lists;
            }
            Action::Compactions => {
                self.ui.panel = match self.ui.panel {
                    Panel::Items => Panel::Compactions,
                    Panel::Compactions => Panel::Items,
                };
                self.stale = Stale::Lists;
            }
            Action::Window => self.ask_window(),
            Action::Help => self.ui.overlay = Some(Overlay::Help),
            Action::Problems => self.ui.overlay = Some(Overlay::Problems),
            Action::Suspend => return Effect::Suspend,
            Action::Quit => return Effect::Quit,
        }
        Effect::None
    }

    fn open(&mut self) -> Effect {
        let (Screen::Overview, Some(key)) = (self.ui.screen, self.current()) else {
            return Effect::None;
        };
        self.ui.mode = Mode::Browse;
        self.ui.sessions.pin(key);
        self.ui.screen = Screen::Session(key);
        self.ui.panel = Panel::default();
        self.ui.items = Cursor::new(Top::Follows);
        self.ui.facts = Cursor::new(Top::Follows);
        self.stale = Stale::Lists;
        Effect::LookAt(key.file)
    }

    fn back(&mut self) {
        match self.ui.screen {
            Screen::Session(_) => self.ui.screen = Screen::Overview,
            Screen::Overview => self.ui.filter.clear(),
        }
        self.stale = Stale::Lists;
    }

    fn step(&mut self, by: isize) {
        match (self.ui.screen, self.ui.panel) {
            (Screen::Overview, _) => self.ui.sessions.step(&self.shown.keys, by),
            (Screen::Session(_), Panel::Items) => self.ui.items.step(&self.shown.item_ids, by),
            (Screen::Session(_), Panel::Compactions) => {
                self.ui.facts.step(&self.shown.facts.ids, by);
            }
        }
    }

    fn page(&self) -> isize {
        let list = match self.ui.screen {
            Screen::Overview => self.overview_layout().list,
            Screen::Session(_) => self.session_layout().list,
        };
        isize::try_from(list.count).unwrap_or(1).max(1)
    }

    /// A click selects; on what is selected already it opens.
    pub(super) fn click(&mut self, row: u16) -> Effect {
        if self.ui.window.take().is_some() || self.ui.overlay.take().is_some() {
            return Effect::None;
        }
        match self.ui.screen {
            Screen::Overview => {
                let Some(at) = self.overview_layout().list.position(row) else {
                    return Effect::None;
                };
                let index = self.ui.sessions.offset() + at;
                if index >= self.shown.keys.len() {
                    return Effect::None;
                }
                if index == self.ui.sessions.index() {
                    return self.open();
                }
                self.ui.sessions.select(&self.shown.keys, index);
            }
            Screen::Session(_) => {
                if let Some(at) = self.session_layout().list.position(row) {
                    match self.ui.panel {
                        Panel::Items => {
                            let index = self.ui.items.offset() + at;
                            self.ui.items.select(&self.shown.item_ids, index);
                        }
                        Panel::Compactions => {
                            let index = self.ui.facts.offset() + at;
                            self.ui.facts.select(&self.shown.facts.ids, index);
                        }
                    }
                }
            }
        }
        Effect::None
    }

    pub(super) fn wheel(&mut self, notches: isize) -> Effect {
        self.step(notches.saturating_mul(WHEEL));
        Effect::None
    }
}
