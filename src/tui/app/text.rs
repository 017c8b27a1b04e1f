//! The screen of an item's text: opened, asked for page by page, searched, left.

use super::reader::{Program, Reader, Way};
use super::{App, Effect, Panel, Purpose, Screen};
use crate::model::event::Place;
use crate::model::session::{Item, ItemIx};
use crate::model::text::{TextPage, TextRequest};
use crate::tui::keymap::Action;

/// Rows that the screen of a text has beside the text itself: what it is, how far it is read, the keys.
pub const AROUND: u16 = 5;

impl App {
    /// Opens the text of the item that is selected.
    pub(super) fn read_selected(&mut self) -> Effect {
        let selected = match self.ui.panel {
            Panel::Items => self.selected_item().map(|(_, ix, _)| ix),
            _ => self.shown.page.as_ref().and_then(|page| {
                let row = self.ui.facts.index();
                page.facts.item_at(row)
            }),
        };
        let Some(ix) = selected else {
            return Effect::None;
        };
        self.read(ix)
    }

    fn read(&mut self, ix: ItemIx) -> Effect {
        let Some(key) = self.open_session() else {
            return Effect::None;
        };
        let item = self
            .fleet
            .get(key)
            .and_then(|session| session.items().get(ix));
        let Some(wanted) = item.and_then(|item| TextRequest::of(key.file, item)) else {
            self.tell("the log shows no text of this item".to_owned());
            return Effect::None;
        };
        self.reader = Some(Reader::open(key, wanted));
        self.ui.screen = Screen::Text(key);
        Effect::ReadText(wanted)
    }

    /// The item whose text is on screen; `None`: its log no longer has it.
    pub fn item_read(&self) -> Option<(ItemIx, &Item)> {
        let reader = self.reader.as_ref()?;
        let wanted = reader.request();
        let items = &self.fleet.get(reader.key)?.items();
        let at = items.partition_point(|item| item.place.offset < wanted.place.offset);
        // It may have been asked for before the log was read from its beginning, and lines were known.
        let place = |item: &Item| match wanted.place.line {
            0 => Place {
                line: 0,
                ..item.place
            },
            _ => item.place,
        };
        items
            .iter()
            .enumerate()
            .skip(at)
            .chain(items.iter().enumerate())
            .find(|(_, item)| place(item) == wanted.place && item.hash == wanted.hash)
    }

    /// A page has come.
    pub(super) fn take_text(&mut self, page: TextPage) -> Effect {
        let next = self.reader.as_mut().and_then(|reader| reader.take(page));
        next.map_or(Effect::None, Effect::ReadText)
    }

    pub(super) fn act_on_text(&mut self, action: Action) -> Effect {
        let Some(reader) = &mut self.reader else {
            return Effect::None;
        };
        let next = match action {
            Action::Search => {
                self.ask(Purpose::Search);
                None
            }
            Action::NextHit => reader.next_hit(Way::On),
            Action::PreviousHit => reader.next_hit(Way::Back),
            Action::NextPage => reader.turn(Way::On),
            Action::PreviousPage => reader.turn(Way::Back),
            Action::Pretty => {
                if reader.form().is_some() {
                    reader.switch_form();
                } else {
                    self.tell("the text is no JSON, or too long to set out".to_owned());
                }
                None
            }
            Action::Copy => return Effect::Copy(reader.exact().to_owned()),
            Action::Pager => return Effect::Open(reader.request(), Program::Pager),
            Action::Editor => return Effect::Open(reader.request(), Program::Editor),
            _ => None,
        };
        next.map_or(Effect::None, Effect::ReadText)
    }

    pub(super) fn scroll_text(&mut self, by: isize) -> Effect {
        let Some(reader) = &mut self.reader else {
            return Effect::None;
        };
        let next = match by {
            isize::MIN => reader.first(),
            isize::MAX => reader.last(),
            by => reader.scroll(by),
        };
        next.map_or(Effect::None, Effect::ReadText)
    }

    pub(super) fn search_text(&mut self, needle: &str) -> Effect {
        let reader = self.reader.as_mut();
        let next = reader.and_then(|reader| reader.search(needle));
        next.map_or(Effect::None, Effect::ReadText)
    }

    /// Fits the text to the screen; leaves it where its session is gone.
    pub(super) fn prepare_text(&mut self) {
        let (columns, rows) = self.ui.size;
        if let Some(reader) = &mut self.reader {
            let rows = rows.saturating_sub(AROUND);
            reader.fit(usize::from(columns), usize::from(rows));
        }
    }

    /// Leaves the text: nothing of it is kept.
    pub(super) fn leave_text(&mut self) {
        if let Screen::Text(key) = self.ui.screen {
            self.ui.screen = Screen::Session(key);
        }
        self.reader = None;
    }
}
