//! Handles the mouse.

use super::{App, Column, Effect, Screen, Tab};
use crate::keymap::{Action, KeyPress};
use crate::paint::{Area, Hit};

/// Rows that one notch of the wheel moves.
const WHEEL_ROWS: isize = 3;

impl App {
    pub(super) fn click(&mut self, column: u16, row: u16) -> Effect {
        let hit = self.hits.at(column, row);
        if let Some((area, Hit::Notices)) = hit {
            return self.click_notice(usize::from(row - area.y));
        }
        if let Some((area, Hit::Menu)) = hit {
            self.ui.menu_row = self.menu_top() + usize::from(row - area.y);
            return self.choose(KeyPress::Enter).unwrap_or(Effect::None);
        }
        if self.close_overlay() {
            return Effect::None;
        }
        let typing = self.ui.prompt.take().is_some();
        let Some((area, hit)) = hit.filter(|(_, hit)| *hit != Hit::Overlay) else {
            return Effect::None;
        };
        self.shown.dragged = Some((area, hit));
        match hit {
            Hit::Action(action) if !typing => return self.act(action),
            Hit::Action(_) | Hit::Overlay | Hit::Notices | Hit::Menu => {}
            Hit::List => return self.click_row(usize::from(row - area.y)),
            Hit::Column(name) => {
                if let Some(column) = Column::named(name) {
                    self.sort_by(column);
                }
            }
            Hit::Tab(name) => {
                if let Some(tab) = Tab::named(name) {
                    self.show(tab);
                }
            }
            Hit::Timeline | Hit::Transport => self.scrub(area, hit, column),
        }
        Effect::None
    }

    /// Opens the menu of the session on screen, or of the row below the mouse.
    pub(super) fn right_click(&mut self, column: u16, row: u16) -> Effect {
        if self.close_overlay() || self.ui.prompt.is_some() {
            return Effect::None;
        }
        if self.ui.screen == Screen::Overview {
            let Some((area, Hit::List)) = self.hits.at(column, row) else {
                return Effect::None;
            };
            let row = self.ui.sessions.offset() + usize::from(row - area.y);
            if row >= self.shown.line_ids.len() {
                return Effect::None;
            }
            let selected = self.ui.sessions.index();
            let _ = self.step(row as isize - selected as isize);
        }
        self.act(Action::Menu)
    }

    /// Sorts the sessions by a column; again reverses the sort.
    fn sort_by(&mut self, column: &'static Column) {
        if self.ui.sort == column {
            return self.reverse();
        }
        (self.ui.sort, self.ui.direction) = (column, Default::default());
        self.select_first();
    }

    /// Selects a row; opens the selected one.
    fn click_row(&mut self, row: usize) -> Effect {
        let (offset, selected, len) = match self.ui.screen {
            Screen::Overview => {
                let cursor = &self.ui.sessions;
                (cursor.offset(), cursor.index(), self.shown.line_ids.len())
            }
            Screen::Results => {
                let cursor = &self.ui.results;
                let found = self.search.as_ref().map_or(0, |search| search.found.len());
                (cursor.offset(), cursor.index(), found)
            }
            Screen::Session(_) | Screen::Text(_) => {
                let (cursor, ids) = (self.ui.cursor(), self.list_ids());
                (cursor.offset(), cursor.index(), ids.map_or(0, <[u64]>::len))
            }
        };
        let row = offset + row;
        if row >= len {
            return Effect::None;
        }
        if row == selected {
            return self.open();
        }
        self.step(row as isize - selected as isize)
    }

    /// Moves what was clicked on with the mouse while its button is held.
    pub(super) fn drag(&mut self, column: u16) {
        if let Some((area, hit)) = self.shown.dragged {
            self.scrub(area, hit, column);
        }
    }

    fn scrub(&mut self, area: Area, hit: Hit, column: u16) {
        let Some(page) = &self.shown.page else {
            return;
        };
        let there = match hit {
            Hit::Timeline => {
                let step = self.step_at(area, column);
                step.and_then(|step| page.moment_of(step))
            }
            Hit::Transport => {
                let along = usize::from(column.clamp(area.x, area.right() - 1) - area.x);
                let last = usize::from(area.width.saturating_sub(1)).max(1);
                Some(along * page.timeline.end() / last)
            }
            _ => None,
        };
        if let Some(there) = there {
            self.jump_to(there);
        }
    }

    pub(super) fn wheel(&mut self, (column, row): (u16, u16), notches: isize) -> Effect {
        match self.hits.at(column, row) {
            _ if self.ui.overlay.is_some() => {
                self.scroll_overlay(notches.saturating_mul(WHEEL_ROWS));
                Effect::None
            }
            Some((_, Hit::Timeline | Hit::Transport)) => {
                for _ in 0..notches.unsigned_abs().min(50) {
                    self.move_by(self.usual_step(), notches);
                }
                Effect::None
            }
            _ => self.step(notches.saturating_mul(WHEEL_ROWS)),
        }
    }
}
