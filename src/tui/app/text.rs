//! The screen of an item's text: opens it, requests its pages, searches and closes it.

use super::pager::{Pager, Program, SearchDirection};
use super::{App, Effect, Purpose, Screen};
use crate::keymap::Action;
use model::lists::sessions::SessionKey;
use model::lists::text::{TextPage, TextRequest};
use model::session::{Item, ItemIx};
use render::inert::visible_text;

/// The rows of that screen that are not text: header, status, keys.
pub const FRAME_ROWS: u16 = 6;

impl App {
    /// Opens the text of an item.
    pub(super) fn open_text(&mut self, key: SessionKey, ix: ItemIx) -> Effect {
        let session = self.sessions.get(key);
        let item = session.and_then(|session| session.items().get(ix));
        let Some(wanted) = item.and_then(|item| TextRequest::of(key.file, item)) else {
            self.notify("the log does not contain this item's text".to_owned());
            return Effect::None;
        };
        self.pager = Some(Pager::open(key, wanted));
        self.ui.screen = Screen::Text(key);
        Effect::ReadText(wanted)
    }

    /// Returns the item whose text is on screen; `None`: its log no longer has it.
    pub fn item_read(&self) -> Option<(ItemIx, &Item)> {
        let pager = self.pager.as_ref()?;
        let wanted = pager.wanted;
        let items = &self.sessions.get(pager.key)?.items();
        let at = items.partition_point(|item| item.place < wanted.place);
        (at..)
            .zip(items.iter().skip(at))
            .chain(items.iter().enumerate())
            .find(|(_, item)| item.place.is_same(wanted.place) && item.hash == wanted.hash)
    }

    /// Takes a page that was read.
    pub(super) fn take_text(&mut self, page: TextPage) -> Effect {
        let page = match self.copy_page(page) {
            Ok(effect) => return effect,
            Err(page) => page,
        };
        let next = self.pager.as_mut().and_then(|pager| pager.take(page));
        next.map_or(Effect::None, Effect::ReadText)
    }

    pub(super) fn act_on_text(&mut self, action: Action) -> Effect {
        let Some(pager) = &mut self.pager else {
            return Effect::None;
        };
        let next = match action {
            Action::Search => {
                self.ask(Purpose::Search);
                None
            }
            Action::NextMatch => pager.next_match(SearchDirection::Forward),
            Action::PreviousMatch => pager.next_match(SearchDirection::Back),
            Action::NextPage => pager.turn_page(SearchDirection::Forward),
            Action::PreviousPage => pager.turn_page(SearchDirection::Back),
            Action::Pretty => {
                if pager.form().is_some() {
                    pager.switch_form();
                } else {
                    self.notify("not JSON, or too large to indent".to_owned());
                }
                None
            }
            Action::Copy => return Effect::Copy(visible_text(&pager.text)),
            Action::Pager => return Effect::Open(pager.wanted, Program::Pager),
            Action::Editor => return Effect::Open(pager.wanted, Program::Editor),
            _ => None,
        };
        next.map_or(Effect::None, Effect::ReadText)
    }

    pub(super) fn scroll_text(&mut self, by: isize) -> Effect {
        let Some(pager) = &mut self.pager else {
            return Effect::None;
        };
        let next = match by {
            isize::MIN => pager.first(),
            isize::MAX => pager.last(),
            by => pager.scroll(by),
        };
        next.map_or(Effect::None, Effect::ReadText)
    }

    pub(super) fn search_text(&mut self, needle: &str) -> Effect {
        let pager = self.pager.as_mut();
        let next = pager.and_then(|pager| pager.search(needle));
        next.map_or(Effect::None, Effect::ReadText)
    }

    /// Fits the text to the screen.
    pub(super) fn prepare_text(&mut self) {
        let (columns, rows) = self.ui.size;
        if let Some(pager) = &mut self.pager {
            let rows = rows.saturating_sub(FRAME_ROWS);
            pager.fit(usize::from(columns), usize::from(rows));
        }
    }

    /// Closes the text, drops it, and goes back to where it was opened.
    pub(super) fn leave_text(&mut self) {
        let pager = self.pager.take();
        let is_found = pager.is_some_and(|pager| pager.is_found);
        match self.ui.screen {
            Screen::Text(_) if is_found => self.ui.screen = Screen::Results,
            Screen::Text(key) => self.ui.screen = Screen::Session(key),
            _ => {}
        }
    }
}
