//! What the mouse does, by what lies under it on the screen that was drawn last.

use super::{App, Effect, Hit, Panel, Screen};
use ratatui::layout::Rect;

/// Rows that one notch of the wheel moves.
const WHEEL: isize = 3;

impl App {
    pub(super) fn click(&mut self, column: u16, row: u16) -> Effect {
        let hit = self.zones.at(column, row);
        if self.ui.overlay.is_some() {
            self.close_overlay();
            return Effect::None;
        }
        let typing = self.ui.prompt.take().is_some();
        let Some((area, hit)) = hit.filter(|(_, hit)| *hit != Hit::Overlay) else {
            return Effect::None;
        };
        self.shown.dragged = Some((area, hit));
        match hit {
            Hit::Action(action) if !typing => return self.act(action),
            Hit::Action(_) | Hit::Overlay => {}
            Hit::List => return self.click_row(usize::from(row - area.y)),
            Hit::Column(by) => {
                if self.ui.sort == by {
                    self.ui.direction = self.ui.direction.turned();
                } else {
                    (self.ui.sort, self.ui.direction) = (by, Default::default());
                }
                self.stale();
            }
            Hit::Tab(panel) => self.show(panel),
            Hit::Course | Hit::Transport => self.scrub(area, hit, column),
        }
        Effect::None
    }

    /// A click selects; on what is selected already it opens.
    fn click_row(&mut self, row: usize) -> Effect {
        let (offset, selected, len) = self.list_position();
        let index = offset + row;
        if index >= len {
            return Effect::None;
        }
        if index == selected {
            return self.open();
        }
        self.step(index as isize - selected as isize)
    }

    /// The list on screen: its first visible row, its selected row, its length.
    fn list_position(&self) -> (usize, usize, usize) {
        fn of<K: Copy + PartialEq>(cursor: &super::Cursor<K>, len: usize) -> (usize, usize, usize) {
            (cursor.offset(), cursor.index(), len)
        }
        let ui = &self.ui;
        match (ui.screen, &self.shown.page) {
            (Screen::Overview, _) => of(&ui.sessions, self.shown.line_ids.len()),
            (Screen::Session(_), Some(page)) => match ui.panel {
                Panel::Items => of(&ui.items, page.item_ids.len()),
                Panel::Tools => of(&ui.tools, page.tool_ids.len()),
                Panel::Compactions => of(&ui.facts, page.facts.ids.len()),
                Panel::WhatIf => of(&ui.policies, page.policy_ids.len()),
                Panel::Agents => of(&ui.agents, page.agent_ids.len()),
                Panel::Course => (0, 0, 0),
            },
            _ => (0, 0, 0),
        }
    }

    /// The mouse moves with its button held: what was clicked on goes with it.
    pub(super) fn drag(&mut self, column: u16, _row: u16) {
        if let Some((area, hit)) = self.shown.dragged {
            self.scrub(area, hit, column);
        }
    }

    fn scrub(&mut self, area: Rect, hit: Hit, column: u16) {
        let Some(page) = &self.shown.page else {
            return;
        };
        let timeline = &page.timeline;
        let there = match hit {
            Hit::Course => {
                let step = self.step_at(area, column);
                step.and_then(|step| page.of_step(step))
            }
            Hit::Transport => {
                let along = usize::from(column.clamp(area.x, area.right() - 1) - area.x);
                let last = usize::from(area.width.saturating_sub(1)).max(1);
                Some(along * timeline.end() / last)
            }
            _ => None,
        };
        if let Some(there) = there {
            self.ui.replay.playing = None;
            self.go_to(there);
        }
    }

    pub(super) fn wheel(&mut self, (column, row): (u16, u16), notches: isize) -> Effect {
        match self.zones.at(column, row) {
            _ if self.ui.overlay.is_some() => {
                self.scroll_overlay(notches.saturating_mul(WHEEL));
                Effect::None
            }
            Some((_, Hit::Course | Hit::Transport)) => {
                for _ in 0..notches.unsigned_abs().min(50) {
                    if notches > 0 {
                        self.step_on(self.usual_step());
                    } else {
                        self.step_back(self.usual_step());
                    }
                }
                Effect::None
            }
            _ => self.step(notches.saturating_mul(WHEEL)),
        }
    }
}
