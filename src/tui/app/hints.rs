//! Finds the keys that the footer names: those that have an effect on the present screen.

use super::tabs::ITEMS;
use super::{App, Screen};
use crate::keymap::{Action, Hint};

impl App {
    /// Returns the footer's hints, the most useful first; help and quit are the last.
    pub fn hints(&self) -> Vec<Hint> {
        let hints = |action| self.does_something(action);
        self.keymap.hints(self.scope(), hints)
    }

    /// Returns true if an action has an effect now.
    fn does_something(&self, action: Action) -> bool {
        match (self.ui.screen, action) {
            (Screen::Session(_), _) => {}
            (Screen::Text(_), Action::Open) => return self.is_text_found(),
            (Screen::Results, Action::Open) => return self.found_item().is_some(),
            _ => return true,
        }
        let (tab, replays) = (self.ui.tab, self.ui.replay.is_on());
        match action {
            Action::Filter | Action::Sort | Action::Mark | Action::NextOversized => tab == ITEMS,
            Action::Moment => matches!(tab.action, Action::Items | Action::Compactions),
            Action::Open => !matches!(tab.action, Action::WhatIf | Action::Timeline),
            Action::Play => replays,
            Action::StepBack | Action::StepForward => replays || !tab.has_list(),
            Action::Replay => !replays,
            _ => true,
        }
    }
}
